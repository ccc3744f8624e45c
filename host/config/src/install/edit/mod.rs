//! Editing one entry of a client's file, from text to text. Everything else in it
//! stays as it is, to the byte: comments, order, blank lines, ends of lines.

#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod json;
mod text;
mod toml;
mod yaml;

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use crate::discovery::document::{self, DocumentValue, Node};
use crate::discovery::places::{FileShape, Syntax};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Reason why a file is not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Uneditable {
    /// Byte of the text at which that is.
    pub at: usize,
    /// Problem at that place. No value of the text is in it, which may be a secret.
    pub message: String,
    /// Advice on what to do about it.
    pub hint: &'static str,
}

impl Uneditable {
    fn unreadable(at: usize, message: String) -> Self {
        Self {
            at,
            message,
            hint: "mend the file first; it is left as it is",
        }
    }

    /// Makes the error for a value that has to be a table and is none; `key` is the key of that
    /// value.
    fn no_table(at: usize, key: Option<&str>) -> Self {
        let what = key.map_or("the document".to_owned(), |key| format!("`{key}`"));
        Self::unreadable(at, format!("{what} is no table of servers"))
    }

    fn style(at: usize, written: &str) -> Self {
        Self {
            at,
            message: format!("this is written with {written}, which cannot be edited safely"),
            hint: "edit the file by hand; it is left as it is",
        }
    }
}

/// Place of an entry in a document.
#[derive(Debug, Clone, Copy)]
struct Where<'a> {
    /// The keys that lead from the top to the servers.
    keys: &'a [String],
    /// Whether the servers are a list.
    list: bool,
    name: &'a str,
}

/// Adds an entry to a file's servers, or puts it in place of the one that has its
/// name. The text of a file that does not exist is empty.
///
/// # Errors
/// The file is malformed, or written in a way that cannot be edited safely.
pub fn add(text: &str, shape: &FileShape, name: &str, entry: &Json) -> Result<String, Uneditable> {
    edit(text, shape, name, Some(entry))
}

/// Removes the entry with a name from a file's servers, where there is one.
///
/// # Errors
/// The file is malformed, or written in a way that cannot be edited safely.
pub fn remove(text: &str, shape: &FileShape, name: &str) -> Result<String, Uneditable> {
    edit(text, shape, name, None)
}

/// Returns the entry with a name, where there is one.
///
/// # Errors
/// The file is malformed.
pub fn get(text: &str, shape: &FileShape, name: &str) -> Result<Option<Json>, Uneditable> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut document = read(text, shape.syntax)?;
    let found = match servers(&mut document, shape, false) {
        Some(Json::Object(members)) => members.get(name).cloned(),
        Some(Json::Array(items)) => {
            let named = |item: &&Json| item.get("name").and_then(Json::as_str) == Some(name);
            items.iter().rfind(named).cloned()
        }
        _ => None,
    };
    Ok(found)
}

/// Returns the entries of a file's servers in their order, each with its name. Of several of one name that
/// is the last one.
///
/// # Errors
/// The file is malformed.
pub fn entries(text: &str, shape: &FileShape) -> Result<Vec<(String, Json)>, Uneditable> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut document = read(text, shape.syntax)?;
    let named = |item: Json| {
        let name = item.get("name").and_then(Json::as_str).map(str::to_owned);
        Some((name?, item))
    };
    Ok(match servers(&mut document, shape, false).map(Json::take) {
        Some(Json::Object(members)) => members.into_iter().collect(),
        Some(Json::Array(items)) => {
            let mut seen = HashSet::new();
            let last = items.into_iter().rev().filter_map(named);
            let mut last: Vec<_> = last.filter(|(name, _)| seen.insert(name.clone())).collect();
            last.reverse();
            last
        }
        _ => Vec::new(),
    })
}

fn edit(
    text: &str,
    shape: &FileShape,
    name: &str,
    entry: Option<&Json>,
) -> Result<String, Uneditable> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => ("", text),
    };
    let at = Where {
        keys: &shape.keys,
        list: shape.list,
        name,
    };
    let before = read(text, shape.syntax)?;
    let mut expected = before.clone();
    // Of several the last one counts; without it the one before would.
    if entry.is_none() && count(&mut expected, shape, name) > 1 {
        return Err(Uneditable::style(0, "several entries of one name"));
    }
    let known = match servers(&mut expected, shape, entry.is_some()) {
        Some(servers) => set(servers, name, entry),
        None => entry.is_none(),
    };
    if known && before == expected {
        return Ok(format!("{mark}{text}"));
    }
    let edited = match (shape.syntax, entry) {
        (Syntax::Json, Some(entry)) => json::add(text, at, entry),
        (Syntax::Json, None) => json::remove(text, at),
        (Syntax::Toml, Some(entry)) => toml::add(text, at, entry),
        (Syntax::Toml, None) => toml::remove(text, at),
        (Syntax::Yaml, Some(entry)) => yaml::add(text, at, entry),
        (Syntax::Yaml, None) => yaml::remove(text, at),
    }?;
    // There are more ways to write a document than anybody thinks of. What an edit
    // has not made exactly as it should be is nobody's file.
    let after = read(&edited, shape.syntax).map(|after| pruned(after, shape));
    if after == Ok(pruned(expected, shape)) {
        Ok(format!("{mark}{edited}"))
    } else {
        Err(Uneditable::style(0, "something unusual"))
    }
}

fn read(text: &str, syntax: Syntax) -> Result<Json, Uneditable> {
    match document::parse(text, syntax) {
        Ok(node) => Ok(json_of(&node)),
        Err(error) => Err(Uneditable::unreadable(error.at, error.message)),
    }
}

/// Returns the servers of a document; makes them, where that is wanted and there are none.
fn servers<'j>(document: &'j mut Json, shape: &FileShape, make: bool) -> Option<&'j mut Json> {
    let mut value = document;
    for key in &shape.keys {
        if value.is_null() && make {
            *value = Json::Object(Map::new());
        }
        let table = value.as_object_mut()?;
        value = match table.get_mut(key) {
            Some(_) => table.get_mut(key)?,
            None if make => table.entry(key.as_str()).or_insert(Json::Null),
            None => return None,
        };
    }
    if value.is_null() && make {
        *value = match shape.list {
            true => Json::Array(Vec::new()),
            false => Json::Object(Map::new()),
        };
    }
    Some(value)
}

/// Counts the entries of a list of servers that have a name.
fn count(document: &mut Json, shape: &FileShape, name: &str) -> usize {
    let servers = servers(document, shape, false).and_then(|servers| servers.as_array());
    let items = servers.into_iter().flatten();
    items
        .filter(|item| item.get("name").and_then(Json::as_str) == Some(name))
        .count()
}

/// Sets an entry of the servers, or removes it. Returns false where they are no servers.
fn set(servers: &mut Json, name: &str, entry: Option<&Json>) -> bool {
    match servers {
        Json::Object(members) => {
            match entry {
                Some(entry) => members.insert(name.to_owned(), entry.clone()),
                None => members.shift_remove(name),
            };
        }
        Json::Array(items) => {
            let named = |item: &Json| item.get("name").and_then(Json::as_str) == Some(name);
            let place = items.iter().rposition(named);
            let item = entry.map(|entry| {
                let mut members = Map::new();
                members.insert("name".to_owned(), Json::from(name));
                members.extend(entry.as_object().cloned().unwrap_or_default());
                Json::Object(members)
            });
            match (place, item) {
                (Some(place), Some(item)) => {
                    if let Some(old) = items.get_mut(place) {
                        *old = item;
                    }
                }
                (Some(place), None) => drop(items.remove(place)),
                (None, Some(item)) => items.push(item),
                (None, None) => {}
            }
        }
        _ => return false,
    }
    true
}

/// Removes the empty tables that lead to a document's servers: in TOML they are there only where
/// something is in them.
fn pruned(mut document: Json, shape: &FileShape) -> Json {
    fn prune(value: &mut Json, keys: &[String]) {
        let (Some((key, rest)), Some(table)) = (keys.split_first(), value.as_object_mut()) else {
            return;
        };
        if let Some(value) = table.get_mut(key) {
            prune(value, rest);
            if value.as_object().is_some_and(Map::is_empty) {
                table.shift_remove(key);
            }
        }
    }
    if shape.syntax == Syntax::Toml {
        prune(&mut document, &shape.keys);
    }
    document
}

fn json_of(node: &Node) -> Json {
    match &node.value {
        DocumentValue::Null => Json::Null,
        DocumentValue::Bool(boolean) => Json::from(*boolean),
        DocumentValue::Number(number) => match serde_json::from_str(number) {
            Ok(Json::Number(number)) => Json::Number(number),
            _ => Json::from(number.as_str()),
        },
        DocumentValue::Text(text) => Json::from(text.as_str()),
        DocumentValue::List(items) => items.iter().map(json_of).collect(),
        DocumentValue::Table(members) => {
            let members = members.iter();
            let members = members.map(|member| (member.key.clone(), json_of(&member.node)));
            Json::Object(members.collect())
        }
    }
}

#[cfg(test)]
mod tests;
