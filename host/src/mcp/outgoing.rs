//! Messages as lines.

use std::borrow::Cow;
use std::io;

use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

use super::verbatim::{self, Text};

/// Output that lines are written to, until it is closed.
pub(super) struct Output<W>(Mutex<Option<W>>);

impl<W: AsyncWrite + Unpin> Output<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Mutex::new(Some(output)))
    }

    /// Writes a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) async fn write(&self, line: OutgoingLine<'_>) -> io::Result<()> {
        let mut place = self.0.lock().await;
        // It is put back when the whole line is out. Where this is dropped before, half
        // a line has been written, and what came behind it would be taken for its rest.
        let Some(mut output) = place.take() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        for part in [&line.head, line.verbatim.as_bytes(), &line.tail] {
            output.write_all(part).await?;
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
pub(super) struct OutgoingLine<'a> {
    head: Vec<u8>,
    verbatim: Cow<'a, str>,
    tail: Vec<u8>,
}

impl From<Vec<u8>> for OutgoingLine<'_> {
    fn from(line: Vec<u8>) -> Self {
        Self {
            head: line,
            ..Self::default()
        }
    }
}

impl<'a> OutgoingLine<'a> {
    /// Makes a line of a message.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub(super) fn of(message: &'a ServerJsonRpcMessage) -> io::Result<Self> {
        let mut head = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
        let text = match (message, verbatim::text(message)) {
            (JsonRpcMessage::Response(response), Some(Text::Result(text))) => {
                serde_json::to_writer(&mut head, &response.id)?;
                head.extend_from_slice(b",\"result\":");
                text
            }
            (JsonRpcMessage::Request(request), Some(Text::Params(method, text))) => {
                serde_json::to_writer(&mut head, &request.id)?;
                head.extend_from_slice(b",\"method\":");
                serde_json::to_writer(&mut head, method)?;
                head.extend_from_slice(b",\"params\":");
                text
            }
            _ => return whole(message),
        };
        Ok(OutgoingLine {
            head,
            verbatim: dormouse_jsonrpc::on_one_line(text),
            tail: b"}\n".to_vec(),
        })
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

fn whole(message: &ServerJsonRpcMessage) -> io::Result<OutgoingLine<'static>> {
    let mut line = serde_json::to_vec(message)?;
    if matches!(message, JsonRpcMessage::Error(_)) {
        line = verbatim::unfolded(line.into()).into();
    }
    line.push(b'\n');
    Ok(line.into())
}
