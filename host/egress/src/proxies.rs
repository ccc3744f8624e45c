//! Proxies that the environment names.

use std::sync::LazyLock;

use dormouse_policy::bare_host;
use reqwest::Url;

/// The environment variables that name a proxy.
const VARIABLES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];

/// Returns the URLs of proxies that the environment names, which may answer in the place of a
/// server.
fn proxy_urls() -> impl Iterator<Item = String> {
    let names = VARIABLES.iter();
    let names = names.flat_map(|name| [(*name).to_owned(), name.to_ascii_uppercase()]);
    names
        .filter_map(std::env::var_os)
        .map(|value| value.to_string_lossy().into_owned())
        .filter(|value| !value.is_empty())
}

/// Whether the environment names a proxy. It is asked for each request, and nothing of this process
/// changes its environment.
pub(crate) fn has_proxy() -> bool {
    static HAS_PROXY: LazyLock<bool> = LazyLock::new(|| proxy_urls().next().is_some());
    *HAS_PROXY
}

/// Returns the hosts of the proxies that the environment names, which are looked up once, too.
pub(crate) fn proxies() -> &'static [String] {
    static PROXIES: LazyLock<Vec<String>> = LazyLock::new(|| proxy_hosts().collect());
    &PROXIES
}

fn proxy_hosts() -> impl Iterator<Item = String> {
    proxy_urls().filter_map(|url| {
        let url = match url.contains("://") {
            true => url,
            false => format!("http://{url}"),
        };
        let url = Url::parse(&url).ok()?;
        url.has_host().then(|| bare_host(&url))
    })
}
