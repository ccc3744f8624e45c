//! Standard output of a child: reading its messages.

use std::sync::atomic::Ordering;

use dormouse_jsonrpc::{Line, LineReader};
use dormouse_protocol::attribution;
use serde_json::value::RawValue;
use tokio::io::AsyncBufRead;
use tokio::sync::mpsc;

use super::child_status::ChildStatus;
use crate::messages::channel::{QueueRoom, ReceivedMessage};
use crate::messages::large::without_blocking;
use crate::messages::read_room::{NoReadRoom, ReadRoom};

/// Reads messages until there are no more, or there is no room for one.
pub(super) async fn read(
    server: &str,
    mut lines: LineReader<impl AsyncBufRead + Unpin>,
    room: &ReadRoom,
    said: &mpsc::Sender<ReceivedMessage>,
    child_status: &ChildStatus,
) {
    let queue_room = QueueRoom::new(room.message_bytes());
    let mut place = room.place();
    loop {
        let mut no_room = NoReadRoom::Message(room.message_bytes());
        let has_room = |bytes| {
            let held = place.hold(bytes);
            held.map_err(|why| no_room = why).is_ok()
        };
        let line = match lines.next_within(has_room).await {
            Ok(Line::Whole(line) | Line::Unfinished(line)) => line,
            Ok(Line::TooLong(_)) => {
                let why = format!(
                    "it sent a message of {no_room}\nhint: `message` in \
                     `[servers.{server}.limits]` sets how long one may be"
                );
                let _ = child_status.given_up.set(why);
                return;
            }
            Ok(Line::End) | Err(_) => return,
        };
        place.release();
        match without_blocking(line.len(), || message(line)) {
            Ok(message) => {
                if child_status.exited.is_cancelled() {
                    child_status.has_heir.store(true, Ordering::Relaxed);
                }
                let message = queue_room.take(ReceivedMessage::new(message)).await;
                if said.send(message).await.is_err() {
                    return;
                }
            }
            Err(line) if line.trim().is_empty() => {}
            Err(line) if child_status.no_message.get().is_none() => {
                let text = child_status.words.without_secrets(&line, 200);
                let text = attribution::error_message(&text.escape_debug().to_string());
                tracing::warn!(
                    "server `{server}` prints to stdout what is no message, and goes on: `{text}`"
                );
                let _ = child_status.no_message.set(text);
            }
            Err(_) => {}
        }
    }
}

/// Returns the message on a line, or the line where it has none. Some programs write text in the
/// encoding of their system, and a letter or two of that is no reason to leave a call unanswered.
fn message(line: Vec<u8>) -> Result<Box<RawValue>, String> {
    let line = String::from_utf8(line)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let text = line.trim();
    if !text.starts_with(['{', '[']) {
        return Err(line);
    }
    let read: Option<&RawValue> = serde_json::from_str(text).ok();
    read.map(ToOwned::to_owned).ok_or(line)
}
