//! Opens sockets, past HTTP.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::{outcome, told};
use wasip2::sockets::network::{IpAddressFamily, IpSocketAddress, Ipv4SocketAddress};
use wasip2::sockets::{instance_network, tcp_create_socket, udp_create_socket};

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for address in [granted, other] {
        let connected = TcpStream::connect(address).and_then(|mut stream| stream.write(b"heard"));
        let sent =
            UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"heard", address));
        let tcp = tcp(address).map_err(told);
        outcomes.extend([
            outcome(
                &format!("TCP to {address}"),
                connected.map(say).map_err(told),
            ),
            outcome(&format!("UDP to {address}"), sent.map(say).map_err(told)),
            outcome(&format!("TCP of WASI to {address}"), tcp),
        ]);
    }
    let listening = TcpListener::bind("0.0.0.0:0").map(say).map_err(told);
    outcomes.push(outcome("listening", listening));
    for family in [IpAddressFamily::Ipv4, IpAddressFamily::Ipv6] {
        let udp = udp_create_socket::create_udp_socket(family);
        outcomes.push(outcome("UDP of WASI", udp.map(say).map_err(told)));
    }
    outcomes
}

fn tcp(address: &str) -> Result<String, String> {
    let address: std::net::SocketAddrV4 = address.parse().map_err(told)?;
    let [a, b, c, d] = address.ip().octets();
    let to = IpSocketAddress::Ipv4(Ipv4SocketAddress {
        port: address.port(),
        address: (a, b, c, d),
    });
    let socket = tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4).map_err(told)?;
    let network = instance_network::instance_network();
    socket.start_connect(&network, to).map_err(told)?;
    socket.subscribe().block();
    socket.finish_connect().map(say).map_err(told)
}

fn say(_: impl Sized) -> String {
    "it was opened".to_owned()
}
