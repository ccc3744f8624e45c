//! Addresses of this machine's own interfaces, whatever kind of address they are.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Addresses that no machine has: they are for documentation.
const NOBODYS: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(192, 0, 2, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
);

/// Whether an address is this machine's own, or may be because the system does not tell. Nothing is
/// sent for that.
pub(crate) fn is_own_address(address: IpAddr) -> bool {
    asked(address).unwrap_or(true)
}

fn asked(address: IpAddr) -> io::Result<bool> {
    let (nobodys, any): (IpAddr, IpAddr) = match address {
        IpAddr::V4(_) => (NOBODYS.0.into(), Ipv4Addr::UNSPECIFIED.into()),
        IpAddr::V6(_) => (NOBODYS.1.into(), Ipv6Addr::UNSPECIFIED.into()),
    };
    if !is_bound(nobodys)? {
        return is_bound(address);
    }
    // Here a program may bind to what is not its machine's (`ip_nonlocal_bind`). To an address of its
    // own a machine sends from that one.
    let socket = UdpSocket::bind((any, 0))?;
    Ok(socket.connect((address, 1)).is_ok() && socket.local_addr()?.ip() == address)
}

/// Whether a socket can be bound to an address.
fn is_bound(address: IpAddr) -> io::Result<bool> {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_this_machine_where_one_of_its_interfaces_has_it() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("1.1.1.1", false),
            ("192.0.2.7", false),
            ("2606:4700::1111", false),
        ] {
            let address: IpAddr = address.parse().unwrap();
            // Some machines have no IPv6.
            if address.is_ipv4() || UdpSocket::bind("[::1]:0").is_ok() {
                assert_eq!(is_own_address(address), expected, "{address}");
            }
        }
    }
}
