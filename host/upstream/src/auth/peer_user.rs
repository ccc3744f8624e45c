//! The user of this machine at the other end of a connection.
//!
//! The link of a login is among the arguments of the browser that is started, which all users of
//! the machine can read. Whoever has read it can log in as themselves and bring their own code to
//! the port that waits for the user's.

use std::net::SocketAddr;

#[cfg(target_os = "linux")]
use std::io::Read as _;

use tokio::net::TcpStream;

#[cfg(target_os = "linux")]
use super::socket_diag::connection_end;

/// Most bytes of the system's table of connections that are read.
#[cfg(target_os = "linux")]
const MAX_TABLE_BYTES: u64 = 16 << 20;

/// State of a connection that neither end has closed, as the table has it.
const ESTABLISHED: &str = "01";

/// State of a port that takes connections.
const LISTENING: &str = "0A";

/// User to whom a connection within this machine belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PeerOwner {
    /// This process's user's, or the system's; or the system does not say whose it is.
    Own,
    /// Another user's.
    AnotherUsers,
    /// Nobody's any more: it has been closed, so that its user does not show. A browser stays to
    /// hear the answer.
    Gone,
}

/// Finds whose a connection to a port is. `listener` is the port's address.
pub(super) async fn peer(listener: SocketAddr, stream: &TcpStream) -> PeerOwner {
    let (Ok(here), Ok(there)) = (stream.local_addr(), stream.peer_addr()) else {
        return PeerOwner::Gone;
    };
    let peer = peer_at(listener, here, there).await;
    // Who has reset a connection has its addresses to spare, and what was found may be somebody
    // else's connection, which has got them since. It is this one as long as this one has a peer.
    match stream.peer_addr() {
        Ok(_) => peer,
        Err(_) => PeerOwner::Gone,
    }
}

/// Finds whose the end of a connection is that has the address `there`.
#[cfg(target_os = "linux")]
async fn peer_at(listener: SocketAddr, here: SocketAddr, there: SocketAddr) -> PeerOwner {
    match connection_end(there, here) {
        Ok(Some(end)) if end.is_established => return PeerOwner::of(end.user),
        // The other end is closed, if the system knows our own one.
        Ok(_) if matches!(connection_end(here, there), Ok(Some(_))) => return PeerOwner::Gone,
        Ok(_) | Err(_) => {}
    }
    // Reading the tables takes time with all connections of the machine.
    let reading = move || peer_by_tables(listener, here, there);
    let read = tokio::task::spawn_blocking(reading).await;
    read.unwrap_or(PeerOwner::Gone)
}

/// Elsewhere nothing tells whose a connection is.
#[cfg(not(target_os = "linux"))]
async fn peer_at(_: SocketAddr, _: SocketAddr, _: SocketAddr) -> PeerOwner {
    PeerOwner::Own
}

/// Finds whose the end of a connection is by the system's tables of all connections.
#[cfg(target_os = "linux")]
fn peer_by_tables(listener: SocketAddr, here: SocketAddr, there: SocketAddr) -> PeerOwner {
    let mut tables = String::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        if let Ok(file) = std::fs::File::open(file) {
            // What is no text is no such table.
            let _ = file.take(MAX_TABLE_BYTES).read_to_string(&mut tables);
        }
    }
    match user_of(&tables, listener, here, there) {
        PeerUser::Unknown => PeerOwner::Own,
        PeerUser::Gone => PeerOwner::Gone,
        PeerUser::User(user) => PeerOwner::of(user),
    }
}

impl PeerOwner {
    #[cfg(target_os = "linux")]
    fn of(user: u32) -> Self {
        let own = rustix::process::geteuid().as_raw();
        match user == 0 || user == own {
            true => Self::Own,
            false => Self::AnotherUsers,
        }
    }
}

/// User at the other end of a connection, as the system's table has it.
#[derive(Debug, PartialEq, Eq)]
enum PeerUser {
    /// The table is of no use: it does not even have the port that the connection came to.
    Unknown,
    /// The other end has been closed.
    Gone,
    User(u32),
}

/// Finds the user of the other end of a connection in `/proc/net/tcp`, whose format is in
/// `proc_net_tcp.rst` of Linux.
fn user_of(table: &str, listener: SocketAddr, here: SocketAddr, peer: SocketAddr) -> PeerUser {
    let (listener, here, peer) = (written(listener), written(here), written(peer));
    let is_one = |names: &[String; 2], name: &str| names.iter().any(|one| one == name);
    let mut found = PeerUser::Unknown;
    for line in table.lines() {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (Some(local), Some(remote), Some(state)) =
            (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        if state == LISTENING && is_one(&listener, local) {
            found = PeerUser::Gone;
        }
        if state == ESTABLISHED && is_one(&peer, local) && is_one(&here, remote) {
            let user = columns.nth(3).and_then(|user| user.parse().ok());
            return user.map_or(PeerUser::Gone, PeerUser::User);
        }
    }
    found
}

/// An address as the table has it: in the one of its own kind, and in the one of IPv6.
fn written(address: SocketAddr) -> [String; 2] {
    let port = address.port();
    let words = |octets: [u8; 16]| {
        let (words, _) = octets.as_chunks::<4>();
        let words = words
            .iter()
            .map(|word| format!("{:08X}", u32::from_ne_bytes(*word)));
        let words: String = words.collect();
        format!("{words}:{port:04X}")
    };
    match address {
        SocketAddr::V4(address) => {
            let ip = address.ip();
            let own = u32::from_ne_bytes(ip.octets());
            [
                format!("{own:08X}:{port:04X}"),
                words(ip.to_ipv6_mapped().octets()),
            ]
        }
        SocketAddr::V6(address) => {
            let own = words(address.ip().octets());
            [own.clone(), own]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_table_says_whose_a_connection_is() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0
   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0
   2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0
   3: 0100007F:C351 0100007F:1F90 05 00000000:00000000 00:00000000 00000000     0        0 4 1 0
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:1F90 01 00000000:00000000 00:00000000 00000000  1002        0 5 1 0
   5: 00000000000000000000000001000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 6 1 0
   6: 00000000000000000000000001000000:C353 00000000000000000000000001000000:1F91 01 00000000:00000000 00:00000000 00000000  1003        0 7 1 0
";
        if cfg!(target_endian = "big") {
            return;
        }
        let here = address("127.0.0.1:8080");
        for (peer, user) in [
            ("127.0.0.1:50000", PeerUser::User(1001)),
            // Closed already: what is left of it is nobody's.
            ("127.0.0.1:50001", PeerUser::Gone),
            ("127.0.0.1:50002", PeerUser::User(1002)),
            ("127.0.0.1:50009", PeerUser::Gone),
        ] {
            assert_eq!(user_of(table, here, here, address(peer)), user, "{peer}");
        }
        let here = address("[::1]:8081");
        let user = user_of(table, here, here, address("[::1]:50003"));
        assert_eq!(user, PeerUser::User(1003));
        // A system that tells nothing keeps nobody out.
        let other = address("127.0.0.1:9");
        let user = user_of(table, other, other, address("127.0.0.1:50009"));
        assert_eq!(user, PeerUser::Unknown);
        assert_eq!(user_of("", here, here, here), PeerUser::Unknown);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_connection_of_this_user_is_none_of_anothers_until_it_is_closed() {
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let listener = tokio::net::TcpListener::bind(at).await.unwrap();
            let port = listener.local_addr().unwrap();
            let client = TcpStream::connect(port).await.unwrap();
            let (stream, there) = listener.accept().await.unwrap();
            let here = stream.local_addr().unwrap();
            assert_eq!(peer(port, &stream).await, PeerOwner::Own, "{at}");
            assert_eq!(peer_by_tables(port, here, there), PeerOwner::Own, "{at}");
            assert!(connection_end(there, here).unwrap().unwrap().is_established);
            drop(client);
            assert_eq!(peer(port, &stream).await, PeerOwner::Gone, "{at}");
            assert_eq!(peer_by_tables(port, here, there), PeerOwner::Gone, "{at}");
        }
    }

    /// The addresses of a connection that was reset are free for others, while what was sent over it
    /// can still be read.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_connection_that_was_reset_is_nobodys_whoever_has_its_addresses_now() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap();
        let mut first = TcpStream::connect(port).await.unwrap();
        let of_first = first.local_addr().unwrap();
        first.write_all(b"GET /callback").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        first.set_zero_linger().unwrap();
        drop(first);
        let second = tokio::net::TcpSocket::new_v4().unwrap();
        second.set_reuseaddr(true).unwrap();
        second.bind(of_first).unwrap();
        let second = second.connect(port).await.unwrap();
        let end = connection_end(of_first, port).unwrap().unwrap();
        assert!(end.is_established);
        assert_eq!(peer(port, &stream).await, PeerOwner::Gone);
        let mut sent = [0; 13];
        stream.read_exact(&mut sent).await.unwrap();
        assert_eq!(&sent, b"GET /callback");
        drop(second);
    }
}
