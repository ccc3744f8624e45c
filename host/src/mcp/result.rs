//! Results as their era writes them.

use rmcp::model::ErrorData;
use serde_json::Value;

use super::caller::Caller;

/// What a list in the stateless era begins with: complete, stale at once, and for
/// nobody else, which is what rmcp says of a list that does not say itself.
const STATELESS: &str = r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","#;

/// A list on one page, because many clients never ask for a second one. The result
/// is a string: its own text (see `wire`).
///
/// # Errors
/// The client asks for another page.
pub(super) fn list(
    what: &str,
    params: Option<&Value>,
    caller: &Caller<'_>,
    write: impl FnOnce(&mut String),
) -> Result<Value, ErrorData> {
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
    Ok(Value::String(text))
}

/// A result as its era writes it.
pub(super) fn complete(mut result: Value, stateless: bool) -> Value {
    if let Value::Object(result) = &mut result {
        let complete = result
            .get("resultType")
            .is_none_or(|kind| kind == "complete");
        if stateless && complete {
            // First, so that a reader of the stream knows what it reads.
            result.shift_insert(0, "resultType".into(), "complete".into());
        } else if complete {
            result.shift_remove("resultType");
        }
    }
    result
}

/// The result of reading something, which in the stateless era says how long it
/// keeps.
pub(super) fn read(mut result: Value, stateless: bool) -> Value {
    if let (true, Value::Object(members)) = (stateless, &mut result)
        && members
            .get("resultType")
            .is_none_or(|kind| kind == "complete")
    {
        members.entry("ttlMs").or_insert(0.into());
        members.entry("cacheScope").or_insert("private".into());
    }
    complete(result, stateless)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_say_what_their_era_says() {
        let result = json!({"content": [], "x-odd": 1});
        let stateless = complete(result.clone(), true).to_string();
        assert_eq!(
            stateless,
            r#"{"resultType":"complete","content":[],"x-odd":1}"#
        );
        assert_eq!(complete(result.clone(), false), result);
        // An adapter may pass on what its upstream says of another era.
        let modern = json!({"content": [], "resultType": "complete"});
        assert_eq!(
            complete(modern.clone(), true).to_string(),
            r#"{"resultType":"complete","content":[]}"#
        );
        assert_eq!(complete(modern, false), json!({"content": []}));
    }
}
