//! Results as their era writes them.

use rmcp::model::ErrorData;
use serde_json::{Value, json};

use super::caller::Caller;
use crate::json;
use crate::runtime::Answer;

/// What a list in the stateless era begins with: complete, stale at once, and for
/// nobody else, which is what rmcp says of a list that does not say itself.
const STATELESS: &str = r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#;

/// A list on one page, because many clients never ask for a second one.
///
/// # Errors
/// The client asks for another page.
pub(super) fn list(
    what: &str,
    params: Option<&Value>,
    caller: &Caller<'_>,
    write: impl FnOnce(&mut String),
) -> Result<Answer, ErrorData> {
    match params.and_then(|params| params.get("cursor")) {
        None | Some(Value::Null) => {}
        Some(cursor) => {
            return Err(ErrorData::invalid_params(
                format!("unknown cursor `{cursor}`: everything is on the first page"),
                None,
            ));
        }
    }
    let mut text = String::from(if caller.stateless { STATELESS } else { "{" });
    text.push('"');
    text.push_str(what);
    text.push_str("\":");
    write(&mut text);
    text.push('}');
    Ok(Answer::Verbatim(text))
}

/// A result as its era writes it.
pub(super) fn complete(mut result: Answer, stateless: bool) -> Answer {
    if is_complete(&result) {
        result.remove("resultType");
        if stateless {
            // First, so that a reader of the stream knows what it reads.
            result.put_first("resultType", "complete".into());
        }
    }
    result
}

/// The result of a call of a tool. Before the stateless era structured content is an
/// object, and clients that hold a result against that would lose all of it.
pub(super) fn called(mut result: Answer, stateless: bool) -> Answer {
    const NAME: &str = "structuredContent";
    let odd = match &result {
        _ if stateless => None,
        Answer::Made(value) => {
            let content = value.get(NAME).filter(|content| !content.is_object());
            content.map(Value::to_string)
        }
        Answer::Verbatim(text) => {
            let content = json::member(text, NAME).filter(|text| !text.starts_with('{'));
            content.map(str::to_owned)
        }
    };
    if let Some(text) = odd {
        result.remove(NAME);
        // Whoever has put it into words already has done so better.
        let said = result.get("content");
        if said.is_none_or(|content| content.as_array().is_some_and(Vec::is_empty)) {
            result.remove("content");
            let block = json!({ "type": "text", "text": text });
            result.put_default("content", json!([block]));
        }
    }
    complete(result, stateless)
}

/// The result of reading something, which in the stateless era says how long it
/// keeps.
pub(super) fn read(mut result: Answer, stateless: bool) -> Answer {
    if stateless && is_complete(&result) {
        result.put_default("ttlMs", 0.into());
        result.put_default("cacheScope", "private".into());
    }
    complete(result, stateless)
}

fn is_complete(result: &Answer) -> bool {
    let kind = result.get("resultType");
    kind.is_none_or(|kind| *kind == "complete")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(result: &Value) -> [Answer; 2] {
        [
            Answer::Made(result.clone()),
            Answer::Verbatim(result.to_string()),
        ]
    }

    fn text(answer: Answer) -> String {
        answer.into_value().unwrap().to_string()
    }

    #[test]
    fn results_say_what_their_era_says() {
        for result in both(&json!({"content": [], "x-odd": 1})) {
            assert_eq!(
                text(complete(result.clone(), true)),
                r#"{"resultType":"complete","content":[],"x-odd":1}"#
            );
            assert_eq!(complete(result.clone(), false), result);
            assert_eq!(
                text(read(result.clone(), true)),
                r#"{"resultType":"complete","content":[],"x-odd":1,"ttlMs":0,"cacheScope":"private"}"#
            );
            assert_eq!(read(result.clone(), false), result);
        }
        // An adapter may pass on what its upstream says of another era.
        for modern in both(&json!({"content": [], "resultType": "complete", "ttlMs": 7})) {
            assert_eq!(
                text(complete(modern.clone(), true)),
                r#"{"resultType":"complete","content":[],"ttlMs":7}"#
            );
            assert_eq!(
                text(complete(modern.clone(), false)),
                r#"{"content":[],"ttlMs":7}"#
            );
            assert_eq!(
                text(read(modern, true)),
                r#"{"resultType":"complete","content":[],"ttlMs":7,"cacheScope":"private"}"#
            );
        }
    }

    #[test]
    fn structured_content_is_an_object_before_the_stateless_era() {
        let words = json!([{ "type": "text", "text": "words" }]);
        for (result, legacy) in [
            (
                r#"{"content":[],"structuredContent":[1.10],"x":1}"#,
                r#"{"x":1,"content":[{"type":"text","text":"[1.10]"}]}"#,
            ),
            (
                r#"{"structuredContent":"a"}"#,
                r#"{"content":[{"type":"text","text":"\"a\""}]}"#,
            ),
            (
                &format!(r#"{{"content":{words},"structuredContent":null}}"#),
                &format!(r#"{{"content":{words}}}"#),
            ),
        ] {
            let verbatim = || Answer::Verbatim(result.to_owned());
            assert_eq!(called(verbatim(), false).into_text(), legacy);
            let modern = called(verbatim(), true);
            assert_eq!(
                modern.get("structuredContent"),
                verbatim().get("structuredContent")
            );
            let made = Answer::Made(verbatim().into_value().unwrap());
            let made = called(made, false).into_value().unwrap();
            assert!(made.get("structuredContent").is_none(), "{made}");
            assert_ne!(made["content"], json!([]));
        }
        for fine in both(&json!({"content": [], "structuredContent": {"a": [1]}})) {
            assert_eq!(called(fine.clone(), false), fine);
        }
    }
}
