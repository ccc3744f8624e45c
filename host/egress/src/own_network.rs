//! URLs of this machine and its network, by what they say.

use dormouse_policy::{HttpGrant, bare_host};
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

/// Whether a grant is for one host and leads to the internet alone, as far as it says: an address
/// that is granted is reached wherever it is.
#[must_use]
pub fn is_for_internet(grant: &HttpGrant) -> bool {
    let url = grant.host_url().filter(|_| !grant.is_private());
    url.is_some_and(|url| match literal(&url) {
        Some(address) => AddressKind::of_other_machines(address) == AddressKind::Public,
        None => !is_of_own_network(&url),
    })
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

    #[test]
    fn grants_for_the_internet_are_of_hosts_that_can_be_nowhere_else() {
        for (grant, expected) in [
            ("GET https://a.example:8443/v1", true),
            ("http://1.1.1.1", true),
            ("https://[2606:4700::1111]", true),
            ("https://a.example private", false),
            ("https://*.a.example", false),
            ("https://*", false),
            ("http://192.168.0.1", false),
            ("http://169.254.169.254", false),
            ("http://127.0.0.1:2375", false),
            ("http://2130706433", false),
            ("http://0x7f.1", false),
            ("http://0.0.0.0", false),
            ("http://[::1]:6379", false),
            ("http://[::ffff:10.0.0.1]", false),
            ("http://localhost:2375", false),
            ("http://A.LOCALHOST.", false),
            ("http://router", false),
            ("https://nas.internal", false),
        ] {
            let read = grant.parse().unwrap();
            assert_eq!(is_for_internet(&read), expected, "{grant}");
        }
    }
}
