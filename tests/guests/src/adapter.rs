//! Takes calls by name, and answers what it is told to answer: MCP or not.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its declaration")]

use serde_json::Value;

struct Adapter;

dormouse_sdk::adapter!(Adapter, tools = "tools.json");

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
