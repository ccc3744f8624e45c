//! Fuzz targets of what upstreams send over HTTP.

use std::collections::VecDeque;

use dormouse_jsonrpc::is_json;

use super::event::ReceivedEvent;
use super::event_parser::{Cut, Parser};
use super::message;
use crate::Refusal;
use crate::messages::read_room::ReadRoom;

/// The largest event that is taken, in bytes.
const LIMIT: usize = 512;

/// Checks streams of events: how they are cut makes no difference, and events that are written and
/// read again are the same. The first byte sets the size of the chunks.
pub fn sse(data: &[u8]) {
    let [at_once, input @ ..] = data else {
        return;
    };
    let (whole, end) = read(&[input]);
    let chunks: Vec<_> = input.chunks(usize::from(*at_once % 16) + 1).collect();
    let cut = read(&chunks);
    assert_eq!((&cut.0, &cut.1), (&whole, &end));
    let mut written = String::new();
    for event in &whole {
        assert!(event.data.len() <= LIMIT, "an event is too large");
        if !event.kind.is_empty() {
            written.push_str(&format!("event: {}\n", event.kind));
        }
        if let Some(id) = &event.id {
            written.push_str(&format!("id: {id}\n"));
        }
        for line in event.data.split('\n') {
            written.push_str(&format!("data: {line}\n"));
        }
        written.push('\n');
    }
    let mut parser = Parser::new(&ReadRoom::new(usize::MAX));
    let mut again = VecDeque::new();
    assert_eq!(parser.feed(written.as_bytes(), &mut again), Ok(()));
    assert_eq!(again, whole);
    for event in whole {
        for message in event.messages(1000).unwrap_or_default().messages {
            assert!(message.get().starts_with('{'));
        }
    }
}

/// Returns the events in some chunks, and the error that ends them.
fn read(chunks: &[&[u8]]) -> (VecDeque<ReceivedEvent>, Result<(), Cut>) {
    let mut parser = Parser::new(&ReadRoom::new(LIMIT));
    let mut ready = VecDeque::new();
    let end = chunks
        .iter()
        .try_for_each(|chunk| parser.feed(chunk, &mut ready));
    (ready, end)
}

/// Checks bodies: each message in one is a part of it, byte for byte, and a refusal answers the
/// request that it is of.
pub fn upstream_messages(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for message in message::parse(&text, 1000).unwrap_or_default().messages {
        assert!(message.get().starts_with('{') && text.contains(message.get()));
        if message::answers(&message, 7) {
            assert!(!message::answers(&message, 8));
        }
    }
    if let Some(refusal) = message::refusal(&text, Some(7)) {
        match &refusal.answer {
            Some(answer) => assert!(message::answers(answer, 7), "{answer}"),
            None => assert!(!refusal.addressed),
        }
    }
    let refusal = Refusal::read(&text);
    assert!(
        refusal
            .data
            .is_none_or(|data| is_json(&data) && text.contains(&data))
    );
    assert!(!message::excerpt(&text).contains(|c: char| c.is_control() || c == '`'));
}
