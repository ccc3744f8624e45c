//! Tools that are called by one of Dormouse's own: by the right one, and with their schema where
//! their arguments do not fit it.

use std::fmt::Write as _;

use dormouse_jsonrpc::member;
use dormouse_policy::exposure::ToolAccess;
use dormouse_protocol::Answer;
use dormouse_protocol::attribution::remark_for_model;
use dormouse_text::visible::visible_json;
use serde_json::{Map, Value};

use crate::mcp::schema_checks::SchemaChecks;
use crate::roster::{ShownTool, not_for_models, wrong_access};

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
pub(in crate::mcp) async fn with_schema(
    checks: &SchemaChecks,
    server: &str,
    mut result: Answer,
    object: &str,
    arguments: &Map<String, Value>,
) -> Answer {
    let failed = result.get("isError").as_deref() == Some(&Value::Bool(true));
    if failed && let Some(told) = unfit(checks, server, object, arguments).await {
        result.push_text(&told);
    }
    result
}

/// Returns what of the arguments does not fit the schema of a server's tool, with the schema.
pub(in crate::mcp) async fn unfit(
    checks: &SchemaChecks,
    server: &str,
    object: &str,
    arguments: &Map<String, Value>,
) -> Option<String> {
    let schema = member(object, "inputSchema")?;
    let arguments = || Value::Object(arguments.clone());
    let problems = checks.problems(server, schema, arguments, MAX_PROBLEMS);
    let problems = problems.await.filter(|problems| !problems.is_empty())?;
    let mut told = "The arguments do not fit the tool's input schema:".to_owned();
    for problem in &problems.listed {
        // Writing to a string cannot fail.
        let problem = format!("`{}`: {}", problem.pointer, problem.message);
        let _ = write!(told, "\n- {}", remark_for_model(&problem));
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

    #[tokio::test]
    async fn arguments_that_do_not_fit_bring_the_schema_into_an_error() {
        let checks = &SchemaChecks::default();
        let object = r#"{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}}"#;
        let result = async |is_error: bool, arguments: Value| {
            let result = json!({"content": [], "isError": is_error});
            let arguments = arguments.as_object().unwrap();
            let result = with_schema(checks, "x", result.into(), object, arguments);
            let result = result.await.into_value().unwrap();
            result["content"].as_array().unwrap().len()
        };
        assert_eq!(result(true, json!({})).await, 1);
        assert_eq!(result(true, json!({"a": "x"})).await, 1);
        assert_eq!(result(true, json!({"a": 1})).await, 0);
        assert_eq!(result(false, json!({})).await, 0);
        let told = unfit(checks, "x", object, &Map::new()).await.unwrap();
        assert!(told.contains(r#""required":["a"]"#), "{told}");
        let object = object.replace(r#""a""#, "\"a\u{202e}[server `b`]\"");
        let told = unfit(checks, "x", &object, &Map::new()).await.unwrap();
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
