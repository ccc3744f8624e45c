//! The answer to a request: as JSON, or at the end of a stream.

use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::shown_url;
use reqwest::Response;

use super::{Closed, Streamable};
use crate::Lost;
use crate::http::body::{self, BodyKind};
use crate::http::cursor::Cursor;
use crate::http::event_parser::Cut;
use crate::http::events::ReceivedEvents;
use crate::http::message::HttpErrorRefusal;
use crate::http::{RESPONSE_HEAD_TIMEOUT, headers, message};
use crate::messages::channel::Outgoing;

/// Most bytes of an event that comes after the answer.
const REST_BYTES: usize = 64 << 10;

/// Time for which the rest of a stream is read after the answer has come.
const REST_TIME: Duration = Duration::from_secs(5);

/// Hands the answer to a request to the peer, and what comes with it.
///
/// # Errors
/// There is no answer, or not all of it.
pub(super) async fn read(
    connection: &Arc<Streamable>,
    response: Response,
    request: &Outgoing,
    id: u64,
) -> Result<(), Lost> {
    let shown = shown_url(response.url());
    let unanswered = || {
        Lost::Broken(format!(
            "`{shown}` has taken the request, but not answered it: it may have been done\n\
             hint: see whether it has been done before you call it again"
        ))
    };
    match body::kind(&response) {
        _ if matches!(response.status().as_u16(), 202 | 204) => {
            body::explanation(response).await;
            // Some servers answer on the stream of what they say by themselves. The peer waits
            // for that no longer than for any answer, and drops this when it has come.
            if !headers::is_modern(request.version.as_deref()) {
                connection.listened().await;
            }
            Err(unanswered())
        }
        BodyKind::Events => {
            let events = ReceivedEvents::new(response, &connection.endpoint.read_room);
            let read = follow(connection, events, request).await;
            read.map_err(|lost| match lost {
                Lost::Broken(why) => {
                    Lost::Broken(format!("`{shown}` has not finished its answer: {why}"))
                }
                other => other,
            })
        }
        BodyKind::Json => {
            let text = body::message(response, &connection.endpoint.read_room).await?;
            let messages = match message::refusal(&text, Some(id)) {
                // An error without an id can only mean this request.
                Some(HttpErrorRefusal {
                    addressed: false,
                    answer: Some(answer),
                    ..
                }) => vec![answer],
                _ if text.trim().is_empty() => Vec::new(),
                _ => {
                    let most = connection.endpoint.read_room.batch_messages();
                    connection
                        .endpoint
                        .taken(message::parse(&text, most).map_err(|why| {
                            let why = message::reading_error(&why);
                            Lost::Broken(format!("the answer of `{shown}` is no message: {why}"))
                        })?)
                }
            };
            match connection.hand_on(messages, Some(request)).await? {
                true => Ok(()),
                false => Err(unanswered()),
            }
        }
        BodyKind::Other(kind) => Err(Lost::Broken(format!(
            "`{shown}` has answered with `{}` instead of JSON\n\
             hint: check that the URL is that of an MCP endpoint",
            message::excerpt(&kind)
        ))),
    }
}

/// Reads the stream that a request is answered on, over several connections if need be.
async fn follow(
    connection: &Arc<Streamable>,
    mut events: ReceivedEvents,
    request: &Outgoing,
) -> Result<(), Lost> {
    // Since 2026-07-28 a stream that has ended stays ended.
    let resumable = !headers::is_modern(request.version.as_deref());
    let mut cursor = Cursor::default();
    loop {
        let (orderly, why) = match events.next().await {
            Ok(Some(event)) => {
                cursor.read(&event);
                if connection
                    .hand_on(connection.endpoint.messages(event), Some(request))
                    .await?
                {
                    read_rest(connection, events);
                    return Ok(());
                }
                continue;
            }
            Ok(None) => (true, "the server has ended the stream".to_owned()),
            Err(Cut::Broken(why)) => (false, why),
            Err(large @ Cut::Large(_)) => return Err(Lost::Broken(large.to_string())),
        };
        if !resumable || cursor.after().is_none() {
            return Err(Lost::Broken(why));
        }
        cursor.leave(&events);
        events = resume(connection, &mut cursor, orderly, why).await?;
    }
}

/// Asks for the rest of a stream until there is one.
async fn resume(
    connection: &Streamable,
    cursor: &mut Cursor,
    mut orderly: bool,
    mut why: String,
) -> Result<ReceivedEvents, Lost> {
    while let Some(wait) = cursor.wait(orderly) {
        tokio::time::sleep(wait).await;
        match connection
            .open(cursor.after(), Some(RESPONSE_HEAD_TIMEOUT))
            .await
        {
            Ok(events) => return Ok(events),
            Err(Closed::ForGood(lost)) => return Err(lost),
            Err(Closed::ForNow(reason)) => why = reason,
        }
        orderly = false;
    }
    Err(Lost::Broken(why))
}

/// Reads the rest of a stream after an answer, so that the connection can be used again: little,
/// for each answer may have one.
fn read_rest(connection: &Arc<Streamable>, mut events: ReceivedEvents) {
    events.limit(REST_BYTES);
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        let rest = async {
            while let Ok(Some(event)) = events.next().await {
                if connection
                    .hand_on(connection.endpoint.messages(event), None)
                    .await
                    .is_err()
                {
                    break;
                }
            }
        };
        // Neither a late end nor a closed connection matters any more.
        let rest = tokio::time::timeout(REST_TIME, rest);
        let _ = connection.inbox.during(rest).await;
    });
}
