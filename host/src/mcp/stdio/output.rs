//! Messages as lines.

use std::io;

use rmcp::model::RequestId;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use crate::mcp::client::client_connection::Notification;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::original::on_one_line;

/// Longest line that is written at once, in bytes: its client, which may wait for it, is woken once.
/// To copy a longer one would take longer than that.
const MAX_JOINED_BYTES: usize = 64 << 10;

/// Output that lines are written to, until it is closed.
pub(super) struct StdioOutput<W>(Mutex<Option<W>>);

impl<W: AsyncWrite + Unpin> StdioOutput<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Mutex::new(Some(output)))
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) async fn write(&self, line: OutgoingLine) -> io::Result<()> {
        let mut place = self.0.lock().await;
        // It is put back when the whole line is out. Where this is dropped before, half
        // a line has been written, and what came behind it would be taken for its rest.
        let Some(mut output) = place.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if line.len() <= MAX_JOINED_BYTES {
            output.write_all(&line.text()).await?;
        } else {
            for part in [&line.head, line.verbatim.as_bytes(), &line.tail] {
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

/// A line with its line end, in parts, because a list of tools is large and need not be copied once
/// more.
#[derive(Default)]
pub(super) struct OutgoingLine {
    head: Vec<u8>,
    verbatim: String,
    tail: Vec<u8>,
}

impl From<Vec<u8>> for OutgoingLine {
    fn from(line: Vec<u8>) -> Self {
        Self {
            head: line,
            ..Self::default()
        }
    }
}

impl OutgoingLine {
    /// Makes a line of an answer: the text of its result.
    pub(super) fn result(id: &RequestId, result: String) -> Self {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", written(id));
        Self::around(head, result)
    }

    /// Makes a line of an error.
    pub(super) fn error(id: Option<&RequestId>, error: &ErrorObject) -> OutgoingLine {
        with_line_end(error.to_message(id)).into()
    }

    /// Makes a line of a request to the client: the text of its parameters.
    pub(super) fn request(id: &RequestId, method: &str, params: String) -> Self {
        let head = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{},\"params\":",
            written(id),
            dormouse_jsonrpc::quoted(method)
        );
        Self::around(head, params)
    }

    /// Makes a line of a notification to the client.
    pub(super) fn notification(notification: Notification) -> OutgoingLine {
        with_line_end(notification.into_text().into_bytes()).into()
    }

    fn around(head: String, text: String) -> Self {
        Self {
            head: head.into(),
            verbatim: on_one_line(text),
            tail: b"}\n".to_vec(),
        }
    }

    /// Returns the length of the line, in bytes.
    pub(super) fn len(&self) -> usize {
        self.head.len() + self.verbatim.len() + self.tail.len()
    }

    /// Returns the line as one text.
    pub(super) fn text(self) -> Vec<u8> {
        let mut text = self.head;
        text.extend_from_slice(self.verbatim.as_bytes());
        text.extend_from_slice(&self.tail);
        text
    }

    /// Returns the line without its line end.
    pub(super) fn json(self) -> Vec<u8> {
        let mut text = self.text();
        text.pop();
        text
    }
}

fn written(id: &RequestId) -> String {
    // An id can always be written.
    serde_json::to_string(id).unwrap_or_default()
}

fn with_line_end(mut line: Vec<u8>) -> Vec<u8> {
    line.push(b'\n');
    line
}
