//! MCP objects under another name than their server's own.

use std::collections::HashMap;

use serde_json::value::RawValue;

/// Appends an MCP object with another value of its name member, everything else byte for byte.
pub(super) fn renamed(object: &str, member: &str, own: &str, shown: &str, text: &mut String) {
    // Most have the name that they have.
    match (own != shown)
        .then(|| value_in(object, member, own))
        .flatten()
    {
        Some((before, after)) => {
            text.push_str(before);
            // A text can always be written.
            text.push_str(&serde_json::to_string(shown).unwrap_or_default());
            text.push_str(after);
        }
        // The catalog takes nothing that has no name.
        None => text.push_str(object),
    }
}

/// Returns the texts before and after the value of an object's member.
fn value_in<'a>(object: &'a str, member: &str, own: &str) -> Option<(&'a str, &'a str)> {
    const FIRST: &str = "{\"name\":";
    // What our own tools write begins with the name, and there is no need to
    // parse the rest of it.
    if member == "name"
        && let Some(rest) = object.strip_prefix(FIRST)
        && let Some(after) = rest
            .strip_prefix('"')
            .and_then(|rest| rest.strip_prefix(own))
            .and_then(|rest| rest.strip_prefix('"'))
    {
        return Some((FIRST, after));
    }
    let members: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let value = members.get(member)?.get();
    // The value is a part of the text, so it is that far from its start.
    let start = (value.as_ptr() as usize).checked_sub(object.as_ptr() as usize)?;
    Some((object.get(..start)?, object.get(start + value.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_is_replaced() {
        let table = [
            (r#"{"name":"a","x":1}"#, "a", r#"{"name":"s__a","x":1}"#),
            (
                r#"{"title":"name","x":{"name":"a"}, "name" : "a" ,"y":1.10}"#,
                "a",
                r#"{"title":"name","x":{"name":"a"}, "name" : "s__a" ,"y":1.10}"#,
            ),
            // Written with an escape, and the same name all the same.
            (
                r#"{"name":"\u0061","x":18446744073709551616}"#,
                "a",
                r#"{"name":"s__a","x":18446744073709551616}"#,
            ),
            (r#"{"name":"ab"}"#, "a", r#"{"name":"s__a"}"#),
        ];
        for (tool, name, expected) in table {
            let mut text = String::new();
            renamed(tool, "name", name, "s__a", &mut text);
            assert_eq!(text, expected);
        }
    }
}
