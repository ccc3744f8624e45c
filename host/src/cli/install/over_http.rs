//! How a client reaches a host that is shared over HTTP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use dormouse_config::install::ClientReach;
use dormouse_launch::Secret;

use crate::cli::host_address::host_address;
use crate::cli::output;
use crate::mcp::http::token::Token;
use crate::roster::Places;

/// Reads the address of a host. Port 0 is refused, because it cannot be written into a file.
pub(super) fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let address = host_address(text)?;
    match address.port() {
        0 => Err("a client needs the port that the host has"),
        _ => Ok(address),
    }
}

/// Returns the address at which clients reach a host that listens at this one: a host may listen at
/// all addresses of the machine, but clients cannot connect to these.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Returns the URL and the token of a host at an address, and warns of an address that is not of this
/// machine alone. What `is_dry` makes no token.
pub(super) fn over_http(
    places: &Places,
    address: SocketAddr,
    token_file: Option<&Path>,
    is_dry: bool,
) -> anyhow::Result<ClientReach> {
    // The one that a host takes that is started with the same.
    let given = match token_file {
        Some(file) => Some(Token::read(file)?),
        None => Token::of_environment()?,
    };
    let token = match given {
        Some(token) => Some(token),
        // What only shows makes none.
        None if is_dry => Token::of_user_if_made(&places.data)?,
        None => Some(Token::of_user(&places.data)?),
    };
    let address = reached(address);
    if !address.ip().to_canonical().is_loopback() {
        output::warn(&format!(
            "`{address}` is no address of this machine alone: the token, and all that \
             is called, goes there unencrypted\n\
             hint: use `127.0.0.1:{}`, or a proxy that speaks HTTPS and its URL in the \
             client's file",
            address.port()
        ));
    }
    Ok(ClientReach::Http {
        url: format!("http://{address}/mcp"),
        token: Secret::new(token.as_ref().map_or("TOKEN", Token::expose)),
    })
}
