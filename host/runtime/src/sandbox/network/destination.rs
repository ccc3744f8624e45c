//! Destinations that guests have no way to.

use std::fmt;

/// Destination on the network that a guest tries to reach otherwise than by HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// Addresses of a host, by its name.
    Name(&'a str),
    /// Any address, by a TCP connection.
    Tcp,
    /// Any address, by UDP datagrams.
    Udp,
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "a lookup of the name `{name}`"),
            Self::Tcp => f.write_str("a TCP socket"),
            Self::Udp => f.write_str("a UDP socket"),
        }
    }
}
