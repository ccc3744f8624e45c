//! JSON-RPC messages and the lines that they come in.

use dormouse_jsonrpc::{
    Line, LineReader, Message, MessageError, MessageLimits, check_structure, is_json, notification,
    on_one_line, request, response, without_half_characters,
};
use futures::FutureExt as _;
use serde_json::Value;
use tokio::io::BufReader;

/// Messages: reading and writing again gives the same message.
pub fn messages(data: &[u8]) {
    let text = super::text(data);
    let limits = MessageLimits {
        members: 100,
        depth: 20,
        id_bytes: 100,
    };
    whole_characters(&text);
    let message = match Message::read(&text, &limits) {
        Ok(message) => message,
        Err(unreadable) => {
            let is_readable = is_json(&text);
            let said = matches!(unreadable.error, MessageError::NotJson(_));
            assert!(!said || !is_readable, "JSON is said to be none");
            if let Some(id) = unreadable.id {
                assert!(unreadable.has_id && id.is_string_or_integer());
                assert!(id.as_str().len() <= limits.id_bytes);
            }
            return;
        }
    };
    assert!(is_json(&text) && check_structure(&text, limits.depth).is_ok());
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let of = |name: &str| value.get(name);
        match &message {
            Message::Request { id, method, .. } => {
                assert_eq!(of("method").and_then(Value::as_str), Some(&**method));
                let id: Value = serde_json::from_str(id.as_str()).expect("an id is JSON");
                assert_eq!(of("id"), Some(&id));
            }
            Message::Notification { method, .. } => {
                assert_eq!(of("method").and_then(Value::as_str), Some(&**method));
                assert_eq!(of("id"), None);
            }
            Message::Response { outcome, .. } => {
                assert_eq!(of("method"), None);
                assert_eq!(outcome.is_ok(), of("result").is_some());
                assert_eq!(outcome.is_err(), of("error").is_some());
            }
        }
    }
    let written = match &message {
        Message::Request { id, method, params } => request(id.as_str(), method, *params),
        Message::Notification { method, params } => notification(method, *params),
        Message::Response { id, outcome } => {
            let id = id.as_ref().map_or("null", |id| id.as_str());
            match outcome {
                Ok(result) => response(id, result),
                Err(error) => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#,
                    on_one_line(error)
                ),
            }
        }
    };
    assert!(
        !written.contains(['\n', '\r']),
        "it goes over several lines"
    );
    let again = Message::read(&written, &limits).expect("what was written can be read");
    assert_eq!(parts(&again), parts(&message));
}

/// Returns the parts of a message, without the line breaks between tokens.
fn parts(message: &Message<'_>) -> [Option<String>; 4] {
    let line = |text: &str| on_one_line(text).into_owned();
    match message {
        Message::Request { id, method, params } => [
            Some(id.to_string()),
            Some(method.to_string()),
            params.map(line),
            None,
        ],
        Message::Notification { method, params } => {
            [None, Some(method.to_string()), params.map(line), None]
        }
        Message::Response { id, outcome } => {
            let id = id.as_ref().map(ToString::to_string);
            match outcome {
                Ok(result) => [id, None, Some(line(result)), None],
                Err(error) => [id, None, None, Some(line(error))],
            }
        }
    }
}

fn whole_characters(text: &str) {
    let Some(whole) = without_half_characters(text) else {
        return;
    };
    assert_eq!(is_json(&whole), is_json(text));
    assert_eq!(without_half_characters(&whole), None);
}

/// Lines: however the input is split into pieces, the lines are those of the whole input. The first
/// byte is the size of a piece, the second the limit.
pub fn lines(data: &[u8]) {
    let [at_once, limit, input @ ..] = data else {
        return;
    };
    let (at_once, limit) = (usize::from(*at_once % 32) + 1, usize::from(*limit % 64));
    let mut expected = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        expected.push(match (line.get(..limit), end) {
            (Some(start), _) if line.len() > limit => Line::TooLong(start.to_vec()),
            (_, Some(_)) => Line::Whole(line.to_vec()),
            (_, None) => Line::Unfinished(line.to_vec()),
        });
        rest = after.get(1..).unwrap_or_default();
    }
    expected.push(Line::End);
    let mut reader = LineReader::new(BufReader::with_capacity(at_once, input), limit);
    for expected in expected {
        let line = reader.next().now_or_never().expect("bytes are ready");
        assert_eq!(line.expect("bytes can be read"), expected);
    }
}
