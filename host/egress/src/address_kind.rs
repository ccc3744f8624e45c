//! Kinds of addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

use crate::host_name::{is_local_name, literal};
use crate::own_address::is_own_address;

/// The kinds of addresses, by who can be at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
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
    /// Returns the kind of an address, also of one that is written in another form of address.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => match embedded(address) {
                Some(inner) => Self::of_v4(inner),
                None => Self::of_v6(address),
            },
        }
    }

    /// Returns the kind of an address to whoever means hosts of the internet at large: one of the
    /// internet that this machine has itself is this machine.
    pub(crate) fn of_other_machines(address: IpAddr) -> Self {
        let is_own = || {
            let inner = match address {
                IpAddr::V4(_) => None,
                IpAddr::V6(address) => embedded(address).map(IpAddr::V4),
            };
            is_own_address(address) || inner.is_some_and(is_own_address)
        };
        match Self::of(address) {
            Self::Public if is_own() => Self::Loopback,
            kind => kind,
        }
    }

    /// The kind of address that a URL is about by what it says: that of its address, or of a name
    /// that means this machine or, where it is another that leads too far, its network.
    #[must_use]
    pub fn of_url(url: &Url) -> Self {
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
            // Global unicast; what is set aside for protocols, tunnels or documentation in it is
            // nobody's.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Reserved,
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
            ("2001:2::1", Reserved),
            ("2001:1ff::1", Reserved),
            ("2001:200::1", Public),
            ("3fff:fff::1", Reserved),
            ("3fff:1000::1", Public),
            ("1.1.1.1", Public),
            ("2606:4700::1111", Public),
            ("64:ff9b::1.1.1.1", Public),
        ] {
            assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
        }
    }
}
