//! Addresses that a URL may lead to if somebody else than the user has named it.
//!
//! URLs that the user has configured may lead anywhere. Those that a server names, by a redirect or
//! in its metadata, must not lead to this machine or its network from inside, unless the configured
//! server is there, too. Names are judged by the addresses that a connection is made to, so that
//! what is checked is what is connected to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The environment variables that name a proxy.
const PROXIES: [&str; 3] = ["http_proxy", "https_proxy", "all_proxy"];

/// The kinds of addresses, by who can be at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AddressKind {
    /// Hosts on the internet.
    Public,
    /// This machine.
    Loopback,
    /// A network of the user's, or of their provider.
    Private,
    /// Hosts on the same network link, and the metadata services of clouds.
    LinkLocal,
    /// Network for benchmarks (198.18.0.0/15). Some proxies resolve all names to such addresses,
    /// and connect to what was meant.
    Benchmarking,
    /// No host in particular: unspecified, multicast, for documentation or the future. Some of
    /// these addresses lead to this machine.
    Reserved,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "on the internet",
            Self::Loopback => "on this machine",
            Self::Private => "in a private network",
            Self::LinkLocal => "a link-local address",
            Self::Benchmarking => "an address that some proxies give all names",
            Self::Reserved => "no address of anybody in particular",
        })
    }
}

impl AddressKind {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => match embedded(address) {
                Some(inner) => Self::of_v4(inner),
                None => Self::of_v6(address),
            },
        }
    }

    /// The kind of address that a URL is about by what it says: that of its address, or of a name
    /// that means this machine or, where it is another that leads too far, its network.
    pub(crate) fn of_url(url: &Url) -> Self {
        match literal(url) {
            Some(address) => Self::of(address),
            None if is_local_name(url) => Self::Loopback,
            None => Self::Private,
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, _] = address.octets();
        match (a, b, c) {
            (127, ..) => Self::Loopback,
            (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => Self::Private,
            (169, 254, _) => Self::LinkLocal,
            (198, 18 | 19, _) => Self::Benchmarking,
            (0 | 224..=255, ..) | (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) => {
                Self::Reserved
            }
            _ => Self::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => Self::Loopback,
            [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => Self::Private,
            [0xfe80..=0xfebf, ..] => Self::LinkLocal,
            // Global unicast; what tunnels through it or documents it is nobody's.
            [0x2001, 0 | 0xdb8, ..] => Self::Reserved,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Reserved,
        }
    }
}

/// Returns the IPv4 address that an IPv6 address stands for: mapped and compatible ones, NAT64,
/// 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let low = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, g, h] => Some(low(g, h)),
        [0, 0, 0, 0, 0xffff, 0, g, h] | [0x64, 0xff9b, 0, 0, 0, 0, g, h] => Some(low(g, h)),
        [0x2002, b, c, ..] => Some(low(b, c)),
        _ => None,
    }
}

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
pub(crate) fn is_of_own_network(url: &Url) -> bool {
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

/// Addresses that a request may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reach {
    /// Any address, for URLs that the user has configured.
    Configured,
    /// Addresses on the internet alone.
    Public,
    /// Addresses on the internet, and those of this kind.
    And(AddressKind),
    /// Addresses on the internet and in private networks, with `loopback` on this machine, and with
    /// `benchmarking` those that some proxies resolve all names to.
    Local { loopback: bool, benchmarking: bool },
}

impl Reach {
    /// Returns the reach of URLs that a configured server names. `peer` is the address that has
    /// answered for that server, if it is known.
    pub(crate) fn of_named_by(configured: &Url, peer: Option<IpAddr>) -> Self {
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
    pub(crate) async fn of_configured(configured: &Url) -> Self {
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
    pub(crate) fn allows(self, address: IpAddr) -> bool {
        self.allows_kind(AddressKind::of(address))
    }

    fn allows_kind(self, kind: AddressKind) -> bool {
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
    pub(crate) fn allows_url(self, url: &Url) -> bool {
        let hosts: Vec<String> = proxies().collect();
        self.allows_url_through(url, has_proxy().then_some(&hosts))
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

/// Returns the address that a URL has instead of a name.
pub(crate) fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.parse().ok()
}

/// Whether a URL has a name that means this machine wherever it is resolved.
fn is_local_name(url: &Url) -> bool {
    let host = bare_host(url);
    host == "localhost" || host.ends_with(".localhost")
}

/// Returns the host of a URL in small letters, without the dot that a whole name may end in.
fn bare_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    host.to_ascii_lowercase()
}

/// Returns the URLs of proxies that the environment names, which may answer in the place of a
/// server.
fn proxy_urls() -> impl Iterator<Item = String> {
    let names = PROXIES.iter();
    let names = names.flat_map(|name| [(*name).to_owned(), name.to_ascii_uppercase()]);
    names
        .filter_map(std::env::var_os)
        .map(|value| value.to_string_lossy().into_owned())
        .filter(|value| !value.is_empty())
}

fn has_proxy() -> bool {
    proxy_urls().next().is_some()
}

/// Returns the hosts of the proxies that the environment names.
fn proxies() -> impl Iterator<Item = String> {
    proxy_urls().filter_map(|url| {
        let url = match url.contains("://") {
            true => url,
            false => format!("http://{url}"),
        };
        let url = Url::parse(&url).ok()?;
        url.has_host().then(|| bare_host(&url))
    })
}

/// Resolves names to those of their addresses that are within reach.
#[derive(Debug)]
pub(super) struct FilteredResolver {
    reach: Reach,
    /// Names that may lead anywhere: those that the user has configured, and proxies.
    unfiltered: Vec<String>,
    hint: &'static str,
}

/// A name that leads to nothing within reach.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{name}` leads to {address}, which is {}, where what a server names may not lead ({hint})",
    AddressKind::of(*address)
)]
struct OutOfReach {
    name: String,
    address: IpAddr,
    hint: &'static str,
}

impl Resolve for FilteredResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let hint = self.hint;
        let is_unfiltered = self.unfiltered.iter().any(|other| other == name.as_str());
        let reach = match is_unfiltered {
            true => Reach::Configured,
            false => self.reach,
        };
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (within, beyond): (Vec<SocketAddr>, Vec<SocketAddr>) =
                found.partition(|address| reach.allows(address.ip()));
            if let (true, Some(address)) = (within.is_empty(), beyond.first()) {
                return Err(Box::new(OutOfReach {
                    name: name.as_str().to_owned(),
                    address: address.ip(),
                    hint,
                })
                    as Box<dyn std::error::Error + Send + Sync>);
            }
            let within: Addrs = Box::new(within.into_iter());
            Ok(within)
        })
    }
}

impl FilteredResolver {
    /// Creates a resolver that lets these hosts lead anywhere. The hint is for people.
    pub(super) fn new(reach: Reach, hosts: &[String], hint: &'static str) -> Arc<Self> {
        // A proxy resolves what it is asked for itself.
        let unfiltered = hosts.iter().cloned().chain(proxies());
        Arc::new(Self {
            reach,
            unfiltered: unfiltered.collect(),
            hint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_one_kind_however_they_are_written() {
        use AddressKind::{Benchmarking, LinkLocal, Loopback, Private, Public, Reserved};
        for (address, kind) in [
            ("127.0.0.1", Loopback),
            ("127.255.0.1", Loopback),
            ("::1", Loopback),
            ("::ffff:127.0.0.1", Loopback),
            ("::127.0.0.1", Loopback),
            ("::ffff:0:127.0.0.1", Loopback),
            ("64:ff9b::127.0.0.1", Loopback),
            ("2002:7f00:1::", Loopback),
            ("0.0.0.0", Reserved),
            ("0.1.2.3", Reserved),
            ("::", Reserved),
            ("::ffff:0.0.0.0", Reserved),
            ("64:ff9b::", Reserved),
            ("2002::1", Reserved),
            ("10.0.0.1", Private),
            ("172.16.0.1", Private),
            ("172.32.0.1", Public),
            ("192.168.1.1", Private),
            ("100.64.0.1", Private),
            ("100.128.0.1", Public),
            ("::ffff:10.0.0.1", Private),
            ("2002:a00:1::", Private),
            ("64:ff9b:1::1", Private),
            ("fd00::1", Private),
            ("fec0::1", Private),
            ("169.254.169.254", LinkLocal),
            ("::ffff:169.254.169.254", LinkLocal),
            ("fe80::1", LinkLocal),
            ("224.0.0.1", Reserved),
            ("255.255.255.255", Reserved),
            ("198.18.0.1", Benchmarking),
            ("198.19.255.1", Benchmarking),
            ("192.0.2.1", Reserved),
            ("ff02::1", Reserved),
            ("2001:0:1::1", Reserved),
            ("2001:db8::1", Reserved),
            ("1.1.1.1", Public),
            ("2606:4700::1111", Public),
            ("64:ff9b::1.1.1.1", Public),
        ] {
            assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
        }
    }

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

    #[tokio::test]
    async fn names_are_judged_by_their_addresses() {
        let resolve = |reach: Reach| async move {
            let name: Name = "localhost".parse().unwrap();
            FilteredResolver::new(reach, &[], "a way out")
                .resolve(name)
                .await
                .map(Iterator::count)
        };
        let error = resolve(Reach::Public).await.unwrap_err();
        assert!(
            error.to_string().contains("`localhost` leads to"),
            "{error}"
        );
        assert!(resolve(Reach::And(AddressKind::Private)).await.is_err());
        assert!(resolve(Reach::And(AddressKind::Loopback)).await.unwrap() > 0);
    }
}
