//! User to whom a socket belongs that this process has connected to.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{effective_user, refused, way};

/// Checks that a socket is this user's own: that it is them who listens at it, where the system says who
/// does, that its file is theirs, where it has one, and that nobody but them and root can put another one
/// in its place. Root's is not enough: at a socket of root's, anybody may be served.
///
/// # Errors
/// It is another user's, others can put another one there, or nobody knows whose it is
/// ([`io::ErrorKind::PermissionDenied`]).
pub fn check_socket(connected: &UnixStream, file: Option<&Path>) -> io::Result<()> {
    let me = effective_user();
    let listener = listener(connected)?;
    let owner = match file {
        Some(file) => Some(std::fs::metadata(file)?.uid()),
        None => None,
    };
    let users = [listener, owner];
    if let Some(other) = users.into_iter().flatten().find(|user| *user != me) {
        return Err(refused(format!("another user (uid {other}) listens at it")));
    }
    match file {
        Some(file) if way::is_kept(file, None)? => Ok(()),
        None if listener.is_some() => Ok(()),
        Some(_) => Err(io::ErrorKind::NotFound.into()),
        None => Err(refused("nobody knows who listens at it".to_owned())),
    }
}

/// Returns the user who listens at the other end of a socket; none where the system does not say.
#[cfg(target_os = "linux")]
fn listener(connected: &UnixStream) -> io::Result<Option<u32>> {
    let peer = rustix::net::sockopt::socket_peercred(connected)?;
    Ok(Some(peer.uid.as_raw()))
}

#[cfg(not(target_os = "linux"))]
fn listener(_: &UnixStream) -> io::Result<Option<u32>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Some user who is neither root nor has a home here.
    const OTHER: u32 = 54_321;

    #[test]
    fn a_socket_is_this_users_where_nobody_else_listens_or_can_listen_there() {
        let all = tempfile::tempdir().unwrap();
        let all = all.path().canonicalize().unwrap();
        set_permissions(&all, Permissions::from_mode(0o755)).unwrap();
        let (folder, link) = (all.join("run"), all.join("link"));
        std::fs::create_dir(&folder).unwrap();
        let bus = folder.join("bus");
        let _listener = UnixListener::bind(&bus).unwrap();
        symlink(&bus, &link).unwrap();
        let check = |file: &Path| check_socket(&UnixStream::connect(file).unwrap(), Some(file));
        // Who may connect to it writes nothing in its place, and folders for all keep what is in them.
        for (folder_mode, mode, is_own) in [
            (0o700, 0o600, true),
            (0o700, 0o666, true),
            (0o755, 0o777, true),
            (0o1777, 0o777, true),
            (0o777, 0o600, false),
        ] {
            set_permissions(&folder, Permissions::from_mode(folder_mode)).unwrap();
            set_permissions(&bus, Permissions::from_mode(mode)).unwrap();
            for file in [&bus, &link] {
                assert_eq!(check(file).is_ok(), is_own, "{folder_mode:o} {mode:o}");
            }
        }
        set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let connected = UnixStream::connect(&bus).unwrap();
        let is_known = check_socket(&connected, None).is_ok();
        assert_eq!(is_known, cfg!(target_os = "linux"));
        if !rustix::process::geteuid().is_root() {
            return;
        }
        chown(&bus, Some(OTHER), None).unwrap();
        let error = check(&bus).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let why = format!("another user (uid {OTHER}) listens at it");
        assert_eq!(error.to_string(), why);
        chown(&bus, Some(0), None).unwrap();
        chown(&folder, Some(OTHER), None).unwrap();
        assert!(check(&link).is_err());
    }

    /// A name without a file has no owner that could be looked at.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_socket_without_a_file_is_whose_process_listens() {
        use std::io::{BufRead as _, BufReader};
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::SocketAddr;
        use std::os::unix::process::CommandExt as _;
        use std::process::{Command, Stdio};

        let name = format!("dormouse-test-{}", std::process::id());
        let address = |name: &str| SocketAddr::from_abstract_name(name).unwrap();
        let own = UnixListener::bind_addr(&address(&name)).unwrap();
        let connected = UnixStream::connect_addr(&address(&name)).unwrap();
        check_socket(&connected, None).unwrap();
        drop(own);
        if !rustix::process::geteuid().is_root() {
            // Only root can become another user.
            return;
        }
        let name = format!("{name}-theirs");
        let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind('\\0'+sys.argv[1]); \
                      s.listen(); print('x',flush=True); sys.stdin.read()";
        let mut theirs = Command::new("python3")
            .args(["-c", script, &name])
            .uid(OTHER)
            .gid(OTHER)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = theirs.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let connected = UnixStream::connect_addr(&address(&name)).unwrap();
        let error = check_socket(&connected, None).unwrap_err().to_string();
        assert_eq!(error, format!("another user (uid {OTHER}) listens at it"));
        drop(theirs.stdin.take());
        theirs.wait().unwrap();
    }
}
