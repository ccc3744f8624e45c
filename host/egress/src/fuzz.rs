//! Fuzz targets: addresses that are judged, headers of requests, and secrets in what is sent and
//! received.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;
use url::Host;

pub use crate::granted_http::fuzz::request_headers;
pub use crate::secrets::fuzz::{masked_bodies, placeholders};
use crate::{AddressKind, Reach, literal};

/// Addresses, of which the input's beginning is one, and hosts of URLs, of which the input is one: no
/// form of an address that leads to this machine or its network counts as one of the internet.
pub fn addresses(data: &[u8]) {
    let mut bytes = [0; 16];
    bytes
        .iter_mut()
        .zip(data)
        .for_each(|(to, from)| *to = *from);
    let six = Ipv6Addr::from(bytes);
    let [a, b, c, d, ..] = bytes;
    let four = Ipv4Addr::new(a, b, c, d);
    let kind = AddressKind::of(four.into());
    let [high, low] = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
    for form in [
        [0, 0, 0, 0, 0, 0xffff, high, low],
        [0, 0, 0, 0, 0xffff, 0, high, low],
        [0x64, 0xff9b, 0, 0, 0, 0, high, low],
        [0x2002, high, low, 0, 0, 0, 0, 1],
    ] {
        let form = Ipv6Addr::from(form);
        assert_eq!(AddressKind::of(form.into()), kind, "{form} {four}");
    }
    if high != 0 {
        let compatible = Ipv6Addr::from([0, 0, 0, 0, 0, 0, high, low]);
        assert_eq!(AddressKind::of(compatible.into()), kind, "{compatible}");
    }
    for address in [IpAddr::V4(four), IpAddr::V6(six)] {
        is_nobodys_trick(address);
    }
    let text = String::from_utf8_lossy(data);
    let Ok(url) = Url::parse(&format!("http://{}/", text.trim())) else {
        return;
    };
    let address = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        Some(Host::Domain(_)) | None => None,
    };
    assert_eq!(literal(&url), address, "{url}");
    if let Some(address) = address {
        is_nobodys_trick(address);
        let is_public = AddressKind::of(address) == AddressKind::Public;
        assert!(!Reach::Public.allows_url(&url) || is_public, "{url}");
    }
}

/// Checks an address that counts as one of the internet by what the standard library knows of it.
fn is_nobodys_trick(address: IpAddr) {
    if AddressKind::of(address) != AddressKind::Public {
        return;
    }
    let is_own = match address {
        IpAddr::V4(address) => {
            address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_broadcast()
                || address.is_documentation()
                || address.is_multicast()
                || address.is_unspecified()
        }
        IpAddr::V6(address) => {
            if let Some(mapped) = address.to_ipv4_mapped() {
                is_nobodys_trick(mapped.into());
            }
            address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
    };
    assert!(!is_own, "{address}");
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { addresses masked_bodies placeholders request_headers }
}
