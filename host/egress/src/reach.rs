//! Addresses that a request may reach.
//!
//! URLs that the user has configured may lead anywhere. Those that a server names, by a redirect or
//! in its metadata, must not lead to this machine or its network from inside, unless the configured
//! server is there, too.

use std::net::IpAddr;

use dormouse_policy::bare_host;
use reqwest::Url;

use crate::AddressKind;
use crate::host_name::{is_local_name, literal};
use crate::own_network::is_of_own_network;
use crate::proxies::{has_proxy, proxies};

/// Addresses that a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Any address, for URLs that the user has configured.
    Configured,
    /// Addresses on the internet alone.
    Public,
    /// Addresses on the internet, and those of this kind.
    And(AddressKind),
    /// Addresses on the internet and in private networks, with `loopback` on this machine, and with
    /// `benchmarking` those that some proxies resolve all names to.
    Local {
        /// Whether this machine is within reach.
        loopback: bool,
        /// Whether the network for benchmarks is.
        benchmarking: bool,
    },
}

impl Reach {
    /// Returns the reach of URLs that a configured server names. `peer` is the address that has
    /// answered for that server, if it is known.
    #[must_use]
    pub fn of_named_by(configured: &Url, peer: Option<IpAddr>) -> Self {
        let kind = match literal(configured) {
            Some(address) => AddressKind::of(address),
            None if is_local_name(configured) => AddressKind::Loopback,
            // Its address is the proxy's to know.
            None if has_proxy() && is_of_own_network(configured) => AddressKind::Private,
            None => match peer.filter(|_| !has_proxy()) {
                Some(address) => AddressKind::of(address),
                None => AddressKind::Public,
            },
        };
        match kind {
            AddressKind::Public | AddressKind::Reserved => Self::Public,
            kind => Self::And(kind),
        }
    }

    /// Returns the same reach before anybody has answered. A name counts as one of a private
    /// network, or of such a proxy, only if all of its addresses are: its server may have chosen
    /// one of them.
    pub async fn of_configured(configured: &Url) -> Self {
        let reach = Self::of_named_by(configured, None);
        let Some(name) = configured.host_str() else {
            return reach;
        };
        if literal(configured).is_some() || is_local_name(configured) || has_proxy() {
            return reach;
        }
        let Ok(found) = tokio::net::lookup_host((name, 0)).await else {
            return reach;
        };
        let kinds: Vec<_> = found.map(|found| AddressKind::of(found.ip())).collect();
        let alike = [AddressKind::Private, AddressKind::Benchmarking];
        let mut alike = alike.into_iter();
        let kind = alike.find(|alike| !kinds.is_empty() && kinds.iter().all(|kind| kind == alike));
        kind.map_or(reach, Self::And)
    }

    /// Whether an address is within reach.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        self.allows_kind(AddressKind::of(address))
    }

    /// Whether an address of that kind is within reach.
    pub(crate) fn allows_kind(self, kind: AddressKind) -> bool {
        match self {
            Self::Configured => true,
            Self::Public => kind == AddressKind::Public,
            Self::And(other) => kind == AddressKind::Public || kind == other,
            Self::Local {
                loopback,
                benchmarking,
            } => match kind {
                AddressKind::Public | AddressKind::Private => true,
                AddressKind::Loopback => loopback,
                AddressKind::Benchmarking => benchmarking,
                AddressKind::LinkLocal | AddressKind::Reserved => false,
            },
        }
    }

    /// Whether a URL is within reach, as far as that shows before its name is resolved.
    #[must_use]
    pub fn allows_url(self, url: &Url) -> bool {
        self.allows_url_through(url, has_proxy().then(proxies))
    }

    /// The same, where a proxy may resolve the name: then nobody here sees to which address. The
    /// names of the proxies themselves are resolved here, and lead to wherever they are.
    fn allows_url_through(self, url: &Url, proxies: Option<&[String]>) -> bool {
        let is_of_proxy =
            |proxies: &[String]| is_of_own_network(url) || proxies.contains(&bare_host(url));
        match literal(url) {
            Some(address) => self.allows(address),
            None if is_local_name(url) => self.allows_kind(AddressKind::Loopback),
            None if proxies.is_some_and(is_of_proxy) => self.allows_kind(AddressKind::Private),
            None => url.has_host(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_reaches_no_further_than_who_names_it() {
        let url = |text: &str| Url::parse(text).unwrap();
        for (configured, peer, named, allowed) in [
            ("https://a.example/", None, "https://b.example/", true),
            ("https://a.example/", None, "http://127.0.0.1/", false),
            ("https://a.example/", None, "http://127.1/", false),
            ("https://a.example/", None, "http://0/", false),
            (
                "https://a.example/",
                None,
                "http://0.0.0.0:18999/admin",
                false,
            ),
            ("https://a.example/", None, "http://[::]/", false),
            (
                "https://a.example/",
                None,
                "http://[::ffff:0.0.0.0]/",
                false,
            ),
            ("https://a.example/", None, "http://localhost./", false),
            ("https://a.example/", None, "http://x.LOCALHOST/", false),
            ("https://a.example/", None, "http://169.254.169.254/", false),
            ("https://a.example/", None, "http://10.0.0.1/", false),
            ("http://10.1.1.1/", None, "http://10.0.0.1/", true),
            ("http://10.1.1.1/", None, "http://127.0.0.1/", false),
            ("http://127.0.0.1/", None, "http://localhost:1/", true),
            ("http://127.0.0.1/", None, "http://0.0.0.0:1/", false),
            ("http://127.0.0.1/", None, "http://10.0.0.1/", false),
            ("http://localhost/", None, "http://[::1]:1/", true),
            ("http://0.0.0.0/", None, "http://0.0.0.0:1/", false),
            (
                "https://a.corp/",
                Some("10.0.0.2"),
                "http://10.0.0.1/",
                true,
            ),
            (
                "https://a.corp/",
                Some("1.1.1.1"),
                "http://10.0.0.1/",
                false,
            ),
            // Behind a proxy that gives all names such addresses, all of them have one.
            (
                "https://a.example/",
                Some("198.18.0.2"),
                "http://198.18.0.3/",
                true,
            ),
            (
                "https://a.example/",
                Some("198.18.0.2"),
                "http://10.0.0.1/",
                false,
            ),
            (
                "https://a.example/",
                Some("1.1.1.1"),
                "http://198.18.0.3/",
                false,
            ),
            (
                "https://1.1.1.1/",
                Some("127.0.0.1"),
                "http://127.0.0.1/",
                false,
            ),
        ] {
            let peer = peer.map(|peer| peer.parse().unwrap());
            let reach = Reach::of_named_by(&url(configured), peer);
            assert_eq!(
                reach.allows_url(&url(named)),
                allowed,
                "{configured} {named}"
            );
        }
        assert!(Reach::Configured.allows_url(&url("http://0.0.0.0:1/")));
    }

    /// A proxy resolves names where nobody here sees to which address.
    #[test]
    fn names_of_the_own_network_are_out_of_reach_through_a_proxy() {
        for (reach, name, direct, through) in [
            (Reach::Public, "https://a.example/", true, true),
            (Reach::Public, "http://router/", true, false),
            (Reach::Public, "http://mcp.internal/", true, false),
            (Reach::Public, "http://localhost/", false, false),
            (Reach::Public, "http://localhost.localdomain/", true, false),
            (Reach::Public, "http://kubernetes.default.svc/", true, false),
            (Reach::Public, "http://10.0.0.1../", true, false),
            (Reach::Public, "http://proxy.example:8080/a", true, false),
            (Reach::Public, "http://PROXY.example./a", true, false),
            (
                Reach::And(AddressKind::Private),
                "http://router/",
                true,
                true,
            ),
            (
                Reach::And(AddressKind::Loopback),
                "http://router/",
                true,
                false,
            ),
            (Reach::Configured, "http://router/", true, true),
        ] {
            let url = Url::parse(name).unwrap();
            assert_eq!(reach.allows_url_through(&url, None), direct, "{name}");
            let proxies = ["proxy.example".to_owned()];
            let is_allowed = reach.allows_url_through(&url, Some(&proxies));
            assert_eq!(is_allowed, through, "{name}");
        }
    }
}
