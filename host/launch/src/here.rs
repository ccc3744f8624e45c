//! URLs of this very machine.

use std::net::IpAddr;

use url::Url;

/// Whether a URL leads to this very machine, which no proxy can reach for us.
pub fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for (url, expected) in [
            ("http://127.0.0.1:1/mcp", true),
            ("http://[::1]/", true),
            ("http://[::ffff:127.0.0.1]/", true),
            ("http://localhost:80/", true),
            ("https://a.localhost/", true),
            ("http://127.0.0.1.example.com/", false),
            ("http://10.0.0.1/", false),
            ("https://example.com/localhost", false),
        ] {
            assert_eq!(is_here(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
