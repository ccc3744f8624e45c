//! The session bus, through which the keyring is reached, as far as it is this user's own. Its client
//! connects to whatever the environment names, and would give the secrets to whoever listens there.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::PathBuf;

use dormouse_files::ownership;

/// Environment variable with the address of the bus.
const ADDRESS_VARIABLE: &str = "DBUS_SESSION_BUS_ADDRESS";

/// Kinds of addresses by which the keyring's client reaches a bus of which nobody can tell whose it is.
const UNKNOWN_OWNERS: [&str; 5] = ["tcp", "nonce-tcp", "unixexec", "ibus", "vsock"];

/// Socket of a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BusSocket {
    File(PathBuf),
    /// A name without a file, which only Linux has.
    Abstract(OsString),
}

/// Checks that the session bus that the keyring's client will connect to is this user's own. The error
/// says why there is none; where there is one that is not theirs, that is logged, once.
pub(super) fn check() -> Result<(), String> {
    let address = address(|name| std::env::var(name).ok());
    let shown = address.escape_debug();
    let not_used = |why: &str, hint: &str| {
        let why = format!("the session bus `{shown}` is not this user's own: {why}");
        ownership::warn_once(format!(
            "the system's keyring is not used: {why}\nhint: {hint}"
        ));
        why
    };
    let Some(socket) = socket(&address) else {
        let (kind, _) = address.split_once(':').unwrap_or_default();
        return Err(match UNKNOWN_OWNERS.contains(&kind) {
            true => not_used(
                "nobody can tell who listens at an address of this kind",
                "use the keyring through a bus at `unix:path=…`",
            ),
            false => format!("`{shown}` is no address of a session bus"),
        });
    };
    is_own(&socket).map_err(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return format!("the session bus `{shown}` cannot be reached: {error}");
        }
        let error = error.to_string();
        let (why, hint) = error.split_once("\nhint: ").unwrap_or((
            &error,
            "unset `DBUS_SESSION_BUS_ADDRESS` and `XDG_RUNTIME_DIR`, which another user's session may \
             have left, or begin a session of this user's own",
        ));
        not_used(why, hint)
    })
}

/// Returns the address that the keyring's client takes.
fn address(variable: impl Fn(&str) -> Option<String>) -> String {
    variable(ADDRESS_VARIABLE).unwrap_or_else(|| {
        let folder = variable("XDG_RUNTIME_DIR").unwrap_or_else(|| {
            let user = ownership::effective_user();
            format!("/run/user/{user}")
        });
        format!("unix:path={folder}/bus")
    })
}

/// Returns the socket of an address; none where it has none, or may be read in more than one way.
fn socket(address: &str) -> Option<BusSocket> {
    let mut socket = None;
    for option in address.strip_prefix("unix:")?.split(',') {
        let (key, value) = option.split_once('=')?;
        // `%` begins an escape, of which the keyring's client knows nothing, and `;` another address.
        if value.is_empty() || value.contains(['%', ';', '\0']) {
            return None;
        }
        let named = match key {
            "path" => BusSocket::File(value.into()),
            "abstract" => BusSocket::Abstract(value.into()),
            "dir" | "tmpdir" | "runtime" => return None,
            _ => continue,
        };
        if socket.replace(named).is_some() {
            return None;
        }
    }
    socket
}

/// Checks that a socket is this user's own. The keyring's client connects to it once more, by its name:
/// so nobody else may be able to take that meanwhile.
fn is_own(socket: &BusSocket) -> io::Result<()> {
    match socket {
        BusSocket::File(file) => {
            let connected = UnixStream::connect(file)?;
            ownership::check_socket(&connected, Some(file))
        }
        BusSocket::Abstract(name) => {
            let address = SocketAddr::from_abstract_name(name.as_encoded_bytes())?;
            let connected = UnixStream::connect_addr(&address)?;
            ownership::check_socket(&connected, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_one_that_the_keyrings_client_takes() {
        let of = |variables: &[(&str, &str)]| {
            address(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let user = ownership::effective_user();
        assert_eq!(of(&[]), format!("unix:path=/run/user/{user}/bus"));
        let runtime = ("XDG_RUNTIME_DIR", "/run/x");
        assert_eq!(of(&[runtime]), "unix:path=/run/x/bus");
        assert_eq!(of(&[runtime, (ADDRESS_VARIABLE, "tcp:a=b")]), "tcp:a=b");
    }

    #[test]
    fn a_socket_is_known_where_an_address_can_be_read_in_one_way() {
        let file = |path: &str| Some(BusSocket::File(path.into()));
        for (address, expected) in [
            ("unix:path=/run/user/1000/bus", file("/run/user/1000/bus")),
            ("unix:path=/tmp/dbus-a,guid=0123", file("/tmp/dbus-a")),
            ("unix:guid=0123,path=/tmp/dbus-a", file("/tmp/dbus-a")),
            (
                "unix:abstract=/tmp/dbus-a,guid=0123",
                Some(BusSocket::Abstract("/tmp/dbus-a".into())),
            ),
            ("unix:path=/a,path=/b", None),
            ("unix:path=/a,abstract=/b", None),
            ("unix:path=/a;unix:path=/b", None),
            ("unix:path=/a%2fb", None),
            ("unix:path=", None),
            ("unix:path=/a,", None),
            ("unix:runtime=yes", None),
            ("unix:tmpdir=/tmp", None),
            ("unix:", None),
            ("tcp:host=localhost,port=1", None),
            ("unixexec:path=/bin/sh", None),
            ("disabled:", None),
            ("", None),
        ] {
            assert_eq!(socket(address), expected, "{address}");
        }
    }
}
