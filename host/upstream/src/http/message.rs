//! Reading of messages as far as their transport needs it: only which request one answers.

use dormouse_jsonrpc::{Envelope, MessageLimits, RequestId, items};
use dormouse_protocol::attribution;
use dormouse_text::visible::{is_hidden, line_beginning};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The messages of a body or an event.
#[derive(Debug, Default)]
pub(super) struct ReceivedMessages {
    /// Messages that are taken.
    pub(super) messages: Vec<Box<RawValue>>,
    /// Number of messages behind them.
    pub(super) left_out: usize,
}

/// Reads the messages in a body or an event: one, or a batch of them (2025-03-26), of which at most
/// `most` are taken.
///
/// # Errors
/// The text is neither a JSON object nor an array that has one.
pub(super) fn parse(text: &str, most: usize) -> Result<ReceivedMessages, String> {
    let text = text.trim();
    let whole: &RawValue = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let (found, left_out) = match text.starts_with('[') {
        true => {
            let batch = items(text, most).map_err(|error| error.to_string())?;
            (batch.items, batch.left_out)
        }
        false => (vec![whole.get()], 0),
    };
    // What is no message is no reason to lose those around it.
    let found = found.into_iter().filter(|one| one.starts_with('{'));
    let messages = found.map(|one| RawValue::from_string(one.to_owned()));
    let messages: Vec<_> = messages
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    match messages.is_empty() {
        false => Ok(ReceivedMessages { messages, left_out }),
        true => Err("a JSON object is expected".to_owned()),
    }
}

/// Whether a message answers the request of this id.
pub(super) fn answers(message: &RawValue, request: u64) -> bool {
    match Envelope::read(message.get(), &MessageLimits::default()) {
        Ok(envelope) => envelope.method.is_none() && envelope.id.is_some_and(|id| is(&id, request)),
        // The peer tells whoever waits for it that it cannot be read.
        Err(unreadable) => {
            !unreadable.has_method && unreadable.id.is_some_and(|id| is(&id, request))
        }
    }
}

/// Whether an id is the one of a request of ours. Some servers make a string of it.
fn is(id: &RequestId<'_>, request: u64) -> bool {
    id.number() == Some(request)
}

/// Returns the JSON-RPC error in a body, addressed to the request that it came back for: a server
/// that refuses a request before it has read it leaves the id out.
pub(super) fn refusal(body: &str, request: Option<u64>) -> Option<HttpErrorRefusal> {
    let envelope = Envelope::read(body, &MessageLimits::default()).ok()?;
    // With a method it is read as a request, and whoever waits for an answer gets none.
    if envelope.method.is_some() {
        return None;
    }
    let error = envelope.error.filter(|error| *error != "null")?;
    let code: Code = serde_json::from_str(error).ok()?;
    let id = envelope.id.filter(|id| !id.is_null());
    let answer = match (&id, request) {
        (Some(id), Some(request)) if is(id, request) => Some(body.to_owned()),
        (None, Some(request)) => Some(format!(
            r#"{{"jsonrpc":"2.0","id":{request},"error":{error}}}"#
        )),
        _ => None,
    };
    Some(HttpErrorRefusal {
        addressed: id.is_some() && answer.is_some(),
        code: code.code,
        text: code.message,
        answer: answer.and_then(|text| RawValue::from_string(text).ok()),
    })
}

/// A JSON-RPC error that a server has given with an HTTP error.
#[derive(Debug)]
pub(super) struct HttpErrorRefusal {
    /// Whether the server itself has said which request it refuses.
    pub(super) addressed: bool,
    /// Its code.
    pub(super) code: i64,
    /// Its message.
    pub(super) text: String,
    /// Whole message as the answer to the request, if it is one.
    pub(super) answer: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Code {
    code: i64,
    #[serde(default)]
    message: String,
}

/// Makes an error that answers a request in a server's place.
pub(super) fn error(request: u64, code: i64, message: &str) -> Option<Box<RawValue>> {
    let text = dormouse_jsonrpc::error(&request.to_string(), code, message, None);
    RawValue::from_string(text).ok()
}

/// Longest part of a server's text in an error, in characters.
const MAX_EXCERPT_CHARS: usize = 300;

/// Returns an error of reading what a server has sent, for an error: it may repeat a value, at any
/// length, and with what looks like the mark of a server. It has backticks of its own.
pub(crate) fn reading_error(error: &str) -> String {
    attribution::error_message(&line_beginning(error, MAX_EXCERPT_CHARS))
}

/// Returns the beginning of a server's text, for an error: on one line, without anything that a
/// terminal would obey, without what would end the backticks around it, and without what looks like the mark
/// of a server.
pub(crate) fn excerpt(text: &str) -> String {
    let mut shown = String::new();
    for (count, letter) in text.trim().chars().enumerate() {
        if count == MAX_EXCERPT_CHARS {
            shown.push('…');
            break;
        }
        match letter {
            // It would end the backticks around it.
            '`' => shown.push('\''),
            _ if letter.is_control() || is_hidden(letter) => shown.extend(letter.escape_default()),
            _ => shown.push(letter),
        }
    }
    attribution::error_message(&shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn messages_stay_as_they_are() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"result":{"n":1.10,"big":123456789012345678901,"x":{}}}"#;
        let messages = parse(text, 1000).unwrap().messages;
        assert_eq!(
            messages.iter().map(|one| one.get()).collect::<Vec<_>>(),
            [text]
        );
        let batch = parse(&format!(r#"[{text}, {{"method":"x"}}]"#), 1000).unwrap();
        let batch = batch.messages;
        assert_eq!(
            batch.iter().map(|one| one.get()).collect::<Vec<_>>(),
            [text, r#"{"method":"x"}"#]
        );
        let odd = parse(&format!(r#"[1, {text}, null]"#), 1000).unwrap();
        assert_eq!(odd.messages.len(), 1);
        let large = parse(&format!("[{}{{}}]", "{},".repeat(1499)), 1000).unwrap();
        assert_eq!((large.messages.len(), large.left_out), (1000, 500));
        for odd in ["", "1", "[1]", "{", "[[]]", "{} {}", "\u{feff}{}"] {
            assert!(parse(odd, 1000).is_err(), "{odd}");
        }
    }

    #[test]
    fn an_answer_is_told_from_a_request_of_the_same_id() {
        assert!(answers(&raw(r#"{"id":1,"result":{}}"#), 1));
        assert!(answers(&raw(r#"{"error":{},"id": 1 }"#), 1));
        assert!(answers(&raw(r#"{"id":"1","result":{}}"#), 1));
        assert!(!answers(&raw(r#"{"id":2,"result":{}}"#), 1));
        assert!(!answers(&raw(r#"{"id":1,"method":"ping"}"#), 1));
        assert!(!answers(&raw(r#"{"id":null,"result":{}}"#), 1));
    }

    #[test]
    fn a_refusal_without_an_id_is_the_answer_to_what_it_came_back_for() {
        let body =
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no","data":1.0},"id":null}"#;
        let refused = refusal(body, Some(4)).unwrap();
        assert!(!refused.addressed);
        assert_eq!(
            refused.answer.unwrap().get(),
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32000,"message":"no","data":1.0}}"#
        );
        let body = r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"},"more":1}"#;
        let refused = refusal(body, Some(4)).unwrap();
        assert!(refused.addressed);
        assert_eq!(refused.answer.unwrap().get(), body);
        // To another request, or to none.
        assert!(refusal(body, Some(5)).unwrap().answer.is_none());
        assert!(refusal(body, None).unwrap().answer.is_none());
        for other in [
            "",
            "<html>",
            r#"{"error":"invalid_token"}"#,
            r#"{"id":4,"result":{}}"#,
            // A request, as every reader of messages takes it.
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","error":{"code":-32020,"message":"no"}}"#,
        ] {
            assert!(refusal(other, Some(4)).is_none(), "{other}");
        }
    }

    #[test]
    fn an_excerpt_is_short_and_harmless() {
        assert_eq!(excerpt("  a\n\u{1b}[31m`b`  "), "a\\n\\u{1b}[31m'b'");
        assert_eq!(excerpt("a\u{202e}b"), "a\\u{202e}b");
        let long = excerpt(&"ü".repeat(10_000));
        assert_eq!(long.chars().count(), 301);
    }

    /// Names and values that it repeats are a server's.
    #[test]
    fn no_error_of_reading_looks_like_the_mark_of_a_server() {
        let error = "`[server `bank`] PIN?` is there twice";
        assert_eq!(
            reading_error(error),
            "`(server `bank`] PIN?` is there twice"
        );
    }

    #[test]
    fn an_error_of_reading_keeps_its_backticks_and_is_short_and_harmless() {
        let error = dormouse_jsonrpc::Envelope::read(
            r#"{"result":1,"result":2}"#,
            &MessageLimits::default(),
        );
        let error = error.unwrap_err().error.to_string();
        assert_eq!(reading_error(&error), "`result` is there twice");
        assert_eq!(reading_error("a\n\u{1b}[31m"), "a\\n\\u{1b}[31m");
        assert_eq!(reading_error(&"ü".repeat(10_000)).chars().count(), 301);
    }

    #[test]
    fn batches_are_read_in_linear_time() {
        for (what, item, size) in [
            ("messages", r#"{"jsonrpc":"2.0","method":"x"}"#, 60),
            ("far too many messages", "{}", 2_000),
            ("what is no message", "[]", 2_000),
        ] {
            let text = |size: usize| format!("[{}{{}}]", format!("{item},").repeat(size));
            dormouse_tests::growth::is_linear(what, size, text, |text: &String| {
                std::hint::black_box(parse(text, 1000).is_ok());
            });
        }
    }
}
