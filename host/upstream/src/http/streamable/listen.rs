//! Messages that a server sends by itself, on a stream that is asked for with GET (until
//! 2025-11-25).

use std::sync::Arc;

use dormouse_egress::shown_url;

use super::{Closed, Streamable};
use crate::Lost;
use crate::http::cursor::Cursor;
use crate::http::event_parser::Cut;
use crate::http::events::ReceivedEvents;

/// Listens for as long as the connection lasts, or until the server has no such stream.
pub(super) fn start(connection: &Arc<Streamable>) {
    let connection = Arc::clone(connection);
    connection.listening.send_replace(true);
    tokio::spawn(async move {
        let inbox = Arc::clone(&connection.inbox);
        // The end of the connection ends this, too.
        let _ = inbox.during(listen(&connection)).await;
        connection.listening.send_replace(false);
    });
}

async fn listen(connection: &Streamable) {
    let shown = shown_url(connection.endpoint.url());
    let shown = connection.endpoint.redact(&shown);
    let mut cursor = Cursor::default();
    loop {
        // Some servers send not even headers before they have something to say, so
        // there is no limit to how long that may take.
        let orderly = match connection.open(cursor.after(), None).await {
            Ok(mut events) => match read(connection, &mut events, &mut cursor).await {
                Ok(orderly) => orderly,
                Err(_) => return,
            },
            Err(Closed::ForGood(why)) => {
                tracing::debug!("`{shown}` has no stream of its own: {why}");
                return;
            }
            Err(Closed::ForNow(why)) => {
                tracing::debug!("`{shown}` has no stream now: {why}");
                false
            }
        };
        let Some(wait) = cursor.wait(orderly) else {
            tracing::warn!(
                "`{shown}` cannot say any more what has changed: its stream cannot be had again"
            );
            return;
        };
        tokio::time::sleep(wait).await;
    }
}

/// Reads one stream to its end. Returns whether that was an orderly one.
///
/// # Errors
/// The peer has gone.
async fn read(
    connection: &Streamable,
    events: &mut ReceivedEvents,
    cursor: &mut Cursor,
) -> Result<bool, Lost> {
    let orderly = loop {
        match events.next().await {
            Ok(Some(event)) => {
                cursor.read(&event);
                connection
                    .hand_on(connection.endpoint.messages(event), None)
                    .await?;
            }
            Ok(None) => break true,
            Err(Cut::Broken(_)) => break false,
            Err(Cut::Large(_)) => {
                // To go on after the event before would bring the large one again.
                cursor.forget();
                break false;
            }
        }
    };
    cursor.leave(events);
    Ok(orderly)
}
