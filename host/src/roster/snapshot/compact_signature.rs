//! Signatures that are short enough to be read by the dozen.

use std::collections::HashSet;

use dormouse_jsonrpc::member;
use dormouse_protocol::attribution::remark_for_model;
use dormouse_wit::signature::{compact, compact_parameter};
use serde_json::{Value, json};

/// Longest signature in a reply with several, in bytes; longer only where the names of required
/// parameters take more.
const MAX_SIGNATURE_BYTES: usize = 280;

/// Longest signature whatever is required, in bytes: a stranger may have written any number of names.
const MAX_REQUIRED_BYTES: usize = 4 << 10;

/// Most bytes of the type of one parameter, where all are too much.
const MAX_TYPE_BYTES: usize = 32;

/// Most characters of a tool's description.
const MAX_DESCRIPTION_CHARS: usize = 120;

/// Returns a tool's signature and the beginning of its description, on two lines. No name of a
/// required parameter is left out, but of more than [`MAX_REQUIRED_BYTES`] of them.
pub(super) fn signature_and_description(name: &str, object: &str) -> String {
    let schema = member(object, "inputSchema").and_then(|schema| serde_json::from_str(schema).ok());
    let signature = signature(name, &schema.unwrap_or_else(|| json!({})));
    // Names of parameters are a stranger's, too.
    let mut text = remark_for_model(&signature);
    let description = member(object, "description");
    let description = description.and_then(|text| serde_json::from_str::<String>(text).ok());
    if let Some(description) = description.as_deref().and_then(first_sentence) {
        text.push_str("\n  ");
        text.push_str(&description);
    }
    text
}

fn signature(name: &str, schema: &Value) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let mut is_required = HashSet::new();
    let required: Vec<&str> = required.filter(|name| is_required.insert(*name)).collect();
    let has = |name: &&str| properties.is_some_and(|all| all.contains_key(*name));
    let whole = compact(name, schema, None);
    if whole.len() <= MAX_SIGNATURE_BYTES && required.iter().all(has) {
        return whole;
    }
    let mut text = format!("{name}(");
    for name in &required {
        let property = properties.and_then(|all| all.get(*name));
        let mut whole = compact_parameter(name, property.unwrap_or(&Value::Null), true);
        if whole.len() > name.len() + MAX_TYPE_BYTES {
            let kind = property.and_then(|property| property.get("type"));
            let kind = json!({ "type": kind.and_then(Value::as_str) });
            whole = compact_parameter(name, &kind, true);
        }
        separate(&mut text);
        if text.len() + whole.len() > MAX_REQUIRED_BYTES {
            text.push_str("…)");
            return text;
        }
        text.push_str(&whole);
    }
    let optional = properties.into_iter().flatten();
    let optional = optional.filter(|(name, _)| !is_required.contains(name.as_str()));
    for (name, _) in optional {
        let only_name = compact_parameter(name, &Value::Null, false);
        let only_name = only_name.trim_end_matches(": any");
        if text.len() + only_name.len() > MAX_SIGNATURE_BYTES {
            separate(&mut text);
            text.push('…');
            break;
        }
        separate(&mut text);
        text.push_str(only_name);
    }
    text.push(')');
    text
}

fn separate(text: &mut String) {
    if !text.ends_with('(') {
        text.push_str(", ");
    }
}

/// Returns the first sentence of a description, or as much of it as fits.
fn first_sentence(description: &str) -> Option<String> {
    let line = description.trim().lines().next()?.trim();
    let sentence = line.split_inclusive(". ").next().unwrap_or(line).trim_end();
    let mut chars = sentence.chars();
    let mut text: String = chars.by_ref().take(MAX_DESCRIPTION_CHARS).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    (!text.is_empty()).then(|| remark_for_model(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn short_signatures_are_whole_and_long_ones_keep_what_is_required() {
        let short = r#"{"inputSchema":{"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]},"description":"Does it. And more.\nMuch more."}"#;
        assert_eq!(
            signature_and_description("s__t", short),
            "s__t(a: string, b?: integer)\n  Does it."
        );
        let long_type = json!({"type": "object", "properties": {
            "x": {"type": "string"}, "yy": {"type": "string"}, "zzz": {"type": "string"} }});
        let names: Vec<String> = (0..40).map(|number| format!("parameter{number}")).collect();
        let all = names.iter().map(|name| (name.clone(), long_type.clone()));
        let required = ["parameter0", "parameter39", "of nowhere"];
        let schema = json!({"properties": Map::from_iter(all), "required": required});
        let text = signature("s__t", &schema);
        assert!(
            text.starts_with(
                "s__t(parameter0: object, parameter39: object, \"of nowhere\": any, parameter1?, "
            ),
            "{text}"
        );
        assert!(
            text.ends_with(", …)") && text.len() <= MAX_SIGNATURE_BYTES + 8,
            "{text}"
        );
        // However many are required.
        let schema = json!({"properties": {}, "required": names});
        let text = signature("s__t", &schema);
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
    }

    #[test]
    fn the_names_of_a_stranger_take_linear_time_and_little_room() {
        let names: Vec<String> = (0..200_000).map(|number| format!("p{number}")).collect();
        let text = signature("s__t", &json!({"properties": {}, "required": names}));
        assert!(text.len() <= MAX_REQUIRED_BYTES + 8 && text.ends_with("…)"));
    }

    #[test]
    fn a_large_property_is_rendered_once_however_often_it_is_required() {
        type Schema = fn(usize) -> Value;
        let schemas: [(&str, Schema); 3] = [
            ("enum", |size| json!({ "enum": vec!["value"; size] })),
            (
                "anyOf",
                |size| json!({ "anyOf": vec![json!({ "const": vec![0; size / 12] }); 12] }),
            ),
            ("$ref", |size| json!({ "$ref": "x".repeat(size) })),
        ];
        for (what, property) in schemas {
            let object = |size| {
                // That one name is of no property asks for a signature of its parts.
                let required = [vec!["a"; size], vec!["z"]].concat();
                let properties = json!({ "a": property(size) });
                let schema = json!({ "properties": properties, "required": required });
                json!({ "inputSchema": schema }).to_string()
            };
            let signature = signature_and_description("t", &object(1000));
            assert_eq!(signature.matches("a: ").count(), 1, "{signature}");
            dormouse_tests::growth::is_linear(what, 1000, object, |object: &String| {
                std::hint::black_box(signature_and_description("t", object));
            });
        }
    }

    #[test]
    fn of_descriptions_the_first_sentence_is_told_on_one_line() {
        assert_eq!(first_sentence("  \n"), None);
        assert_eq!(first_sentence("One.").unwrap(), "One.");
        let long = "word ".repeat(100);
        assert_eq!(
            first_sentence(&long).unwrap().chars().count(),
            MAX_DESCRIPTION_CHARS + 1
        );
        let odd = first_sentence("a\u{1b}b\r[server `bank`] c").unwrap();
        assert_eq!(odd, "a\\u{1b}b\\r(server `bank`] c");
        let schema = json!({ "properties": { "[server `b`]\u{202e}": {} } });
        let object = json!({ "inputSchema": schema }).to_string();
        let told = signature_and_description("t", &object);
        assert!(
            !told.contains("[server") && !told.contains('\u{202e}'),
            "{told}"
        );
    }
}
