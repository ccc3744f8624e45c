//! Network for guests: every access is refused, with the reason. The only place that decides on a
//! guest's access to the network.

use std::fmt;

use dormouse_text::log_text::escaped;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{Network, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily};
use wasmtime_wasi::p2::{TcpSocket, UdpSocket};

use super::Output;
use super::wasi::WASI_VERSION;

/// Most destinations of one instance that are logged, each once: a guest may try many.
const MAX_LOGGED_DESTINATIONS: usize = 8;

/// Most bytes of a destination that are shown: names of the internet have at most 253.
const MAX_SHOWN_BYTES: usize = 320;

/// Most bytes of a destination that are searched for secrets: more than any secret has that begins
/// in the shown part.
const MAX_READ_BYTES: usize = 64 << 10;

/// State of a store whose guest may try to reach the network.
pub(crate) trait NetworkState: Send + 'static {
    /// Returns the gate that decides on its access.
    fn network(&mut self) -> &mut NetworkGate;
}

/// Destination on the network that a guest tries to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination<'a> {
    /// A host, by an HTTP request, with the authority of its URL.
    Http(&'a str),
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
            Self::Http(authority) => {
                // The part before the `@` is a password at worst.
                let host = authority
                    .rsplit_once('@')
                    .map_or(*authority, |(_, host)| host);
                write!(f, "an HTTP request to `{host}`")
            }
            Self::Name(name) => write!(f, "a lookup of the name `{name}`"),
            Self::Tcp => f.write_str("a TCP socket"),
            Self::Udp => f.write_str("a UDP socket"),
        }
    }
}

/// Decides on one instance's access to the network. No access can be granted yet, so it refuses all
/// of it.
pub(crate) struct NetworkGate {
    server: String,
    output: Output,
    logged: Vec<String>,
    refused: Option<String>,
}

impl NetworkGate {
    pub(crate) fn new(server: &str, output: Output) -> Self {
        Self {
            server: server.to_owned(),
            output,
            logged: Vec::new(),
            refused: None,
        }
    }

    /// Begins another call: earlier refusals are not the cause of its failure.
    pub(crate) fn begin(&mut self) {
        self.refused = None;
    }

    /// Returns the last refusal of the running call, as text for the reader of its error.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Refuses access to a destination, and logs that once for each. Returns the reason, for the
    /// author of the guest.
    pub(crate) fn refuse(&mut self, destination: Destination<'_>) -> String {
        let wanted = destination.to_string();
        let read = wanted.floor_char_boundary(MAX_READ_BYTES);
        let read = wanted.get(..read).unwrap_or(&wanted);
        let wanted = escaped(&self.output.redact_beginning(read, MAX_SHOWN_BYTES));
        let reason = format!(
            "{wanted} was refused: this version of Dormouse offers plugins no network, and has no grant for it"
        );
        if !self.logged.contains(&wanted) && self.logged.len() < MAX_LOGGED_DESTINATIONS {
            tracing::warn!("server `{}`: {reason}", self.server);
            self.logged.push(wanted);
        }
        self.refused = Some(reason.clone());
        reason
    }
}

/// Result of a function of `wasi:sockets`.
type Answer<T> = Result<T, ErrorCode>;

/// Replaces wasmtime's functions that reach the network with ones that refuse.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: NetworkState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    linker
        .instance(&format!("wasi:sockets/tcp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-tcp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Tcp);
                let refused: Answer<Resource<TcpSocket>> = Err(ErrorCode::AccessDenied);
                Ok((refused,))
            },
        )?;
    linker
        .instance(&format!("wasi:sockets/udp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-udp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Udp);
                let refused: Answer<Resource<UdpSocket>> = Err(ErrorCode::AccessDenied);
                Ok((refused,))
            },
        )?;
    linker
        .instance(&format!("wasi:sockets/ip-name-lookup@{WASI_VERSION}"))?
        .func_wrap(
            "resolve-addresses",
            |mut store, (_, name): (Resource<Network>, String)| {
                let destination = Destination::Name(&name);
                store.data_mut().network().refuse(destination);
                let refused: Answer<Resource<ResolveAddressStream>> =
                    Err(ErrorCode::PermanentResolverFailure);
                Ok((refused,))
            },
        )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dormouse_policy::Grants;
    use dormouse_tests::logged::logged;

    use super::*;
    use crate::sandbox::GivenSecrets;

    fn gate() -> NetworkGate {
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::default());
        NetworkGate::new("net", Output::new("net", 1000, secrets))
    }

    #[test]
    fn a_refusal_names_what_was_to_be_reached_and_nothing_secret_of_it() {
        let long = "x".repeat(10_000);
        for (destination, expected) in [
            (
                Destination::Http("a.example:8080"),
                "an HTTP request to `a.example:8080` was refused: ",
            ),
            (
                Destination::Http("me:secret@a.example"),
                "an HTTP request to `a.example` was refused: ",
            ),
            (
                Destination::Http("a\u{1b}[1m"),
                r"an HTTP request to `a\u{1b}[1m` was refused: ",
            ),
            (
                Destination::Name("a.example"),
                "a lookup of the name `a.example` was refused: ",
            ),
            (Destination::Tcp, "a TCP socket was refused: "),
            (Destination::Udp, "a UDP socket was refused: "),
        ] {
            let mut gate = gate();
            let reason = gate.refuse(destination);
            assert!(reason.starts_with(expected), "{reason}");
            assert!(reason.contains("offers plugins no network"), "{reason}");
            assert_eq!(gate.refused(), Some(reason.as_str()));
            gate.begin();
            assert_eq!(gate.refused(), None);
        }
        assert!(gate().refuse(Destination::Name(&long)).len() < 500);
    }

    #[test]
    fn each_destination_is_logged_once_and_only_so_many() {
        let (lines, _guard) = logged();
        let mut gate = gate();
        for _ in 0..100 {
            gate.refuse(Destination::Tcp);
        }
        assert_eq!(lines.lines().len(), 1, "{:?}", lines.lines());
        for number in 0..100 {
            gate.refuse(Destination::Http(&format!("host{number}.example")));
        }
        assert_eq!(lines.lines().len(), MAX_LOGGED_DESTINATIONS);
        assert!(lines.lines()[1].contains("server `net`: an HTTP request to `host0.example`"));
    }
}
