//! Hosts of URLs: addresses, and names.

use std::net::IpAddr;

use dormouse_policy::bare_host;
use reqwest::Url;

/// Returns the address that a URL has instead of a name.
#[must_use]
pub fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse().ok()
}

/// Whether a URL has a name that means this machine wherever it is resolved.
pub(crate) fn is_local_name(url: &Url) -> bool {
    let host = bare_host(url);
    host == "localhost" || host.ends_with(".localhost")
}
