//! stdin and stdout, used by MCP alone.

use rmcp::transport::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};

/// Stream that is read, and stream that is written.
pub type StdioStreams = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
);

/// Returns the process's stdin and stdout, in the fastest form that they allow: pipes and sockets
/// are read when they are ready, anything else by a blocking thread. Has to be called inside of a
/// tokio runtime.
#[must_use]
pub fn streams() -> StdioStreams {
    // Node gives its children sockets where others give pipes.
    #[cfg(unix)]
    if let Some(streams) = sockets() {
        return streams;
    }
    let (input, output) = stdio_pipes();
    (Box::new(input), Box::new(output))
}

#[cfg(unix)]
fn sockets() -> Option<StdioStreams> {
    use std::os::fd::AsFd as _;

    let input = socket(std::io::stdin().as_fd())?;
    let output = socket(std::io::stdout().as_fd())?;
    Some((Box::new(input), Box::new(output)))
}

/// Returns a descriptor as a Unix socket, if it is one.
#[cfg(unix)]
fn socket(fd: std::os::fd::BorrowedFd<'_>) -> Option<tokio::net::UnixStream> {
    use std::os::unix::fs::FileTypeExt as _;

    let file = std::fs::File::from(fd.try_clone_to_owned().ok()?);
    if !file.metadata().ok()?.file_type().is_socket() {
        return None;
    }
    let socket = std::os::unix::net::UnixStream::from(std::os::fd::OwnedFd::from(file));
    // A TCP socket is a socket too, but has no such address.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    tokio::net::UnixStream::from_std(socket).ok()
}
