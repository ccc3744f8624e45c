//! Tries to reach what is outside of it, by the functions of WASI themselves and by
//! those of the standard library.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::io::Read as _;

use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::{
    ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress, Network,
};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp::OutgoingDatagram;
use wasip2::sockets::udp_create_socket::create_udp_socket;

struct Outside;

dormouse_sdk::plugin!(Outside, world = "network");

impl Guest for Outside {
    fn reach(what: String, port: u16) -> String {
        let network = instance_network();
        let reached = match what.as_str() {
            "tcp" => connect(&network, v4(port)),
            "tcp 6" => connect(&network, v6(port)),
            "listen" => listen(&network),
            "udp" => send(Some(&network), port),
            "udp unbound" => send(None, port),
            "resolve" => resolve(&network, "localhost"),
            "resolve far" => resolve(&network, "example.com"),
            _ => return by_standard_library(&what, port),
        };
        match reached {
            Ok(()) => "reached".to_owned(),
            Err(code) => format!("error: {}", code.name()),
        }
    }
}

fn v4(port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv4(Ipv4SocketAddress {
        port,
        address: (127, 0, 0, 1),
    })
}

fn v6(port: u16) -> IpSocketAddress {
    IpSocketAddress::Ipv6(Ipv6SocketAddress {
        port,
        flow_info: 0,
        address: (0, 0, 0, 0, 0, 0, 0, 1),
        scope_id: 0,
    })
}

fn connect(network: &Network, address: IpSocketAddress) -> Result<(), ErrorCode> {
    let family = match address {
        IpSocketAddress::Ipv4(_) => IpAddressFamily::Ipv4,
        IpSocketAddress::Ipv6(_) => IpAddressFamily::Ipv6,
    };
    let socket = create_tcp_socket(family)?;
    socket.start_connect(network, address)?;
    socket.subscribe().block();
    socket.finish_connect().map(|_| ())
}

fn listen(network: &Network) -> Result<(), ErrorCode> {
    let socket = create_tcp_socket(IpAddressFamily::Ipv4)?;
    socket.start_bind(network, v4(0))?;
    socket.finish_bind()?;
    socket.start_listen()?;
    socket.finish_listen()
}

fn send(network: Option<&Network>, port: u16) -> Result<(), ErrorCode> {
    let socket = create_udp_socket(IpAddressFamily::Ipv4)?;
    if let Some(network) = network {
        socket.start_bind(network, v4(0))?;
        socket.finish_bind()?;
    }
    let (_, outgoing) = socket.stream(None)?;
    outgoing.check_send()?;
    let datagram = OutgoingDatagram {
        data: b"out".to_vec(),
        remote_address: Some(v4(port)),
    };
    outgoing.send(&[datagram]).map(|_| ())
}

fn resolve(network: &Network, name: &str) -> Result<(), ErrorCode> {
    let addresses = resolve_addresses(network, name)?;
    loop {
        match addresses.resolve_next_address() {
            Err(ErrorCode::WouldBlock) => addresses.subscribe().block(),
            Err(code) => return Err(code),
            Ok(_) => return Ok(()),
        }
    }
}

fn by_standard_library(what: &str, port: u16) -> String {
    let address = ("127.0.0.1", port);
    let reached = match what {
        "connect" => std::net::TcpStream::connect(address).map(|_| String::new()),
        "bind" => std::net::UdpSocket::bind(("127.0.0.1", 0)).map(|_| String::new()),
        "lookup" => std::net::ToSocketAddrs::to_socket_addrs("localhost:80")
            .map(|found| format!("{:?}", found.collect::<Vec<_>>())),
        "spawn" => std::process::Command::new("/bin/true")
            .spawn()
            .map(|_| String::new()),
        "root" => std::fs::read_dir("/").map(|_| String::new()),
        "file" => std::fs::read_to_string("/etc/passwd"),
        "here" => std::fs::write("written", "by a guest").map(|()| String::new()),
        "stdin" => {
            let mut all = String::new();
            let read = std::io::stdin().read_to_string(&mut all);
            return format!("{read:?} {all}");
        }
        "arguments" => return format!("{:?}", std::env::args().collect::<Vec<_>>()),
        "variables" => return format!("{:?}", std::env::vars().collect::<Vec<_>>()),
        _ => return "unknown".to_owned(),
    };
    match reached {
        Ok(said) => format!("reached {said}"),
        Err(error) => format!("error: {error}"),
    }
}
