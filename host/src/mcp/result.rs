//! Results as their era writes them.

use rmcp::model::ErrorData;
use serde_json::Value;

use super::caller::Caller;
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
    use serde_json::json;

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
}
