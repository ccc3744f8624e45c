//! Results of a prompt's function → MCP `GetPromptResult`.

use dormouse_wit::Type;
use serde_json::{Map, Value, json};
use wasmtime::component::Val;

use super::left_out::LeftOutHints;
use super::result::{block, either};

/// Converts a prompt's result: a string becomes a message of the user, messages stay as they are.
/// `server` is the server's name for the log.
///
/// # Errors
/// The plugin's own error text.
pub(crate) fn prompt_result(
    server: &str,
    description: Option<&str>,
    ty: Option<&Type>,
    value: Option<Val>,
) -> Result<Value, String> {
    let (ty, value) = either(ty, value)?;
    let messages = match (ty, value) {
        (Some(Type::Messages), Some(Val::List(messages))) => {
            let left_out = LeftOutHints::new(server);
            let messages = messages.into_iter();
            let messages = messages.map(|value| message(&left_out, value));
            messages.collect()
        }
        (_, Some(Val::String(text))) => {
            vec![json!({ "role": "user", "content": { "type": "text", "text": text } })]
        }
        _ => Vec::new(),
    };
    let mut result = Map::new();
    result.extend(description.map(|text| ("description".to_owned(), Value::from(text))));
    result.insert("messages".into(), Value::Array(messages));
    Ok(Value::Object(result))
}

/// Converts a `prompt-message` of `dormouse:plugin/types`.
fn message(left_out: &LeftOutHints<'_>, value: Val) -> Value {
    let Val::Record(fields) = value else {
        return Value::Null;
    };
    fields
        .into_iter()
        .map(|(name, value)| {
            let value = match value {
                Val::Enum(role) => Value::from(role),
                content => block(left_out, content),
            };
            (name, value)
        })
        .collect()
}
