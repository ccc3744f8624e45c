//! Messages to send, each on one line and without the line's end.

use crate::text::{on_one_line, quoted};

/// Writes a request. `id` and `params` are JSON text.
#[must_use]
pub fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let method = quoted(method);
    let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}"#);
    member(&mut text, "params", params);
    end(text)
}

/// Writes a notification. `params` is JSON text.
#[must_use]
pub fn notification(method: &str, params: Option<&str>) -> String {
    let mut text = format!(r#"{{"jsonrpc":"2.0","method":{}"#, quoted(method));
    member(&mut text, "params", params);
    end(text)
}

/// Writes an answer. `id` and `result` are JSON text.
#[must_use]
pub fn response(id: &str, result: &str) -> String {
    let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id}"#);
    member(&mut text, "result", Some(result));
    end(text)
}

/// Writes an answer that is an error. `id` and `data` are JSON text.
#[must_use]
pub fn error(id: &str, code: i64, message: &str, data: Option<&str>) -> String {
    let message = quoted(message);
    let mut text =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}"#);
    member(&mut text, "data", data);
    text.push('}');
    end(text)
}

fn member(text: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        text.push_str(",\"");
        text.push_str(name);
        text.push_str("\":");
        text.push_str(&on_one_line(value));
    }
}

fn end(mut text: String) -> String {
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_written_on_one_line() {
        for (written, expected) in [
            (
                request("7", "a\"b", Some("{\"n\":\n1.10}")),
                r#"{"jsonrpc":"2.0","id":7,"method":"a\"b","params":{"n": 1.10}}"#,
            ),
            (notification("n", None), r#"{"jsonrpc":"2.0","method":"n"}"#),
            (
                response("\"x\"", "[1e400]"),
                r#"{"jsonrpc":"2.0","id":"x","result":[1e400]}"#,
            ),
            (
                error("null", -32600, "no\n", Some("{}")),
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no\n","data":{}}}"#,
            ),
        ] {
            assert_eq!(written, expected);
        }
    }
}
