//! Texts on their way through rmcp, which has room for values only.
//!
//! A value cannot say `1.10`, nor a number of thirty digits. No result of MCP is a
//! JSON string, so that between the handler and the wire one that is stands for its
//! own text. Over stdio we write the messages ourselves (see `wire`); what rmcp has
//! written for HTTP is mended on its way out.

use std::borrow::Cow;

use bytes::Bytes;
use rmcp::model::{CustomResult, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::Value;

use crate::json;
use crate::runtime::Answer;

/// How a message looks that a text is folded into, as rmcp writes it.
const FOLDED: &[u8] = b"\"result\":\"";

/// An answer as rmcp takes it.
pub(super) fn folded(answer: Answer) -> CustomResult {
    CustomResult(match answer {
        Answer::Made(value) => value,
        Answer::Verbatim(text) => Value::String(text),
    })
}

/// The text that a message is to have as its result, and its id.
pub(super) fn result(message: &ServerJsonRpcMessage) -> Option<(&RequestId, &str)> {
    let JsonRpcMessage::Response(response) = message else {
        return None;
    };
    match &response.result {
        ServerResult::CustomResult(CustomResult(Value::String(text))) => Some((&response.id, text)),
        _ => None,
    }
}

/// What rmcp has written, a message or an event of a stream, as it goes out.
pub(super) fn unfolded(written: Bytes) -> Bytes {
    // Inside of strings quotation marks are escaped, so that few others look alike.
    if !written.windows(FOLDED.len()).any(|part| part == FOLDED) {
        return written;
    }
    let Ok(text) = std::str::from_utf8(&written) else {
        return written;
    };
    let lines = text.split_inclusive('\n').map(|line| {
        let (field, message) = match line.strip_prefix("data:") {
            Some(message) => ("data:", message),
            None => ("", line),
        };
        match mended(message) {
            Some(message) => Cow::Owned(format!("{field}{message}")),
            None => Cow::Borrowed(line),
        }
    });
    lines.collect::<String>().into()
}

/// A message with its result unfolded, if that is a folded one.
fn mended(message: &str) -> Option<String> {
    let members = json::members(message).ok()?;
    let result = members.iter().find(|member| member.name == "result")?;
    let text: String = serde_json::from_str(result.value).ok()?;
    let end = result.place.end;
    let start = end.saturating_sub(result.value.len());
    let mut mended = message.to_owned();
    // An event's data is on one line.
    mended.replace_range(start..end, &json::on_one_line(&text));
    Some(mended)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(answer: Answer) -> String {
        let result = ServerResult::CustomResult(folded(answer));
        let message = ServerJsonRpcMessage::response(result, RequestId::Number(7));
        serde_json::to_string(&message).unwrap()
    }

    #[test]
    fn a_text_goes_out_as_it_is() {
        let odd = "{\"a\":1.10,\n\"result\":\"x\",\"b\":\"\\\"result\\\":\\\"\\u00e9\"}";
        let folded = written(Answer::read(odd.to_owned()).unwrap());
        let whole = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}}",
            odd.replace('\n', " ")
        );
        assert_eq!(unfolded(folded.clone().into()), whole);
        let event = |data: &str| format!("id: 3\ndata: {data}\n\n");
        assert_eq!(unfolded(event(&folded).into()), event(&whole));
        // Nothing is done to what only looks like it.
        for made in [json!({"result": "x"}), json!({"a": {"result": "{}"}})] {
            let message = written(Answer::Made(made));
            assert_eq!(unfolded(message.clone().into()), message);
        }
    }
}
