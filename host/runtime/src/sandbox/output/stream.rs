//! The stdout and stderr of an instance.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dormouse_launch::redaction::MAX_WRITTEN_PIECE_BYTES;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

use super::{KEPT_BYTES, MAX_LINE_BYTES, SharedOutput};

/// Name of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamName {
    Stdout,
    Stderr,
}

impl StreamName {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The stdout or stderr of an instance.
#[derive(Clone)]
pub(crate) struct StandardStream {
    pub(super) name: StreamName,
    pub(super) shared: Arc<SharedOutput>,
}

impl StandardStream {
    pub(super) fn log(&self, bytes: &[u8]) {
        let [stdout, stderr] = &self.shared.begun;
        let begun = match self.name {
            StreamName::Stdout => stdout,
            StreamName::Stderr => stderr,
        };
        if self.name == StreamName::Stderr {
            let mut last = self.shared.last.lock();
            let start = bytes.len().saturating_sub(KEPT_BYTES);
            last.extend_from_slice(bytes.get(start..).unwrap_or(bytes));
            let over = last.len().saturating_sub(KEPT_BYTES);
            last.drain(..over);
        }
        let mut begun = begun.lock();
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            // One byte more than is shown, so that a line that is too long can be recognised.
            let room = (MAX_LINE_BYTES + MAX_WRITTEN_PIECE_BYTES + 1).saturating_sub(begun.len());
            begun.extend_from_slice(part.get(..room).unwrap_or(part));
            if parts.peek().is_none() {
                break;
            }
            let has_room = self.shared.print(self.name, &begun);
            begun.clear();
            if !has_room {
                break;
            }
        }
    }
}

impl IsTerminal for StandardStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StandardStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for StandardStream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.log(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
