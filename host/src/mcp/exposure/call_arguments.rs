//! Arguments of the tools that call others: a tool's name, and its own arguments.

use dormouse_jsonrpc::member;
use dormouse_runtime::Arguments;
use dormouse_text::visible::short_name;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::text_argument;
use crate::mcp::messages::client_request::Original;

/// Longest text that is read as an object, in bytes.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// Beginning of the names of members that serde_json reads as something else.
const PRIVATE: &str = "serde_json::private";

/// Arguments of a tool that calls another.
#[derive(Debug)]
pub(in crate::mcp) struct CallArguments {
    /// Name of the tool to be called.
    pub(in crate::mcp) name: String,
    /// Its arguments; `text` is as the client has written them.
    pub(in crate::mcp) arguments: Arguments,
}

impl CallArguments {
    /// Reads what `meta_tool` was given.
    ///
    /// # Errors
    /// There is no name, or something else than arguments: a sentence for the model.
    pub(in crate::mcp) fn take(
        meta_tool: &str,
        mut given: Map<String, Value>,
        original: &Original,
    ) -> Result<Self, String> {
        let name = text_argument(&given, "name")?.map(str::to_owned);
        let usage = "`{\"name\": \"SERVER__TOOL\", \"arguments\": {…}}`";
        let name = name.ok_or_else(|| {
            format!("`{meta_tool}` needs the `name` of a tool\nhint: give it {usage}")
        })?;
        let known = ["name", "arguments"];
        if let Some(other) = given.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!(
                "`{meta_tool}` has no argument `{}`\nhint: give it {usage}: the arguments of \
                 `{}` go into `arguments`",
                short_name(other),
                short_name(&name)
            ));
        }
        let arguments = match given.remove("arguments") {
            None | Some(Value::Null) => Arguments::default(),
            Some(Value::Object(values)) => Arguments {
                values,
                text: original.object("arguments").and_then(|given| {
                    let text = member(given.get(), "arguments")?;
                    RawValue::from_string(text.to_owned()).ok()
                }),
            },
            // Some models write an object into a text. What is in a text has not been counted with the
            // message's values, nor been looked at for names that serde_json gives a meaning.
            Some(Value::String(text)) if text.len() > MAX_TEXT_BYTES || text.contains(PRIVATE) => {
                return Err(no_object(meta_tool));
            }
            Some(Value::String(text)) => match serde_json::from_str(&text) {
                Ok(Value::Object(values)) => Arguments {
                    values,
                    text: RawValue::from_string(text).ok(),
                },
                _ => return Err(no_object(meta_tool)),
            },
            Some(_) => return Err(no_object(meta_tool)),
        };
        Ok(Self { name, arguments })
    }
}

fn no_object(meta_tool: &str) -> String {
    format!("`arguments` of `{meta_tool}` have to be an object")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(given: &str) -> Result<CallArguments, String> {
        let message = format!(r#"{{"params":{{"name":"call_tool","arguments":{given}}}}}"#);
        let given = serde_json::from_str::<Map<String, Value>>(given).unwrap();
        CallArguments::take("call_tool", given, &Original::new(message))
    }

    #[test]
    fn arguments_are_those_of_the_tool_as_they_were_written() {
        let taken = take(r#"{"name":"a__b","arguments":{"x":1.10}}"#).unwrap();
        assert_eq!(taken.name, "a__b");
        assert_eq!(taken.arguments.text.unwrap().get(), r#"{"x":1.10}"#);
        assert_eq!(json!(taken.arguments.values), json!({"x": 1.1}));
        let taken = take(r#"{"name":"a__b","arguments":"{\"x\":1.10}"}"#).unwrap();
        assert_eq!(taken.arguments.text.unwrap().get(), r#"{"x":1.10}"#);
        assert!(take(r#"{"name":"a"}"#).unwrap().arguments.values.is_empty());
    }

    #[test]
    fn a_long_text_is_no_object() {
        let text = |length: usize| format!(r#"{{"x":"{}"}}"#, "y".repeat(length));
        let given = |text: String| json!({"name": "a", "arguments": text}).to_string();
        assert!(take(&given(text(1000))).is_ok());
        assert!(take(&given(text(MAX_TEXT_BYTES))).is_err());
    }

    #[test]
    fn what_makes_no_call_is_told() {
        for (given, told) in [
            ("{}", "`call_tool` needs the `name` of a tool"),
            (r#"{"name":1}"#, "`name` has to be a string, not `1`"),
            (
                r#"{"name":"a","arguments":[]}"#,
                "`arguments` of `call_tool` have to be an object",
            ),
            (
                r#"{"name":"a","arguments":"[]"}"#,
                "`arguments` of `call_tool` have to be an object",
            ),
            (r#"{"name":"a","x":1}"#, "`call_tool` has no argument `x`"),
            (
                r#"{"name":"a","arguments":"{\"$serde_json::private::RawValue\":\"1\"}"}"#,
                "`arguments` of `call_tool` have to be an object",
            ),
        ] {
            let why = take(given).unwrap_err();
            assert!(why.starts_with(told), "{given}: {why}");
        }
    }
}
