//! Replacement of strings within a JSON text, everything else byte for byte.

use serde_json::Value;

/// Returns a text with some strings replaced, which `each` finds as parts of the text. None if
/// nothing is replaced.
pub(in super::super) fn with_replaced(
    text: &str,
    each: impl FnOnce(&mut dyn FnMut(&str)),
    other: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    each(&mut |literal: &str| {
        let start = (literal.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
        // However long it is: what is not read here would be read as another server's.
        let uri = serde_json::from_str::<String>(literal).ok();
        let Some(other) = uri.and_then(|uri| other(&uri)) else {
            return;
        };
        let other = Value::from(other).to_string();
        changes.extend(start.map(|start| (start, literal.len(), other)));
    });
    if changes.is_empty() {
        return None;
    }
    changes.sort();
    // One may be both of what is looked for.
    changes.dedup_by_key(|(start, ..)| *start);
    let mut all = String::with_capacity(text.len());
    let mut done = 0;
    for (start, length, other) in changes {
        all.push_str(text.get(done..start)?);
        all.push_str(&other);
        done = start + length;
    }
    all.push_str(text.get(done..)?);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::uris::{each_page_of_result, each_uri, with_server};

    #[test]
    fn uris_are_replaced_where_they_are_uris_and_nowhere_else() {
        let other = |uri: &str| (uri == "a:1").then(|| "a:1#\"".to_owned());
        let text = r#"{"content": [{"type":"text","text":"a:1","uri":"a:1","_meta":{"ui":{"resourceUri":"a:1"}}}, {"type":"resource_link", "uri" : "a:\u0031","name":"a:1"},
            {"type":"resource","resource":{"uri":"a:1","text":"\"uri\":\"a:1\"","_meta":{"openai/outputTemplate":"a:1"}}},{"type":"resource_link","uri":"b:2"}],
            "structuredContent":{"uri":"a:1"},"_meta":{"ui":{"resourceUri":"a:1"},"ui/resourceUri":"a:1","x":"a:1"}}"#;
        let each = |each: &mut dyn FnMut(&str)| {
            each_uri(text, &mut *each);
            each_page_of_result(text, each);
        };
        let expected = text
            .replace(r#""uri" : "a:\u0031""#, r#""uri" : "a:1#\"""#)
            .replace(r#"{"uri":"a:1","text""#, r#"{"uri":"a:1#\"","text""#)
            .replace(
                r#""openai/outputTemplate":"a:1""#,
                r#""openai/outputTemplate":"a:1#\"""#,
            )
            .replace(r#""resourceUri":"a:1""#, r#""resourceUri":"a:1#\"""#)
            .replace(r#""ui/resourceUri":"a:1""#, r#""ui/resourceUri":"a:1#\"""#);
        assert_eq!(
            with_replaced(text, each, other).as_deref(),
            Some(expected.as_str())
        );
        assert_eq!(with_replaced(text, each, |_| None), None);
    }

    #[test]
    fn many_uris_are_replaced_in_linear_time() {
        let texts = |links: usize| {
            let links: Vec<_> = (0..links)
                .map(|n| format!(r#"{{"type":"resource_link","uri":"a:{n}"}}"#))
                .collect();
            format!(r#"{{"content":[{}]}}"#, links.join(","))
        };
        dormouse_tests::growth::is_linear("links", 4_000, texts, |text: &String| {
            let each = |each: &mut dyn FnMut(&str)| each_uri(text, each);
            let all = with_replaced(text, each, |uri| Some(with_server(uri, "x")));
            assert!(all.unwrap().len() > text.len());
        });
    }
}
