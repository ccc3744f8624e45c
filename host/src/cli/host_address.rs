//! The address of a host, as `serve` and `install` are told it.

use std::net::SocketAddr;

/// Reads an address and a port; `localhost` is `127.0.0.1`, without asking any resolver.
pub(super) fn host_address(text: &str) -> Result<SocketAddr, &'static str> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse()
        .map_err(|_| "an address and a port are needed, like `127.0.0.1:8080` or `[::1]:8080`")
}
