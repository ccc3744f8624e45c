//! Reading of the bodies of answers.

use std::time::Duration;

use dormouse_egress::{causes, shown_url};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::task::coop::consume_budget;

use crate::Lost;
use crate::messages::read_room::{NoReadRoom, ReadRoom};

/// Most bytes of an error's body that are read.
const ERROR: usize = 64 * 1024;
/// Time that the body of an answer without a message may take.
const ERROR_TIME: Duration = Duration::from_secs(5);

/// Kind of body that an answer has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    /// Message, or a batch of them.
    Json,
    /// A stream of events.
    Events,
    /// Neither; its content type, as the server writes it.
    Other(String),
}

/// Returns the kind of body that an answer has. Where the server does not say, it is JSON.
pub(super) fn kind(response: &Response) -> BodyKind {
    let Some(value) = response.headers().get(CONTENT_TYPE) else {
        return BodyKind::Json;
    };
    let value = String::from_utf8_lossy(value.as_bytes());
    let essence = value.split(';').next().unwrap_or_default().trim();
    match essence.to_ascii_lowercase().as_str() {
        "text/event-stream" => BodyKind::Events,
        "application/json" => BodyKind::Json,
        other if other.ends_with("+json") => BodyKind::Json,
        // As it was written: a secret in it is found by its letters.
        _ => BodyKind::Other(essence.to_owned()),
    }
}

/// Reads the text of a message.
///
/// # Errors
/// The text is longer than there is room for, or has been cut off.
pub(super) async fn message(mut response: Response, room: &ReadRoom) -> Result<String, Lost> {
    let shown = shown_url(response.url());
    let large = |why: NoReadRoom| {
        let hint = "`message` in the server's `limits` sets how long an answer may be";
        Lost::Broken(format!("`{shown}` has answered with {why}\nhint: {hint}"))
    };
    let mut place = room.place();
    let announced = response.content_length().unwrap_or(0);
    if announced > room.message_bytes() as u64 {
        return Err(large(NoReadRoom::Message(room.message_bytes())));
    }
    let mut body = Vec::new();
    loop {
        consume_budget().await;
        match response.chunk().await {
            Ok(Some(chunk)) => {
                place.hold(body.len() + chunk.len()).map_err(large)?;
                body.extend_from_slice(&chunk);
            }
            Ok(None) => break,
            Err(error) => {
                return Err(Lost::Broken(format!(
                    "the answer of `{shown}` has been cut off: {}",
                    causes(error)
                )));
            }
        }
    }
    // A letter in another encoding is no reason to lose the rest.
    Ok(String::from_utf8(body)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Reads a body that only explains something, as far as it comes in reasonable time. Reading to the
/// end lets the connection be used again.
pub(super) async fn explanation(mut response: Response) -> String {
    // A stream that nobody has asked for may never end.
    if kind(&response) == BodyKind::Events {
        return String::new();
    }
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            consume_budget().await;
            body.extend_from_slice(&chunk);
            if body.len() > ERROR {
                break;
            }
        }
    };
    // What has come until then has to do.
    let _ = tokio::time::timeout(ERROR_TIME, read).await;
    body.truncate(ERROR);
    String::from_utf8_lossy(&body).into_owned()
}
