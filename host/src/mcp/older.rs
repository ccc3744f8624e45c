//! Questions for clients of versions of MCP before 2025-11-25, in the words that those
//! have.
//!
//! A plugin writes what it asks in the words of the newest version. What an upstream
//! asks goes out as it is: it knows the version as well.

use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value, json};

use crate::runtime::{AskError, Capability, Question};

/// Whether a version is from before forms had titled choices and several of them at
/// once, and messages several blocks of content.
pub(super) fn is_older(version: &ProtocolVersion) -> bool {
    version.as_str() < ProtocolVersion::V_2025_11_25.as_str()
}

/// A question in the words of an [older](is_older) version.
///
/// # Errors
/// The version has no words for it.
pub(super) fn question(
    mut question: Question,
    version: &ProtocolVersion,
) -> Result<Question, AskError> {
    if question.text.is_some() {
        return Ok(question);
    }
    match question.capability {
        Capability::ElicitationForm => {
            let fields = question
                .params
                .get_mut("requestedSchema")
                .and_then(|schema| schema.get_mut("properties"))
                .and_then(Value::as_object_mut);
            for (name, field) in fields.into_iter().flatten() {
                if field.get("type") == Some(&json!("array")) {
                    return Err(AskError::Unsupported(format!(
                        "this client speaks MCP {version}, whose forms have no choice of \
                         several things, as `{name}` is"
                    )));
                }
                if let Some(field) = field.as_object_mut() {
                    name_choices(field);
                }
            }
        }
        Capability::Sampling => {
            if let Some(Value::Array(messages)) = question.params.get_mut("messages") {
                *messages = messages.drain(..).flat_map(single).collect();
            }
        }
        _ => {}
    }
    Ok(question)
}

/// Writes titled choices as a list of values and one of names.
fn name_choices(field: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = field.shift_remove("oneOf") else {
        return;
    };
    for (part, list) in [("const", "enum"), ("title", "enumNames")] {
        let parts = choices.iter().filter_map(|choice| choice.get(part));
        field.insert(list.into(), parts.cloned().collect());
    }
}

/// A message of several blocks as so many messages.
fn single(message: Value) -> Vec<Value> {
    let Some(Value::Array(blocks)) = message.get("content") else {
        return vec![message];
    };
    let blocks = blocks.iter();
    blocks
        .map(|block| {
            let mut message = message.clone();
            if let Some(content) = message.get_mut("content") {
                *content = block.clone();
            }
            message
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn asked(capability: Capability, params: Value, text: Option<&str>) -> Result<Value, AskError> {
        let Value::Object(params) = params else {
            panic!("{params} are no parameters");
        };
        let asked = Question {
            id: "q".into(),
            capability,
            params,
            text: text.map(|text| RawValue::from_string(text.to_owned()).unwrap()),
        };
        let written = question(asked, &ProtocolVersion::V_2025_06_18)?;
        Ok(serde_json::from_str(&written.to_text()).unwrap())
    }

    fn form(field: &Value) -> Value {
        let fields = json!({ "it": field });
        json!({ "requestedSchema": { "type": "object", "properties": fields } })
    }

    #[test]
    fn titled_choices_are_named() {
        let titled = json!({
            "type": "string", "default": "x",
            "oneOf": [{ "const": "x", "title": "X" }, { "const": "y", "title": "Y" }]
        });
        let named = json!({
            "type": "string", "default": "x", "enum": ["x", "y"], "enumNames": ["X", "Y"]
        });
        let written = asked(Capability::ElicitationForm, form(&titled), None).unwrap();
        assert_eq!(written, form(&named));
        // What needs no other words stays as it is.
        let written = asked(Capability::ElicitationForm, form(&named), None).unwrap();
        assert_eq!(written, form(&named));
    }

    #[test]
    fn what_there_are_no_words_for_is_not_asked() {
        let several = form(&json!({ "type": "array", "items": { "type": "string" } }));
        let error = asked(Capability::ElicitationForm, several.clone(), None).unwrap_err();
        let AskError::Unsupported(why) = error else {
            panic!("{error:?}");
        };
        assert!(why.contains("2025-06-18") && why.contains("`it`"), "{why}");
        // An upstream knows whom it asks.
        let text = several.to_string();
        let written = asked(Capability::ElicitationForm, several.clone(), Some(&text));
        assert_eq!(written, Ok(several));
    }

    #[test]
    fn a_message_has_one_block() {
        let block = |text: &str| json!({ "type": "text", "text": text });
        let message = |content: Value| json!({ "role": "user", "content": content });
        let messages = json!([
            message(json!([block("a"), block("b")])),
            message(block("c"))
        ]);
        let written = asked(Capability::Sampling, json!({ "messages": messages }), None).unwrap();
        let single = ["a", "b", "c"].map(|text| message(block(text)));
        assert_eq!(written, json!({ "messages": single }));
    }
}
