//! Questions and results for clients of versions of MCP before 2025-11-25, in the terms of those
//! versions.
//!
//! Plugins write their questions and results in the terms of the newest version, and so do
//! upstreams, which do not know the agent's. A question of an upstream goes out unchanged: the
//! upstream was told what the client can be asked.

use dormouse_protocol::{Answer, AskError, Capability, Question};
use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value, json};

/// Checks whether a version is from before forms had titled choices and several of them at once,
/// and messages several blocks of content.
pub(in crate::mcp) fn is_older(version: &str) -> bool {
    version < ProtocolVersion::V_2025_11_25.as_str()
}

/// A question in the words of an [older](is_older) version.
///
/// # Errors
/// The version has no words for it.
pub(in crate::mcp) fn question(
    mut question: Question,
    version: &str,
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

/// The kinds of content that a version has no name for. A client that meets one refuses
/// all of the result.
pub(in crate::mcp) fn unknown_content(version: &str) -> &'static [&'static str] {
    if version < ProtocolVersion::V_2025_03_26.as_str() {
        &["resource_link", "audio"]
    } else if version < ProtocolVersion::V_2025_06_18.as_str() {
        &["resource_link"]
    } else {
        &[]
    }
}

/// A result of a call or a prompt without content of kinds that are unknown: a link
/// becomes the text of it, and what can be heard a resource.
pub(in crate::mcp) fn result(result: Answer, unknown: &[&str]) -> Answer {
    // Hardly any has such content, and one that has not is not looked at any further.
    let may = |text: &String| unknown.iter().any(|kind| text.contains(kind));
    if unknown.is_empty() || matches!(&result, Answer::Verbatim(text) if !may(text)) {
        return result;
    }
    let Ok(value) = result.to_value() else {
        return result;
    };
    let mut value = value.into_owned();
    let mut reworded = false;
    if let Some(Value::Array(blocks)) = value.get_mut("content") {
        for block in blocks {
            reworded |= reword(block, unknown);
        }
    }
    if let Some(Value::Array(messages)) = value.get_mut("messages") {
        for message in messages {
            let block = message.get_mut("content");
            reworded |= block.is_some_and(|block| reword(block, unknown));
        }
    }
    if reworded { value.into() } else { result }
}

/// Says a block in other words, if it is of a kind that is unknown.
fn reword(block: &mut Value, unknown: &[&str]) -> bool {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    let Some(kind) = text("type").filter(|kind| unknown.contains(kind)) else {
        return false;
    };
    let mut words = if kind == "audio" {
        json!({
            "type": "resource",
            // Nobody can read it there: a resource has to have one.
            "resource": { "uri": "data:", "mimeType": text("mimeType"), "blob": text("data") },
        })
    } else {
        let name = text("title").or(text("name")).unwrap_or_default();
        let about = text("description").map(|about| format!("\n{about}"));
        let uri = text("uri").unwrap_or_default();
        let words = format!("{name}: {uri}{}", about.unwrap_or_default());
        json!({ "type": "text", "text": words })
    };
    if let (Some(annotations), Some(words)) = (block.get("annotations"), words.as_object_mut()) {
        words.insert("annotations".into(), annotations.clone());
    }
    *block = words;
    true
}

#[cfg(test)]
mod tests {
    use dormouse_protocol::QuestionOrigin;
    use serde_json::value::RawValue;

    use super::*;

    fn asked(capability: Capability, params: Value, text: Option<&str>) -> Result<Value, AskError> {
        let Value::Object(params) = params else {
            panic!("{params} are no parameters");
        };
        let asked = Question {
            id: "q".into(),
            origin: QuestionOrigin::Server,
            capability,
            params,
            text: text.map(|text| RawValue::from_string(text.to_owned()).unwrap()),
        };
        let written = question(asked, ProtocolVersion::V_2025_06_18.as_str())?;
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

    #[test]
    fn content_has_the_kinds_of_its_version() {
        let text = json!({ "type": "text", "text": "audio" });
        let link = json!({
            "type": "resource_link", "uri": "a:b", "name": "n", "description": "d",
            "annotations": { "priority": 1 },
        });
        let audio = json!({ "type": "audio", "data": "QQ==", "mimeType": "audio/wav" });
        let linked = json!({
            "type": "text", "text": "n: a:b\nd", "annotations": { "priority": 1 },
        });
        let heard = json!({
            "type": "resource",
            "resource": { "uri": "data:", "mimeType": "audio/wav", "blob": "QQ==" },
        });
        for (version, [a_link, a_sound]) in [
            ("2024-11-05", [&linked, &heard]),
            ("2025-03-26", [&linked, &audio]),
            ("2025-06-18", [&link, &audio]),
            ("2025-11-25", [&link, &audio]),
        ] {
            let unknown = unknown_content(version);
            let written = |value: Value| {
                [Answer::Verbatim(value.to_string()), Answer::Made(value)]
                    .map(|answer| result(answer, unknown).into_value().unwrap())
            };
            let content = written(json!({ "content": [text, link, audio], "x": 1 }));
            let expected = json!({ "content": [text, a_link, a_sound], "x": 1 });
            assert_eq!(content, [expected.clone(), expected], "{version}");
            let message = |block: &Value| json!([{ "role": "user", "content": block }]);
            let prompt = written(json!({ "messages": message(&audio) }));
            let expected = json!({ "messages": message(a_sound) });
            assert_eq!(prompt, [expected.clone(), expected], "{version}");
            // What needs no other words goes out as it was written.
            let exact = Answer::Verbatim(r#"{"content":["audio"],"x":1.10}"#.to_owned());
            assert_eq!(result(exact.clone(), unknown), exact);
        }
    }
}
