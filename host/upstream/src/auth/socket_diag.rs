//! Questions to Linux about single TCP connections of this machine (`sock_diag(7)`), each answered in
//! the same short time however many connections there are.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// Kind of message that asks about sockets (`SOCK_DIAG_BY_FAMILY`), and of its answer.
const BY_FAMILY: u16 = 20;
/// Flag of a request (`NLM_F_REQUEST`).
const REQUEST: u16 = 1;
/// Kind of message that says that something went wrong (`NLMSG_ERROR`).
const ERROR: u16 = 2;
const TCP: u8 = 6;
/// State of a connection that neither end has closed (`TCP_ESTABLISHED`).
const ESTABLISHED: u8 = 1;
/// Length of the header of a message (`nlmsghdr`).
const HEADER_BYTES: usize = 16;
/// Length of a request with its header (`inet_diag_req_v2`).
const REQUEST_BYTES: u32 = 72;
/// Place of the user in an answer with its header (`inet_diag_msg`).
const USER_AT: usize = HEADER_BYTES + 64;

/// One end of a TCP connection of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionEnd {
    /// Whether neither end has closed the connection.
    pub(super) is_established: bool,
    /// User whose end it is.
    pub(super) user: u32,
}

/// Finds the end of a connection that has these addresses, of which the first is its own.
///
/// # Errors
/// The system does not answer such questions.
pub(super) fn connection_end(
    local: SocketAddr,
    remote: SocketAddr,
) -> io::Result<Option<ConnectionEnd>> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    let system = SocketAddrNetlink::new(0, 0);
    sendto(
        &socket,
        &request(local, remote),
        SendFlags::empty(),
        &system,
    )?;
    let mut answer = [0; 512];
    // The answer is there when the question has been sent.
    let (len, _) = recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    let unreadable = || io::Error::from(ErrorKind::InvalidData);
    read(answer.get(..len).unwrap_or_default()).ok_or_else(unreadable)?
}

/// Makes the request for one connection.
fn request(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let family = match local {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let family = u8::try_from(family.as_raw()).unwrap_or_default();
    let address = |address: SocketAddr| {
        let mut octets = [0; 16];
        match address {
            SocketAddr::V4(address) => {
                let own = address.ip().octets();
                octets
                    .iter_mut()
                    .zip(own)
                    .for_each(|(to, octet)| *to = octet);
            }
            SocketAddr::V6(address) => octets = address.ip().octets(),
        }
        octets
    };
    let mut request = Vec::new();
    request.extend(REQUEST_BYTES.to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(REQUEST.to_ne_bytes());
    // Number of the request, and the sender: none.
    request.extend([0; 8]);
    request.extend([family, TCP, 0, 0]);
    // In any state.
    request.extend(u32::MAX.to_ne_bytes());
    request.extend(local.port().to_be_bytes());
    request.extend(remote.port().to_be_bytes());
    request.extend(address(local));
    request.extend(address(remote));
    // On any interface, and whatever its cookie is.
    request.extend([0; 4]);
    request.extend([0xff; 8]);
    request
}

/// Reads an answer. None where it is none.
fn read(answer: &[u8]) -> Option<io::Result<Option<ConnectionEnd>>> {
    let kind = answer.get(4..6)?.try_into().ok()?;
    let body = answer.get(HEADER_BYTES..)?;
    match u16::from_ne_bytes(kind) {
        BY_FAMILY => {
            let user = answer.get(USER_AT..USER_AT + 4)?.try_into().ok()?;
            Some(Ok(Some(ConnectionEnd {
                is_established: *body.get(1)? == ESTABLISHED,
                user: u32::from_ne_bytes(user),
            })))
        }
        ERROR => {
            let error = i32::from_ne_bytes(body.get(..4)?.try_into().ok()?);
            let error = Errno::from_raw_os_error(error.checked_neg()?);
            Some(match error {
                Errno::NOENT => Ok(None),
                other => Err(other.into()),
            })
        }
        _ => None,
    }
}
