//! What is answered: to a call, and to what it asks meanwhile.

use std::borrow::Cow;
use std::io;

use serde_json::Value;

use crate::json;

/// A result, an object of MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Made here, of what a function has returned, say.
    Made(Value),
    /// The text of a JSON object as it was written elsewhere: it goes out byte for
    /// byte, because its numbers may have more digits than any type here.
    Verbatim(String),
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Made(value)
    }
}

impl Answer {
    /// An answer that was written elsewhere.
    ///
    /// # Errors
    /// It is no JSON object; why not.
    pub fn read(text: String) -> Result<Self, String> {
        json::members(&text).map_err(|error| error.to_string())?;
        Ok(Self::Verbatim(text))
    }

    /// A member of the object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        match self {
            Self::Made(value) => value.get(name).map(Cow::Borrowed),
            Self::Verbatim(text) => {
                let value = serde_json::from_str(json::member(text, name)?);
                value.ok().map(Cow::Owned)
            }
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        match self {
            Self::Made(value) => {
                if let Value::Object(members) = value {
                    members.shift_remove(name);
                }
            }
            Self::Verbatim(text) => while cut(text, name) {},
        }
    }

    /// Puts a member that is not there yet before all others.
    pub fn put_first(&mut self, name: &str, value: Value) {
        match self {
            Self::Made(Value::Object(members)) => {
                members.shift_insert(0, name.to_owned(), value);
            }
            Self::Made(_) => {}
            Self::Verbatim(text) => {
                let comma = if is_empty(text) { "" } else { "," };
                let member = format!("{}:{value}{comma}", Value::from(name));
                if let Some(start) = text.find('{') {
                    text.insert_str(start + 1, &member);
                }
            }
        }
    }

    /// Puts a member behind all others, unless it is there.
    pub fn put_default(&mut self, name: &str, value: Value) {
        match self {
            Self::Made(Value::Object(members)) => {
                members.entry(name).or_insert(value);
            }
            Self::Made(_) => {}
            Self::Verbatim(text) => {
                if json::member(text, name).is_some() {
                    return;
                }
                let comma = if is_empty(text) { "" } else { "," };
                let member = format!("{comma}{}:{value}", Value::from(name));
                if let Some(end) = text.rfind('}') {
                    text.insert_str(end, &member);
                }
            }
        }
    }

    /// Its length as JSON text, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Made(value) => size(value),
            Self::Verbatim(text) => text.len() as u64,
        }
    }

    /// The object as a value, as [`into_value`](Self::into_value) gives it.
    ///
    /// # Errors
    /// The same.
    pub fn to_value(&self) -> serde_json::Result<Cow<'_, Value>> {
        match self {
            Self::Made(value) => Ok(Cow::Borrowed(value)),
            Self::Verbatim(text) => serde_json::from_str(text).map(Cow::Owned),
        }
    }

    /// The object as a value, with its numbers as near as a value can have them.
    ///
    /// # Errors
    /// It holds what no value can, such as `1e400`.
    pub fn into_value(self) -> serde_json::Result<Value> {
        match self {
            Self::Made(value) => Ok(value),
            Self::Verbatim(text) => serde_json::from_str(&text),
        }
    }

    /// The object as text.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Made(value) => value.to_string(),
            Self::Verbatim(text) => text,
        }
    }
}

/// Cuts the first member of a name out of an object's text, with the comma that
/// parts it from another. False where there is none.
fn cut(text: &mut String, name: &str) -> bool {
    let Ok(members) = json::members(text) else {
        return false;
    };
    let mut before = None;
    let mut members = members
        .into_iter()
        .map(|member| (member.name, member.place));
    let found = loop {
        match members.next() {
            Some((known, place)) if known == name => break place,
            Some((_, place)) => before = Some(place.end),
            None => return false,
        }
    };
    let range = match (members.next(), before) {
        (Some((_, next)), _) => found.start..next.start,
        (None, Some(before)) => before..found.end,
        (None, None) => found,
    };
    text.replace_range(range, "");
    true
}

fn is_empty(object: &str) -> bool {
    json::members(object).is_ok_and(|members| members.is_empty())
}

/// The size of a value as JSON, in bytes, without writing it anywhere.
fn size(value: &Value) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and neither can writing a `Value`.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Answer {
        Answer::read(text.to_owned()).unwrap()
    }

    #[test]
    fn nothing_but_the_member_itself_changes() {
        let odd = r#"{ "a" : 1.10, "kind":"x","b":[-0.0 , 1E5], "a": 12345678901234567890123 }"#;
        let mut answer = read(odd);
        assert_eq!(answer.get("kind").as_deref(), Some(&json!("x")));
        assert_eq!(answer.size(), odd.len() as u64);
        answer.remove("nothing");
        assert_eq!(answer, read(odd));
        answer.remove("kind");
        answer.put_first("kind", json!("y"));
        answer.put_default("kind", json!("z"));
        answer.put_default("ttl", json!(0));
        assert_eq!(
            answer.into_text(),
            r#"{"kind":"y", "a" : 1.10, "b":[-0.0 , 1E5], "a": 12345678901234567890123 ,"ttl":0}"#
        );
    }

    #[test]
    fn members_go_and_come_wherever_they_are() {
        for (object, left) in [
            (r#"{"k":1}"#, "{}"),
            (r#"{ "k":1 }"#, "{  }"),
            (r#"{"k":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":2, "k":1}"#, r#"{"a":2}"#),
            (r#"{"k":1,"a":2,"k":3}"#, r#"{"a":2}"#),
            (r#"{"\u006b":{"k":1},"a":{"k":2}}"#, r#"{"a":{"k":2}}"#),
        ] {
            let mut answer = read(object);
            answer.remove("k");
            assert_eq!(answer.clone().into_text(), left);
            for put in [Answer::put_first, Answer::put_default] {
                let mut answer = answer.clone();
                put(&mut answer, "k", json!("}"));
                assert_eq!(answer.get("k").as_deref(), Some(&json!("}")), "{answer:?}");
            }
        }
    }

    #[test]
    fn an_answer_is_an_object() {
        for bad in ["", "[]", "1", "\"{}\"", "{\"a\":01}", "{} {}"] {
            assert!(Answer::read(bad.to_owned()).is_err(), "{bad}");
        }
        assert!(read("{\"a\":1e400}").into_value().is_err());
    }
}
