//! `wasi:sockets` for guests, which have none.

use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{Network, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{ErrorCode, IpAddressFamily};
use wasmtime_wasi::p2::{TcpSocket, UdpSocket};

use super::NetworkState;
use super::destination::Destination;
use crate::sandbox::wasi::WASI_VERSION;

/// Result of a function of `wasi:sockets`.
type SocketResult<T> = Result<T, ErrorCode>;

/// Replaces wasmtime's functions that reach the network with ones that refuse.
///
/// # Errors
/// They cannot be defined.
pub(in crate::sandbox) fn add_to_linker<T: NetworkState>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    linker
        .instance(&format!("wasi:sockets/tcp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-tcp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Tcp);
                let refused: SocketResult<Resource<TcpSocket>> = Err(ErrorCode::AccessDenied);
                Ok((refused,))
            },
        )?;
    linker
        .instance(&format!("wasi:sockets/udp-create-socket@{WASI_VERSION}"))?
        .func_wrap(
            "create-udp-socket",
            |mut store, (_,): (IpAddressFamily,)| {
                store.data_mut().network().refuse(Destination::Udp);
                let refused: SocketResult<Resource<UdpSocket>> = Err(ErrorCode::AccessDenied);
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
                let refused: SocketResult<Resource<ResolveAddressStream>> =
                    Err(ErrorCode::PermanentResolverFailure);
                Ok((refused,))
            },
        )
}
