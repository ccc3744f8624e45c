//! Requests for HTTP grants, as `@grant http` has them.
//!
//! They are written as grants are, and grants are read by the host, which this crate does not know:
//! what is accepted here is accepted there, but for names in scripts that no name has, for odd escapes
//! in paths and for very long URLs, and a test of the host holds both against each other.

/// Parts of a path that servers read in different ways, in small letters.
const AMBIGUOUS_IN_PATHS: [&str; 6] = ["%25", "%2e", "%2f", "%5c", "\\", "*"];

/// Splits the text of a tag into what is requested, `[METHODS] SCHEME://HOST[:PORT][/PATH]`, and the
/// reason behind it. None where it begins with no such request.
pub(super) fn split(text: &str) -> Option<(String, &str)> {
    let (first, rest) = word(text);
    if is_url(first) {
        return Some((without_slash(first).to_owned(), rest));
    }
    let (url, why) = word(rest);
    let is_request = are_methods(first) && is_url(url);
    is_request.then(|| (format!("{first} {}", without_slash(url)), why))
}

fn word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

/// Returns a URL without the slash that is all of its path.
fn without_slash(url: &str) -> &str {
    match url.strip_suffix('/') {
        Some(origin) if origin.matches('/').count() == 2 => origin,
        _ => url,
    }
}

fn are_methods(text: &str) -> bool {
    let mut methods = text.split(',');
    methods.all(|method| !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase()))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    let Some(rest) = rest.or_else(|| text.strip_prefix("http://")) else {
        return false;
    };
    let (authority, path) = match rest.find('/').and_then(|at| rest.split_at_checked(at)) {
        Some(parts) => parts,
        None => (rest, "/"),
    };
    is_authority(authority) && is_path(path)
}

/// Whether a text is a host and perhaps a port. Names in other scripts than ASCII are for the host to
/// judge.
fn is_authority(text: &str) -> bool {
    let after_host = text.rfind(']').map_or(0, |end| end + 1);
    let port = text.get(after_host..).and_then(|rest| rest.rfind(':'));
    let (host, port) = match port.and_then(|at| text.split_at_checked(after_host + at)) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => (text, None),
    };
    let is_port = |port: &str| {
        let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
        is_number && port.parse::<u16>().is_ok()
    };
    port.is_none_or(is_port) && is_host(host)
}

fn is_host(text: &str) -> bool {
    if let Some(address) = text.strip_prefix('[') {
        let address = address.strip_suffix(']').unwrap_or_default();
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    if text == "*" {
        return true;
    }
    let (name, is_below) = match text.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || !c.is_ascii();
    let is_label = |label: &str| !label.is_empty() && label.chars().all(is_letter);
    // What ends in a number is an address.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_address = last.starts_with(|c: char| c.is_ascii_digit());
    match is_address {
        true => !is_below && name.parse::<std::net::Ipv4Addr>().is_ok(),
        false => name.split('.').all(is_label),
    }
}

fn is_path(text: &str) -> bool {
    let path = text.to_ascii_lowercase();
    let leads_up = |segment: &str| matches!(segment.split(';').next(), Some("." | ".."));
    !path.contains(['?', '#'])
        && !AMBIGUOUS_IN_PATHS.iter().any(|part| path.contains(part))
        && !path.split('/').any(leads_up)
}
