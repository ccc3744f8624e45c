//! Tools that are called by one of Dormouse's own: by the right one, and with their schema where
//! their arguments do not fit it.

use std::fmt::Write as _;

use dormouse_catalog::validator;
use dormouse_jsonrpc::member;
use dormouse_policy::exposure::ToolAccess;
use dormouse_protocol::Answer;
use dormouse_protocol::attribution::remark;
use dormouse_text::visible::visible_json;
use dormouse_upstream::without_blocking;
use serde_json::{Map, Value};

use crate::roster::{ShownTool, not_for_models, wrong_access};

/// Longest schema that arguments are checked against for that, in bytes: a stranger has written it,
/// and it is made ready for each call.
const MAX_CHECKED_BYTES: usize = 64 << 10;

/// Longest schema that is told with an error, in bytes.
const MAX_SCHEMA_BYTES: usize = 32 << 10;

/// Most problems of arguments that are told.
const MAX_PROBLEMS: usize = 5;

/// Returns the reason why a tool is not called by the tool that was used for it, if it is not the
/// right one (clients decide by that one's hints what their user is asked), or the tool is not for
/// models.
pub(in crate::mcp) fn wrong_tool(tool: &ShownTool, used: ToolAccess) -> Option<String> {
    if !tool.is_for_models() {
        return Some(not_for_models(&tool.name).to_string());
    }
    let needed = tool.access();
    (needed != used).then(|| wrong_access(&tool.name, needed, used).to_string())
}

/// Returns the reason why a tool that waits for its user is not called by another tool than the one
/// for what may do anything.
pub(in crate::mcp) fn unknown_access(name: &str, used: ToolAccess) -> Option<String> {
    (used != ToolAccess::Destructive).then(|| {
        format!(
            "`{name}` was not called: it waits for its user's approval, and until then it may do \
             anything\nhint: call it by `{}`",
            ToolAccess::Destructive.call_tool()
        )
    })
}

/// Returns a failed result with the tool's schema and what of the arguments does not fit it, where
/// that may be why: whoever called it has not been shown the schema.
pub(in crate::mcp) fn with_schema(
    mut result: Answer,
    object: &str,
    arguments: &Map<String, Value>,
) -> Answer {
    let failed = result.get("isError").as_deref() == Some(&Value::Bool(true));
    if failed && let Some(told) = unfit(object, arguments) {
        result.push_text(&told);
    }
    result
}

/// Returns what of the arguments does not fit a tool's schema, with the schema.
pub(in crate::mcp) fn unfit(object: &str, arguments: &Map<String, Value>) -> Option<String> {
    without_blocking(usize::MAX, || checked(object, arguments))
}

fn checked(object: &str, arguments: &Map<String, Value>) -> Option<String> {
    let schema =
        member(object, "inputSchema").filter(|schema| schema.len() <= MAX_CHECKED_BYTES)?;
    let value = serde_json::from_str::<Value>(schema).ok()?;
    let problems = validator(&value).ok()?;
    let arguments = Value::Object(arguments.clone());
    let problems = problems.problems(&arguments, MAX_PROBLEMS).ok()?;
    if problems.is_empty() {
        return None;
    }
    let mut told = "The arguments do not fit the tool's input schema:".to_owned();
    for problem in &problems.listed {
        // Writing to a string cannot fail.
        let problem = format!("`{}`: {}", problem.pointer, problem.message);
        let _ = write!(told, "\n- {}", remark(&problem));
    }
    if schema.len() <= MAX_SCHEMA_BYTES {
        let _ = write!(told, "\nIts input schema: {}", visible_json(schema));
    }
    Some(told)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_do_not_fit_bring_the_schema_into_an_error() {
        let object = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}}"#;
        let result = |is_error: bool, arguments: Value| {
            let result = json!({"content": [], "isError": is_error});
            let arguments = arguments.as_object().unwrap();
            let result = with_schema(result.into(), object, arguments).into_value();
            result.unwrap()["content"].as_array().unwrap().len()
        };
        assert_eq!(result(true, json!({})), 1);
        assert_eq!(result(true, json!({"a": "x"})), 1);
        assert_eq!(result(true, json!({"a": 1})), 0);
        assert_eq!(result(false, json!({})), 0);
        let told = unfit(object, &Map::new()).unwrap();
        assert!(told.contains(r#""required":["a"]"#), "{told}");
        let object = object.replace(r#""a""#, "\"a\u{202e}[server `b`]\"");
        let told = unfit(&object, &Map::new()).unwrap();
        let (problems, schema) = told.split_once("\nIts input").unwrap();
        assert!(
            !problems.contains("[server") && problems.lines().count() == 2,
            "{told}"
        );
        assert!(
            !told.contains('\u{202e}') && schema.contains("\\u202e"),
            "{told}"
        );
    }
}
