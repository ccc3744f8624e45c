//! JSON in one way of writing it, so that two texts can be compared by what they say.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How deep a value may be. Each level is read once more by each level around it.
const MAX_DEPTH: usize = 100;

/// A value in canonical form: members sorted, no white space, texts with as few escapes as
/// can be, numbers as they are written. None where two members of an object have one name,
/// so that readers would not agree on what it says, or where it is too deep.
pub(super) fn canonical(text: &str) -> Option<String> {
    let mut canonical = String::with_capacity(text.len());
    write(text, MAX_DEPTH, &mut canonical)?;
    Some(canonical)
}

fn write(text: &str, depth: usize, to: &mut String) -> Option<()> {
    let text = text.trim();
    match text.as_bytes().first()? {
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            to.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                to.push_str(&serde_json::to_string(name).ok()?);
                to.push(':');
                write(value.get(), depth.checked_sub(1)?, to)?;
            }
            to.push('}');
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            to.push('[');
            for (index, value) in items.iter().enumerate() {
                if index > 0 {
                    to.push(',');
                }
                write(value.get(), depth.checked_sub(1)?, to)?;
            }
            to.push(']');
        }
        b'"' => {
            let value: String = serde_json::from_str(text).ok()?;
            to.push_str(&serde_json::to_string(&value).ok()?);
        }
        _ => to.push_str(text),
    }
    Some(())
}

/// The members of an object, no two of one name.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Unique;
        impl<'de> Visitor<'de> for Unique {
            type Value = BTreeMap<String, &'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("two members of one name"));
                    }
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Unique).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_content_is_one_text() {
        for (text, expected) in [
            (
                r#" { "b" : 1 , "a" : [ 1.10 , "\u0061" ] } "#,
                r#"{"a":[1.10,"a"],"b":1}"#,
            ),
            (r#""\u00e4""#, "\"ä\""),
            ("[{}, [], null, true]", "[{},[],null,true]"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_has_none() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"x":[{"y":{"a":1,"b":2,"a":3}}]}"#,
            "",
            "{",
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonical(&deep(MAX_DEPTH)).is_some());
        assert_eq!(canonical(&deep(100_000)), None);
    }
}
