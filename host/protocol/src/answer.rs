//! Answers: to a call, and to the questions that it asks meanwhile.

use std::borrow::Cow;
use std::io;

use dormouse_jsonrpc::{MessageLimits, Object, check_numbers, check_structure, member, quoted};
use serde_json::{Map, Value, json};

/// A result, an object of MCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Made in this process, from what a function has returned, say.
    Made(Value),
    /// The text of a JSON object as it was written elsewhere: it goes out byte for byte, because
    /// its numbers may have more digits than any type here.
    Verbatim(String),
}

/// Members to put into an object, all in one go, because its text may be long.
#[derive(Debug, Default)]
pub struct Edit<'a> {
    /// Member that is not there yet, to put before all others.
    pub first: Option<(&'a str, Value)>,
    /// Members to put behind all others, each unless it is there.
    pub defaults: Vec<(&'a str, Value)>,
    /// Member of an inner object, unless it is there: the object's name, the member's name and its
    /// value as JSON text. A missing object is made, behind all others.
    pub within: Option<(&'a str, &'a str, &'a str)>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Made(value)
    }
}

impl Answer {
    /// Reads an answer that was written elsewhere.
    ///
    /// # Errors
    /// The text is no JSON object, or one that some clients could not read; the error says why.
    pub fn read(text: String) -> Result<Self, String> {
        Object::read(&text).map_err(|error| error.to_string())?;
        // It is a part of a message, which clients read as a whole: what is too deep for one of
        // them would cost it the answers of all servers.
        check_structure(&text, MessageLimits::default().depth - 1)
            .map_err(|error| error.to_string())?;
        check_numbers(&text).map_err(|error| error.to_string())?;
        Ok(Self::Verbatim(text))
    }

    /// Returns a member of the object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        match self {
            Self::Made(value) => value.get(name).map(Cow::Borrowed),
            Self::Verbatim(text) => {
                let value = serde_json::from_str(member(text, name)?);
                value.ok().map(Cow::Owned)
            }
        }
    }

    /// Whether it is the result of a tool that has failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.get("isError").as_deref() == Some(&Value::Bool(true))
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) {
        match self {
            Self::Made(value) => {
                if let Value::Object(members) = value {
                    members.shift_remove(name);
                }
            }
            Self::Verbatim(text) => {
                let mut object = Object::read(text).unwrap_or_default();
                if object.remove(name) {
                    *text = object.into_text().into_owned();
                }
            }
        }
    }

    /// Removes the members whose names are none of those to keep.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        match self {
            Self::Made(Value::Object(members)) => members.retain(|name, _| is_kept(name)),
            Self::Made(_) => {}
            Self::Verbatim(text) => {
                let mut object = Object::read(text).unwrap_or_default();
                let others = object.places().filter(|(_, member)| !is_kept(&member.name));
                let others: Vec<_> = others.map(|(place, _)| place).collect();
                if others.is_empty() {
                    return;
                }
                for place in others {
                    object.remove_at(place);
                }
                *text = object.into_text().into_owned();
            }
        }
    }

    /// Removes a member of an inner object, and that object too where nothing is left in it.
    pub fn remove_within(&mut self, outer: &str, inner: &str) {
        match self {
            Self::Made(value) => {
                let Some(Value::Object(members)) = value.get_mut(outer) else {
                    return;
                };
                members.shift_remove(inner);
                if members.is_empty() {
                    self.remove(outer);
                }
            }
            Self::Verbatim(text) => {
                let mut object = Object::read(text).unwrap_or_default();
                let Some(found) = object.get(outer).filter(|text| text.starts_with('{')) else {
                    return;
                };
                let mut found = Object::read(found).unwrap_or_default();
                if !found.remove(inner) {
                    return;
                }
                if found.is_empty() {
                    object.remove(outer);
                } else {
                    let found = found.into_text().into_owned();
                    object.set(outer, found);
                }
                *text = object.into_text().into_owned();
            }
        }
    }

    /// Adds a text behind the content of an MCP `CallToolResult`.
    pub fn push_text(&mut self, text: &str) {
        let block = json!({ "type": "text", "text": text });
        match self {
            Self::Made(Value::Object(members)) => {
                let content = members.entry("content").or_insert_with(|| json!([]));
                if let Value::Array(content) = content {
                    content.push(block);
                }
            }
            Self::Made(_) => {}
            Self::Verbatim(whole) => {
                let mut object = Object::read(whole).unwrap_or_default();
                let content = object.get("content").unwrap_or("[]").trim();
                let blocks = content.strip_prefix('[');
                let Some(blocks) = blocks.and_then(|blocks| blocks.strip_suffix(']')) else {
                    return;
                };
                let comma = if blocks.trim().is_empty() { "" } else { "," };
                let content = format!("[{blocks}{comma}{block}]");
                object.set("content", content);
                *whole = object.into_text().into_owned();
            }
        }
    }

    /// Puts members in. The rest stays as it is.
    pub fn edit(&mut self, edit: &Edit<'_>) {
        match self {
            Self::Made(Value::Object(members)) => *self = Self::Verbatim(written(members, edit)),
            Self::Made(_) => {}
            Self::Verbatim(text) => {
                if let Some(edited) = edited(text, edit) {
                    *text = edited;
                }
            }
        }
    }

    /// Turns the answer into text, which takes a fraction of the memory of values.
    pub fn write(&mut self) {
        if let Self::Made(value) = self {
            // Of its length from the start: a long text that grows is there twice for a moment.
            let length = usize::try_from(size(value)).unwrap_or_default();
            let mut text = Vec::with_capacity(length);
            // Writing a `Value` into memory cannot fail, and JSON is written as UTF-8.
            let _ = serde_json::to_writer(&mut text, value);
            *self = Self::Verbatim(String::from_utf8(text).unwrap_or_default());
        }
    }

    /// Returns the length of the answer as JSON text, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Made(value) => size(value),
            Self::Verbatim(text) => text.len() as u64,
        }
    }

    /// Returns the object as a value, as [`into_value`](Self::into_value) does.
    ///
    /// # Errors
    /// The object holds what no value can, such as `1e400`.
    pub fn to_value(&self) -> serde_json::Result<Cow<'_, Value>> {
        match self {
            Self::Made(value) => Ok(Cow::Borrowed(value)),
            Self::Verbatim(text) => serde_json::from_str(text).map(Cow::Owned),
        }
    }

    /// Returns the object as a value, with its numbers as near as a value can have them.
    ///
    /// # Errors
    /// The object holds what no value can, such as `1e400`.
    pub fn into_value(self) -> serde_json::Result<Value> {
        match self {
            Self::Made(value) => Ok(value),
            Self::Verbatim(text) => serde_json::from_str(&text),
        }
    }

    /// Returns the object as text.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Made(value) => value.to_string(),
            Self::Verbatim(text) => text,
        }
    }
}

/// Writes an object with members put in, in one go: moving values about before would cost more.
fn written(members: &Map<String, Value>, edit: &Edit<'_>) -> String {
    let mut text = Vec::with_capacity(512);
    let first = edit.first.as_ref();
    if let Some((name, value)) = first {
        put(&mut text, name, value);
    }
    let mut there = false;
    for (member, value) in members {
        if first.is_some_and(|(name, _)| name == member) {
            continue;
        }
        match (edit.within, value) {
            (Some((object, name, one)), Value::Object(inner)) if object == member => {
                there = true;
                put(&mut text, member, value);
                if !inner.contains_key(name) {
                    text.pop();
                    put_within(&mut text, inner.is_empty(), name, one);
                }
            }
            (within, value) => {
                there |= within.is_some_and(|(object, ..)| object == member);
                put(&mut text, member, value);
            }
        }
    }
    for (name, value) in &edit.defaults {
        if !members.contains_key(*name) {
            put(&mut text, name, value);
        }
    }
    if let (Some((object, name, one)), false) = (edit.within, there) {
        begin(&mut text, object);
        text.push(b'{');
        put_within(&mut text, true, name, one);
    }
    if text.is_empty() {
        text.push(b'{');
    }
    text.push(b'}');
    // JSON is written as UTF-8.
    String::from_utf8(text).unwrap_or_default()
}

/// Writes the name of an object's next member.
fn begin(text: &mut Vec<u8>, name: &str) {
    text.push(if text.is_empty() { b'{' } else { b',' });
    // Writing a text or a `Value` into memory cannot fail.
    let _ = serde_json::to_writer(&mut *text, name);
    text.push(b':');
}

/// Writes an object's next member.
fn put(text: &mut Vec<u8>, name: &str, value: &Value) {
    begin(text, name);
    let _ = serde_json::to_writer(text, value);
}

/// Writes the last member of an inner object, whose value is text, and its end.
fn put_within(text: &mut Vec<u8>, is_first: bool, name: &str, value: &str) {
    if !is_first {
        text.push(b',');
    }
    let _ = serde_json::to_writer(&mut *text, name);
    text.push(b':');
    text.extend_from_slice(value.as_bytes());
    text.push(b'}');
}

/// Edits an object's text: puts members in.
fn edited(text: &str, edit: &Edit<'_>) -> Option<String> {
    let mut object = Object::read(text).ok()?;
    for (name, value) in &edit.defaults {
        if object.get(name).is_none() {
            object.set(name, value.to_string());
        }
    }
    if let Some((name, inner, value)) = edit.within {
        match object.get(name) {
            None => object.set(name, format!("{{{}:{value}}}", quoted(inner))),
            Some(found) => {
                let mut found = Object::read(found).unwrap_or_default();
                // What is no object has no place for it.
                let is_object = object.get(name).is_some_and(|text| text.starts_with('{'));
                if is_object && found.get(inner).is_none() {
                    found.set(inner, value.to_owned());
                    let found = found.into_text().into_owned();
                    object.set(name, found);
                }
            }
        }
    }
    if let Some((name, value)) = &edit.first {
        object.set_first(name, value.to_string());
    }
    Some(object.into_text().into_owned())
}

/// Returns the size of a value as JSON, in bytes, without writing it anywhere.
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
mod tests;
