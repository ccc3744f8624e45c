//! Questions of a plugin to a model (MCP sampling).

use serde_json::{Map, Value, json};

use super::content::{block, role_name};
use crate::bindings::dormouse::plugin::client::{ModelPreferences, Sampling};
use crate::hint::part;

/// Returns the parameters of `sampling/createMessage`.
///
/// # Errors
/// The member that MCP cannot express, without a subject: "has a …".
pub(super) fn params(sampling: Sampling) -> Result<Value, String> {
    let messages = sampling.messages.into_iter().map(|message| {
        let blocks = message.content.into_iter().map(block);
        let mut blocks = blocks.collect::<Result<Vec<_>, _>>();
        // A single block is not in a list, which is how most clients write it.
        let content = match &mut blocks {
            Ok(blocks) if blocks.len() == 1 => blocks.remove(0),
            Ok(blocks) => Value::Array(std::mem::take(blocks)),
            Err(why) => return Err(format!("has {why} in a message")),
        };
        Ok(json!({ "role": role_name(message.role), "content": content }))
    });
    let mut params = Map::new();
    params.insert("messages".into(), messages.collect::<Result<_, _>>()?);
    params.insert("maxTokens".into(), sampling.max_tokens.into());
    let mut set = |name: &str, value: Option<Value>| {
        params.extend(value.map(|value| (name.to_owned(), value)));
    };
    set("systemPrompt", sampling.system_prompt.map(Value::from));
    if let Some(temperature) = sampling.temperature {
        // JSON has no infinite or undefined number, and would have null instead.
        if !temperature.is_finite() {
            return Err(format!("has a temperature of `{temperature}`"));
        }
        set("temperature", Some(temperature.into()));
    }
    let stops = sampling.stop_sequences;
    set("stopSequences", (!stops.is_empty()).then(|| json!(stops)));
    let preferences = sampling.model_preferences.as_ref();
    set("modelPreferences", preferences.map(preferred).transpose()?);
    Ok(Value::Object(params))
}

fn preferred(preferences: &ModelPreferences) -> Result<Value, String> {
    let mut value = Map::new();
    let hints = preferences.hints.iter();
    let hints: Vec<_> = hints.map(|name| json!({ "name": name })).collect();
    if !hints.is_empty() {
        value.insert("hints".into(), Value::Array(hints));
    }
    for (name, wit, priority) in [
        ("costPriority", "cost-priority", preferences.cost_priority),
        (
            "speedPriority",
            "speed-priority",
            preferences.speed_priority,
        ),
        (
            "intelligencePriority",
            "intelligence-priority",
            preferences.intelligence_priority,
        ),
    ] {
        if let Some(priority) = priority {
            let priority = part(priority).map_err(|why| format!("has a `{wit}` of {why}"))?;
            value.insert(name.into(), priority);
        }
    }
    Ok(Value::Object(value))
}
