//! Tags with a name and a JSON object behind it: `@setting` and `@secret`.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::tags::{Tag, nearest, note};
use crate::declaration::{GrantRequest, MAX_INPUT_NAME, is_input_name};
use crate::error::Finding;

/// Form that a member of the object may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A text that is not empty.
    Text,
    /// `true` or `false`.
    Switch,
    /// A text, a number, `true` or `false`.
    Plain,
    /// A list of texts.
    Texts,
    /// A list of texts, numbers or switches.
    Plains,
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

/// Returns what a tag requests, with its name as the member `name`. None where a finding says what is
/// wrong with it.
pub(super) fn input<T: DeserializeOwned>(
    tag: &Tag,
    known: &[(&str, Shape)],
    example: &str,
    item: &str,
    findings: &mut Vec<Finding>,
) -> Option<T> {
    let mut wrong = |message: String, hint: String| {
        note(findings, Finding::error(item, message).hint(hint));
        None
    };
    let whole = || format!("write `@{} {example}`", tag.name);
    let (name, json) = match tag.text.split_once(char::is_whitespace) {
        Some((name, json)) => (name, json.trim()),
        None => (tag.text.as_str(), "{}"),
    };
    if !is_input_name(name) {
        let message = format!("`@{} {}` has no name", tag.name, tag.text);
        return wrong(
            message,
            format!(
                "{}; a name has letters, digits, `-` and `_`, at most {MAX_INPUT_NAME}",
                whole()
            ),
        );
    }
    let members = match serde_json::from_str(json) {
        Ok(Value::Object(members)) => members,
        Ok(other) => {
            let message = format!("`@{} {name}` has `{other}` behind it", tag.name);
            return wrong(message, format!("{}: an object", whole()));
        }
        Err(error) => {
            let message = format!("`@{} {}` is not JSON: {error}", tag.name, tag.text);
            return wrong(message, whole());
        }
    };
    let mut is_sound = true;
    for (key, value) in &members {
        let shape = known.iter().find(|(known, _)| known == key);
        let (message, hint) = match shape {
            Some((_, shape)) if shape.takes(value) => continue,
            Some((_, shape)) => (
                format!("`{key}` of `@{} {name}` cannot be `{value}`", tag.name),
                format!("it takes {}", shape.in_words()),
            ),
            None => (
                format!("there is no `{key}` in `@{} {name}`", tag.name),
                known_keys(key, known),
            ),
        };
        is_sound = false;
        wrong(message, hint);
    }
    if !is_sound {
        return None;
    }
    let mut members: Map<String, Value> = members;
    members.insert("name".to_owned(), Value::from(name));
    match serde_json::from_value(members.into()) {
        Ok(input) => Some(input),
        Err(error) => wrong(format!("`@{} {name}`: {error}", tag.name), whole()),
    }
}

/// Returns the requests without settings and secrets whose names others have had before them, on
/// which there are findings.
pub(super) fn each_once(
    mut requests: Vec<GrantRequest>,
    item: &str,
    findings: &mut Vec<Finding>,
) -> Vec<GrantRequest> {
    let mut known = BTreeSet::new();
    requests.retain(|request| {
        let Some((tag, name)) = named(request) else {
            return true;
        };
        let is_new = known.insert((tag, name.to_owned()));
        if !is_new {
            let message = format!("`@{tag} {name}` is there twice");
            note(findings, Finding::error(item, message));
        }
        is_new
    });
    requests
}

/// Returns the tag and the name of a setting or a secret.
fn named(request: &GrantRequest) -> Option<(&'static str, &str)> {
    match request {
        GrantRequest::Setting(setting) => Some(("setting", &setting.name)),
        GrantRequest::Secret(secret) => Some(("secret", &secret.name)),
        _ => None,
    }
}

fn known_keys(key: &str, known: &[(&str, Shape)]) -> String {
    let mut known: Vec<_> = known.iter().map(|(known, _)| *known).collect();
    let near = nearest(key, &known);
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    known.sort_unstable();
    format!("{near}it takes `{}`", known.join("`, `"))
}

impl Shape {
    fn takes(self, value: &Value) -> bool {
        let all = |value: &Value, shape: Self| {
            let items = value.as_array();
            items.is_some_and(|items| {
                !items.is_empty() && items.iter().all(|item| shape.takes(item))
            })
        };
        match self {
            Self::Text => value.as_str().is_some_and(|text| !text.is_empty()),
            Self::Switch => value.is_boolean(),
            Self::Plain => value.is_string() || value.is_number() || value.is_boolean(),
            Self::Texts => all(value, Self::Text),
            Self::Plains => all(value, Self::Plain),
            Self::OneOf(texts) => value.as_str().is_some_and(|text| texts.contains(&text)),
        }
    }

    fn in_words(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::Switch => "`true` or `false`".to_owned(),
            Self::Plain => "a text, a number, `true` or `false`".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Plains => "a list of texts or numbers".to_owned(),
            Self::OneOf(texts) => format!("one of `\"{}\"`", texts.join("\"`, `\"")),
        }
    }
}

#[cfg(test)]
mod tests;
