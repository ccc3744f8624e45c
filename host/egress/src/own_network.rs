//! URLs of this machine and its network, by what they say.

use dormouse_policy::bare_host;
use reqwest::Url;

use crate::AddressKind;
use crate::host_name::literal;

/// Ends of names that nobody on the internet can have: those that are set aside for other uses
/// (RFC 6761, RFC 8375), and those of networks' and clusters' own servers of names.
const OWN_NETWORK_SUFFIXES: [&str; 18] = [
    ".alt",
    ".consul",
    ".corp",
    ".domain",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".invalid",
    ".lan",
    ".local",
    ".localdomain",
    ".localdomain6",
    ".localhost",
    ".localnet",
    ".private",
    ".svc",
    ".test",
];

/// Whether a URL is one of this machine or its network by what it says: an address, or a name
/// that nobody on the internet can have.
#[must_use]
pub fn is_of_own_network(url: &Url) -> bool {
    if let Some(address) = literal(url) {
        let kind = AddressKind::of(address);
        return matches!(kind, AddressKind::Private | AddressKind::Loopback);
    }
    let host = bare_host(url);
    // Some take a name with a part that is empty for an address.
    host.split('.').any(str::is_empty)
        || !host.contains('.')
        || OWN_NETWORK_SUFFIXES
            .iter()
            .any(|suffix| host.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_own_network_are_such_as_nobody_else_can_have() {
        for (url, expected) in [
            ("http://127.0.0.1:3000/mcp", true),
            ("http://[::1]/mcp", true),
            ("http://10.0.0.4/mcp", true),
            ("http://localhost/mcp", true),
            ("http://mcp/", true),
            ("https://MCP.corp./", true),
            ("https://mcp.internal/", true),
            ("https://mcp.example.com/", false),
            ("https://1.1.1.1/", false),
            ("https://localhost.example.com/", false),
            ("https://mylan/", true),
            ("https://example.mylan/", false),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(is_of_own_network(&url), expected, "{url}");
        }
    }
}
