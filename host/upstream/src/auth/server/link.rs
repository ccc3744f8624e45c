//! Links of logins, which users follow.

use dormouse_protocol::question_links::is_page;
use reqwest::Url;

/// Longest link of a login, in bytes. Browsers take no longer ones.
const MAX_LINK_BYTES: usize = 16 << 10;

/// Parameters of the login in a link. Where one is there twice, the page would choose which counts.
const LINK_PARAMETERS: [&str; 8] = [
    "client_id",
    "code_challenge",
    "code_challenge_method",
    "redirect_uri",
    "resource",
    "response_type",
    "scope",
    "state",
];

/// Parameters of other logins that a link of ours does not have: a whole other one, or another way
/// back from it.
const FOREIGN_PARAMETERS: [&str; 3] = ["request", "request_uri", "response_mode"];

/// Returns the state in a link, if a browser may be sent there. The page is from a stranger's
/// metadata, and must not be a file or a program, nor have parameters of a login itself.
pub(super) fn state(link: &str) -> Option<String> {
    if link.len() > MAX_LINK_BYTES || !is_page(link) {
        return None;
    }
    let link = Url::parse(link).ok()?;
    if !matches!(link.scheme(), "https" | "http") || !link.has_host() {
        return None;
    }
    let count = |name: &str| link.query_pairs().filter(|pair| pair.0 == name).count();
    if LINK_PARAMETERS.into_iter().any(|name| count(name) > 1)
        || FOREIGN_PARAMETERS.into_iter().any(|name| count(name) > 0)
    {
        return None;
    }
    let mut pairs = link.query_pairs();
    pairs.find_map(|(name, value)| (name == "state").then(|| value.into_owned()))
}
