//! JSON as text: where in it things are, so that the rest of it can stay as it is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A member of a JSON object, as it is written there.
#[derive(Debug)]
pub struct Member<'a> {
    /// Its name. One that is no Unicode stays as it is written.
    pub name: Cow<'a, str>,
    /// Its name as it is written, with its quotation marks.
    pub written: &'a str,
    /// The text of its value.
    pub value: &'a str,
    /// Where in the object's text it is, from its name to the end of its value.
    pub place: Range<usize>,
}

/// The members of the object that a text is, in order; two may have one name.
///
/// # Errors
/// The text is no JSON, or something else than an object.
pub fn members(text: &str) -> serde_json::Result<Vec<Member<'_>>> {
    let Members(members) = serde_json::from_str(text)?;
    let at = |part: &str| (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let members = members.into_iter().map(|(name, value)| Member {
        name: unquoted(name.get()),
        written: name.get(),
        value: value.get(),
        place: at(name.get())..at(value.get()) + value.get().len(),
    });
    Ok(members.collect())
}

/// The text of a member's value. Of two members of one name it is the later that
/// counts, as everywhere.
#[must_use]
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let members = members(text).ok()?;
    let found = members.into_iter().rev().find(|member| member.name == name);
    found.map(|member| member.value)
}

/// The text of an object without a member; none where the text is no object.
#[must_use]
pub fn without(text: &str, name: &str) -> Option<String> {
    let members = members(text).ok()?;
    let left = members.iter().filter(|member| member.name != name);
    let left: Option<Vec<_>> = left.map(|member| text.get(member.place.clone())).collect();
    Some(format!("{{{}}}", left?.join(",")))
}

/// A text without line breaks, which JSON has between its tokens only: inside of
/// strings they are escaped.
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        return Cow::Owned(text.replace(['\n', '\r'], " "));
    }
    Cow::Borrowed(text)
}

/// A name as it is meant. One that is no Unicode stays as it is written.
fn unquoted(text: &str) -> Cow<'_, str> {
    let inner = text.trim_matches('"');
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(text).map_or(Cow::Borrowed(inner), Cow::Owned)
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_where_they_are() {
        let text = "\u{20}{ \"a\" : 1.10, \"\\u0062\":[1, {\"a\":2}] ,\"a\":\"x\\\"\" }";
        let found = members(text).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|member| (&*member.name, member.value, &text[member.place.clone()]))
            .collect();
        assert_eq!(
            found,
            [
                ("a", "1.10", "\"a\" : 1.10"),
                ("b", "[1, {\"a\":2}]", "\"\\u0062\":[1, {\"a\":2}]"),
                ("a", "\"x\\\"\"", "\"a\":\"x\\\"\""),
            ]
        );
        assert_eq!(member(text, "a"), Some("\"x\\\"\""));
        assert_eq!(member(text, "c"), None);
        assert_eq!(
            without(text, "a").as_deref(),
            Some("{\"\\u0062\":[1, {\"a\":2}]}")
        );
        // What no type here can hold is JSON all the same.
        assert_eq!(member("{\"\\ud800\": 1e999}", "\\ud800"), Some("1e999"));
        for bad in ["", "[]", "1", "{\"a\":}", "{} x", "{\"a\":1"] {
            assert!(members(bad).is_err(), "{bad}");
        }
    }
}
