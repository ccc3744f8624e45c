//! Messages as lines.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use crate::mcp::messages::outgoing_message::OutgoingMessage;

/// Longest line that is written at once, in bytes: its client, which may wait for it, is woken once.
/// To copy a longer one would take longer than that.
const MAX_JOINED_BYTES: usize = 64 << 10;

/// Output that lines are written to, until it is closed.
pub(super) struct StdioOutput<W>(Mutex<Option<W>>);

impl<W: AsyncWrite + Unpin> StdioOutput<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Mutex::new(Some(output)))
    }

    /// Writes a message as a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) async fn write(&self, message: OutgoingMessage) -> io::Result<()> {
        let mut place = self.0.lock().await;
        // It is put back when the whole line is out. Where this is dropped before, half
        // a line has been written, and what came behind it would be taken for its rest.
        let Some(mut output) = place.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let is_short = message.len() <= MAX_JOINED_BYTES;
        let OutgoingMessage { head, text, tail } = message;
        let parts = [head.as_bytes(), &text, tail.as_bytes(), b"\n"];
        if is_short {
            output.write_all(&parts.concat()).await?;
        } else {
            for part in parts {
                output.write_all(part).await?;
            }
        }
        output.flush().await?;
        *place = Some(output);
        Ok(())
    }

    pub(super) async fn close(&self) -> io::Result<()> {
        match self.0.lock().await.take() {
            Some(mut output) => output.shutdown().await,
            None => Ok(()),
        }
    }
}
