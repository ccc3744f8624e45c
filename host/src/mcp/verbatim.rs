//! JSON texts that pass through rmcp, which can hold values only.
//!
//! A value cannot hold `1.10`, nor a number of thirty digits. So between the handler and the wire a
//! text is *folded*: into a JSON string in place of a result (no result of MCP is a string), or
//! into a member with a name of our own in place of the parameters of a question or the data of an
//! error. rmcp's output is unfolded on its way out, and its input is folded on its way in.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;
use dormouse_jsonrpc::member;
use dormouse_protocol::{Answer, Question};
use rmcp::model::{ClientResult, CustomRequest, CustomResult};
use serde_json::{Value, json};

/// Member that the parameters of a question and the data of an error are folded into.
const MEMBER: &str = "dormouse:verbatim";

/// Marks of rmcp's messages with a folded text. Quotation marks inside of strings are escaped, so
/// few other messages contain them.
const FOLDED: [&str; 2] = ["\"result\":\"", "\"dormouse:verbatim\":\""];

/// Returns an answer in the form that rmcp takes from its handler.
pub(super) fn folded(answer: Answer) -> CustomResult {
    CustomResult(match answer {
        Answer::Made(value) => value,
        Answer::Verbatim(text) => Value::String(text),
    })
}

/// Returns the data of an error, besides its message, in the form that rmcp takes.
pub(super) fn data(text: String) -> Value {
    json!({ MEMBER: text })
}

/// Returns a question in the form that rmcp takes. rmcp adds a progress token, which is dropped
/// where the question is unfolded.
pub(super) fn question(question: &Question) -> CustomRequest {
    let params = json!({ MEMBER: question.to_text() });
    CustomRequest::new(question.method(), Some(params))
}

/// Folds the result of a client's response before rmcp has read it.
pub(super) fn response_body(body: &Bytes) -> Bytes {
    let folded = || {
        let text = std::str::from_utf8(body).ok()?;
        let (place, result) = value(text, "result")?;
        let folded = Value::from(result).to_string();
        Some([&text[..place.start], &folded, &text[place.end..]].concat())
    };
    folded().map_or_else(|| body.clone(), Bytes::from)
}

/// Returns a client's answer, which was folded when it came in.
///
/// # Errors
/// The result is not valid JSON.
pub(super) fn answer(result: ClientResult) -> Result<Answer, String> {
    match result {
        ClientResult::CustomResult(CustomResult(Value::String(text))) => Answer::read(text),
        result => serde_json::to_value(result)
            .map(Answer::Made)
            .map_err(|error| error.to_string()),
    }
}

/// Returns a text of JSON on one line: the text itself where it is on one already.
pub(super) fn on_one_line(text: String) -> String {
    match dormouse_jsonrpc::on_one_line(&text) {
        Cow::Owned(line) => line,
        Cow::Borrowed(_) => text,
    }
}

/// Unfolds a message, or an event of a stream, that rmcp has written.
pub(super) fn unfolded(written: Bytes) -> Bytes {
    let text = std::str::from_utf8(&written).unwrap_or_default();
    if !FOLDED.into_iter().any(|mark| text.contains(mark)) {
        return written;
    }
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

/// Returns a message with its folded text unfolded; none where there is none.
fn mended(message: &str) -> Option<String> {
    let params = || {
        let (place, params) = value(message, "params")?;
        Some((place, member(params, MEMBER)?))
    };
    let data = || {
        let (error, members) = value(message, "error")?;
        let (place, data) = value(members, "data")?;
        let place = error.start + place.start..error.start + place.end;
        Some((place, member(data, MEMBER)?))
    };
    let (place, folded) = value(message, "result").or_else(params).or_else(data)?;
    let text: String = serde_json::from_str(folded).ok()?;
    // An event's data is on one line.
    let text = on_one_line(text);
    Some([&message[..place.start], &text, &message[place.end..]].concat())
}

/// Returns a member's value, and its range in the object's text.
fn value<'a>(object: &'a str, name: &str) -> Option<(Range<usize>, &'a str)> {
    let value = member(object, name)?;
    // The value is a part of the text, so it is that far from its start.
    let start = (value.as_ptr() as usize).checked_sub(object.as_ptr() as usize)?;
    Some((start..start + value.len(), value))
}

#[cfg(test)]
mod tests {
    use dormouse_protocol::Capability;
    use rmcp::model::{
        GetMeta as _, JsonRpcResponse, NumberOrString, ProgressToken, RequestId,
        ServerJsonRpcMessage, ServerRequest, ServerResult,
    };
    use serde_json::value::RawValue;

    use super::*;

    const ODD: &str = "{\"a\":1.10,\n\"result\":\"x\",\"b\":\"\\\"result\\\":\\\"\\u00e9\"}";

    fn written(answer: Answer) -> String {
        let result = ServerResult::CustomResult(folded(answer));
        let message = ServerJsonRpcMessage::response(result, RequestId::Number(7));
        serde_json::to_string(&message).unwrap()
    }

    fn event(data: &str) -> String {
        format!("id: 3\ndata: {data}\n\n")
    }

    #[test]
    fn a_result_goes_out_as_it_is() {
        let folded = written(Answer::read(ODD.to_owned()).unwrap());
        let whole = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}}",
            ODD.replace('\n', " ")
        );
        assert_eq!(unfolded(folded.clone().into()), whole);
        assert_eq!(unfolded(event(&folded).into()), event(&whole));
        // Nothing is done to what only looks like it.
        for made in [json!({"result": "x"}), json!({"a": {"result": "{}"}})] {
            let message = written(Answer::Made(made));
            assert_eq!(unfolded(message.clone().into()), message);
        }
    }

    #[test]
    fn a_question_goes_out_as_it_is() {
        let asked = Question {
            id: "q".into(),
            capability: Capability::Sampling,
            params: serde_json::Map::new(),
            text: RawValue::from_string(ODD.to_owned()).ok(),
        };
        let mut asked = ServerRequest::CustomRequest(question(&asked));
        let token = ProgressToken(NumberOrString::Number(1));
        asked.get_meta_mut().set_progress_token(token);
        let message = ServerJsonRpcMessage::request(asked, RequestId::Number(7));
        let folded = serde_json::to_string(&message).unwrap();
        let whole = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\",\"params\":{}}}",
            ODD.replace('\n', " ")
        );
        assert_eq!(unfolded(event(&folded).into()), event(&whole));
    }

    #[test]
    fn an_error_goes_out_as_it_is() {
        let error = |data| {
            let code = rmcp::model::ErrorCode::RESOURCE_NOT_FOUND;
            let error = rmcp::ErrorData::new(code, "no \"result\":\"\"", Some(data));
            ServerJsonRpcMessage::error(error, Some(RequestId::Number(7)))
        };
        let written = |data| serde_json::to_string(&error(data)).unwrap();
        let folded = written(data(ODD.to_owned()));
        let whole = written(json!(0)).replace("\"data\":0", "\"data\":{}");
        let whole = whole.replace("{}", &ODD.replace('\n', " "));
        assert_eq!(unfolded(event(&folded).into()), event(&whole));
    }

    #[test]
    fn an_answer_comes_in_as_it_is() {
        let message = format!("{{\"jsonrpc\": \"2.0\", \"result\":{ODD} ,\"id\":7}}");
        let folded = response_body(&message.clone().into());
        let read: JsonRpcResponse<ClientResult> = serde_json::from_slice(&folded).unwrap();
        assert_eq!(answer(read.result), Answer::read(ODD.to_owned()));
        let error = Bytes::from("{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{}}");
        assert_eq!(response_body(&error), error);
        // A client that sends a text as its result has not sent one of ours.
        let cheat = response_body(&"{\"id\":7,\"result\":\"{}\"}".into());
        assert!(cheat.ends_with(b"\"\\\"{}\\\"\"}"), "{cheat:?}");
    }
}
