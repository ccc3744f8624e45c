//! URIs of the resources that a result contains or links to.

use dormouse_jsonrpc::{each_item, member};

/// Longest URI of a resource in a result that is remembered, in bytes.
pub(in super::super) const MAX_URI_BYTES: usize = 2048;

/// Part of a result that may name a resource, as it is written there.
#[derive(Clone, Copy)]
pub(super) enum ResultPart<'t> {
    /// Contents of a resource that was read.
    Contents(&'t str),
    /// A content block.
    Block(&'t str),
    /// A resource within a content block.
    Embedded(&'t str),
}

/// Calls a function with the URIs of the resources that a result contains or links to, each as it
/// is written there. Text is read, for values would take many times its memory.
pub(in super::super) fn each_uri(text: &str, mut each: impl FnMut(&str)) {
    // Most name none, and then they need not be read.
    if !text.contains("\"uri\"") && !text.contains("\\u00") {
        return;
    }
    each_part(text, |part| match part {
        ResultPart::Contents(part) | ResultPart::Embedded(part) => uri_in(part, &mut each),
        ResultPart::Block(block) => {
            if type_of(block).as_deref() == Some("resource_link") {
                uri_in(block, &mut each);
            }
        }
    });
}

/// Calls a function with the parts of a result that may name a resource.
pub(super) fn each_part<'t>(result: &'t str, mut each: impl FnMut(ResultPart<'t>)) {
    if let Some(contents) = member(result, "contents") {
        each_of(contents, |contents| {
            if may_name_resource(contents) {
                each(ResultPart::Contents(contents));
            }
        });
    }
    if let Some(content) = member(result, "content") {
        each_of(content, |block| parts_of_block(block, &mut each));
    }
    if let Some(messages) = member(result, "messages") {
        each_of(messages, |message| match member(message, "content") {
            Some(blocks) if blocks.starts_with('[') => {
                each_of(blocks, |block| parts_of_block(block, &mut each));
            }
            Some(block) => parts_of_block(block, &mut each),
            None => {}
        });
    }
}

/// Fewest bytes of an object that may name a resource.
const MIN_NAMING_BYTES: usize = r#"{"uri":""}"#.len();

/// Whether a part of a result may name a resource. A result may have millions that are too short.
fn may_name_resource(part: &str) -> bool {
    part.len() >= MIN_NAMING_BYTES && part.starts_with('{')
}

fn parts_of_block<'t>(block: &'t str, each: &mut impl FnMut(ResultPart<'t>)) {
    if !may_name_resource(block) {
        return;
    }
    each(ResultPart::Block(block));
    if let Some(resource) = member(block, "resource")
        && type_of(block).as_deref() == Some("resource")
    {
        each(ResultPart::Embedded(resource));
    }
}

/// Calls a function with the items of an array; other values have none.
fn each_of<'t>(array: &'t str, each: impl FnMut(&'t str)) {
    let _ = each_item(array, each);
}

fn type_of(block: &str) -> Option<String> {
    member(block, "type").and_then(text_of)
}

fn uri_in(object: &str, mut each: impl FnMut(&str)) {
    if let Some(uri) = member(object, "uri") {
        each(uri);
    }
}

/// Returns the text of a JSON string, if it is one that may be remembered.
pub(in super::super) fn text_of(value: &str) -> Option<String> {
    // A letter may be written with an escape of six.
    let is_short = value.len() <= 2 + 6 * MAX_URI_BYTES;
    let text = is_short.then(|| serde_json::from_str::<String>(value));
    text?.ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn uris(text: &str) -> Vec<String> {
        let mut uris = Vec::new();
        each_uri(text, |uri| uris.extend(text_of(uri)));
        uris
    }

    #[test]
    fn a_long_result_is_read_without_making_values_of_it() {
        let many = "{},".repeat(1 << 20);
        let last = r#"{"type":"resource_link","uri":"a:\u0062"}"#;
        for (result, expected) in [
            (format!(r#"{{"content":[{many}{last}]}}"#), vec!["a:b"]),
            (
                format!(r#"{{"messages":[{many}{{"content":{last}}}]}}"#),
                vec!["a:b"],
            ),
            (
                format!(r#"{{"content":[{{"a":[{many}1]}},{last}]}}"#),
                vec!["a:b"],
            ),
            (format!(r#"{{"contents":[{last}]}}"#), vec!["a:b"]),
            (
                r#"{"content":{"uri":1},"contents":[{"uri":2}],"messages":["uri"]}"#.into(),
                vec![],
            ),
        ] {
            let before = dormouse_tests::processes::most_memory(std::process::id()).unwrap();
            assert_eq!(uris(&result), expected);
            let after = dormouse_tests::processes::most_memory(std::process::id()).unwrap();
            // Values of that take 100 MiB and more.
            assert!(after - before < 32 << 10, "{} KiB", after - before);
        }
    }

    #[test]
    fn results_name_resources_in_their_blocks() {
        let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "x" });
        let held = |uri: &str| json!({ "type": "resource", "resource": { "uri": uri } });
        let text = json!({ "type": "text", "text": "\"uri\"", "uri": "no:1" });
        for (result, expected) in [
            (json!({}), vec![]),
            (json!({ "content": "\"uri\"" }), vec![]),
            (
                json!({ "content": [link("a:1"), text, held("b:2"), 3] }),
                vec!["a:1", "b:2"],
            ),
            (
                json!({ "messages": [{ "content": held("c:3") }, { "content": [link("d:4")] }] }),
                vec!["c:3", "d:4"],
            ),
            (
                json!({ "contents": [{ "uri": "e:5", "text": "" }] }),
                vec!["e:5"],
            ),
        ] {
            assert_eq!(uris(&result.to_string()), expected, "{result}");
        }
    }
}
