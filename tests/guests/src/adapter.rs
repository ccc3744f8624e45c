//! Takes calls by name, and answers what it is told to answer: MCP or not.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its declaration")]

use serde_json::Value;

struct Adapter;

dormouse_sdk::adapter!(
    Adapter,
    tools = "mcp/adapter.json",
    prompts = "mcp/adapter.json",
    resources = "mcp/adapter.json",
);

impl dormouse_sdk::Adapter for Adapter {
    fn call_tool(_name: String, arguments: String) -> Result<String, String> {
        let arguments: Value = serde_json::from_str(&arguments).map_err(|e| e.to_string())?;
        match arguments.get("answer") {
            Some(Value::String(answer)) => Ok(answer.clone()),
            Some(answer) => Ok(answer.to_string()),
            None => Ok(r#"{"content":[{"type":"text","text":"called"}]}"#.to_owned()),
        }
    }
}

impl dormouse_sdk::Prompts for Adapter {
    fn get_prompt(_name: String, arguments: String) -> Result<String, String> {
        let arguments: Value = serde_json::from_str(&arguments).map_err(|e| e.to_string())?;
        let answer = arguments.get("answer").and_then(Value::as_str);
        answer
            .map(str::to_owned)
            .ok_or_else(|| "there is no answer".into())
    }
}

impl dormouse_sdk::Resources for Adapter {
    fn read_resource(uri: String) -> Result<String, dormouse_sdk::ReadError> {
        let contents = match uri.as_str() {
            "adapter:good" => r#"{"uri":"adapter:good","text":"good","x-odd":1.10}"#,
            "adapter:unnamed" => r#"{"text":"whose?"}"#,
            "adapter:hinted" => r#"{"uri":"adapter:hinted","mimeType":7,"text":"odd"}"#,
            _ => return Err(dormouse_sdk::ReadError::NotFound),
        };
        Ok(format!(r#"{{"contents":[{contents}]}}"#))
    }
}
