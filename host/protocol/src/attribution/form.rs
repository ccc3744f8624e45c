//! Forms of servers, made so that a person sees all of what they are about.
//!
//! The names of fields and the choices go back to the server as they are. Names and choices with
//! something in them that would not be seen, or that looks like a mark, are shown by a title.

use std::collections::{HashMap, HashSet};

use dormouse_text::visible::{hides_something, short_name, visible, without_hidden};
use serde_json::{Map, Value, json};

use super::mark::{shown, unmarked};

/// Most levels of fields within fields that are checked. Forms of MCP have none, and no value is
/// read that is nested more.
const MAX_DEPTH: usize = 128;

/// Kind of an object within a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormPart {
    /// The form, or a field.
    Field,
    /// One of several choices.
    Choice,
    /// Nothing that MCP's forms have.
    Other,
}

/// Makes all of a form visible.
///
/// # Errors
/// A part of the form cannot be shown: "has …".
pub(super) fn show(schema: &mut Value) -> Result<(), String> {
    match schema {
        Value::Object(schema) => {
            clean(schema, FormPart::Field);
            fields(schema, MAX_DEPTH)
        }
        Value::Null => Ok(()),
        _ => Err("is no object".to_owned()),
    }
}

/// Shows what is hidden in those texts of a form that are not sent back, and leaves out names and
/// patterns with something hidden: a client may show any of them, and these cannot be changed.
fn clean(object: &mut Map<String, Value>, part: FormPart) {
    object.retain(|name, _| !is_hidden(name));
    let properties = object.get("properties").and_then(Value::as_object);
    let fields: HashSet<String> = properties
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default();
    object.retain(|name, member| {
        match (name.as_str(), part) {
            ("properties", FormPart::Field) => {
                let fields = member.as_object_mut().into_iter();
                let fields = fields.flat_map(|fields| fields.values_mut());
                for field in fields.filter_map(Value::as_object_mut) {
                    clean(field, FormPart::Field);
                }
            }
            ("items", FormPart::Field) => within(member, FormPart::Field),
            ("oneOf" | "anyOf", FormPart::Field) => within(member, FormPart::Choice),
            // These go back as they are, and have titles where they cannot be shown.
            ("enum" | "default", FormPart::Field) | ("const", FormPart::Choice) => {}
            ("required", FormPart::Field) => {
                if let Value::Array(names) = member {
                    let is_field = |name: &Value| {
                        let name = name.as_str().unwrap_or_default();
                        fields.contains(name) || !is_hidden(name)
                    };
                    names.retain(is_field);
                }
            }
            ("pattern" | "const" | "enum" | "default", _) => return !is_hidden_default(member),
            _ => within(member, FormPart::Other),
        }
        true
    });
}

/// Does the same within a member that is not sent back.
fn within(value: &mut Value, part: FormPart) {
    match value {
        Value::String(text) => *text = shown(text),
        Value::Array(items) => items.iter_mut().for_each(|item| within(item, part)),
        Value::Object(object) => clean(object, part),
        _ => {}
    }
}

/// Gives the fields of an object titles where their names cannot be shown.
fn fields(schema: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
    let Some(Value::Object(fields)) = schema.get_mut("properties") else {
        return Ok(());
    };
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let titles = titles(&names);
    for (field, title) in fields.values_mut().zip(titles) {
        match (field, title) {
            (Value::Object(field), title) => {
                if let Some(title) = title.filter(|_| !is_titled(field)) {
                    field.insert("title".into(), title.into());
                }
                self::field(field, depth)?;
            }
            (_, None) => {}
            (_, Some(shown)) => {
                let shown = short_name(&shown);
                return Err(format!(
                    "has a field that cannot be shown: `{shown}`\n\
                     hint: a field is an object, and has a `title` where its name has characters \
                     in it that nobody sees"
                ));
            }
        }
    }
    Ok(())
}

/// Shows the choices of a field, and removes a default that would not be seen.
fn field(field: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
    if field.get("default").is_some_and(is_hidden_default) {
        field.shift_remove("default");
    }
    choices(field);
    let Some(depth) = depth.checked_sub(1) else {
        return Ok(());
    };
    if let Some(Value::Object(items)) = field.get_mut("items") {
        // MCP has names for untitled choices of several things only in this way.
        let untitled = items.get("enum").and_then(Value::as_array);
        let untitled = untitled.and_then(|values| titled_choices(values));
        if let Some(titled) = untitled.filter(|_| !items.contains_key("anyOf")) {
            for member in ["enum", "enumNames", "type"] {
                items.shift_remove(member);
            }
            items.insert("anyOf".into(), titled);
        }
        self::field(items, depth)?;
    }
    fields(field, depth)
}

/// Gives the choices of a field titles where their values cannot be shown.
fn choices(field: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = field.get("enum") {
        let titles = titles(&texts(values));
        let names = field.get("enumNames").and_then(Value::as_array);
        let name = |at: usize| {
            names
                .and_then(|names| names.get(at))
                .filter(|name| is_title(name))
        };
        let is_unnamed = |at: usize| name(at).is_none();
        let mut untitled = titles
            .iter()
            .enumerate()
            .filter(|(_, title)| title.is_some());
        if untitled.any(|(at, _)| is_unnamed(at)) {
            let names = values.iter().zip(titles).enumerate();
            let names = names.map(|(at, (value, title))| match (name(at), title) {
                (Some(name), _) => name.clone(),
                (None, Some(title)) => title.into(),
                (None, None) => match value {
                    Value::String(_) => value.clone(),
                    other => other.to_string().into(),
                },
            });
            let names = names.collect();
            field.insert("enumNames".into(), names);
        }
    }
    for list in ["oneOf", "anyOf"] {
        let Some(Value::Array(choices)) = field.get_mut(list) else {
            continue;
        };
        let values = choices.iter().map(|choice| match choice.get("const") {
            Some(value) if !choice.as_object().is_some_and(is_titled) => value.clone(),
            _ => Value::Null,
        });
        let values: Vec<Value> = values.collect();
        for (choice, title) in choices.iter_mut().zip(titles(&texts(&values))) {
            if let (Some(choice), Some(title)) = (choice.as_object_mut(), title) {
                choice.insert("title".into(), title.into());
            }
        }
    }
}

/// Returns the choices of an `enum` with titles, if one of them needs a title.
fn titled_choices(values: &[Value]) -> Option<Value> {
    let titles = titles(&texts(values));
    titles.iter().any(Option::is_some).then(|| {
        let choices = values.iter().zip(titles).map(|(value, title)| match title {
            Some(title) => json!({ "const": value, "title": title }),
            None => json!({ "const": value, "title": value }),
        });
        choices.collect()
    })
}

fn texts(values: &[Value]) -> Vec<&str> {
    let texts = values.iter();
    texts
        .map(|value| value.as_str().unwrap_or_default())
        .collect()
}

/// Returns for each text the title that it is shown by, where the text is not seen as it is. Titles
/// of texts that would look alike have their escapes in them.
fn titles(texts: &[&str]) -> Vec<Option<String>> {
    let mut alike: HashMap<_, usize> = HashMap::new();
    for text in texts {
        *alike.entry(without_hidden(text)).or_default() += 1;
    }
    let title = |text: &&str| {
        let seen = without_hidden(text);
        let is_alone = alike.get(&seen).is_none_or(|count| *count == 1);
        let is_seen = !hides_something(text) && (is_alone || visible(text) == *text);
        if is_seen && unmarked(text) == *text {
            return None;
        }
        let title = match is_alone {
            true => shown(text),
            false => unmarked(&visible(text)).into_owned(),
        };
        // Of nothing but marks of direction, nothing is left.
        match title.trim().is_empty() {
            true => Some(visible(text).into_owned()),
            false => Some(title),
        }
    };
    texts.iter().map(title).collect()
}

/// Whether there is a title that is shown in place of a name.
fn is_titled(schema: &Map<String, Value>) -> bool {
    schema.get("title").is_some_and(is_title)
}

fn is_title(title: &Value) -> bool {
    title.as_str().is_some_and(|title| !title.trim().is_empty())
}

/// Whether a default is or has a text that would not be seen.
fn is_hidden_default(default: &Value) -> bool {
    match default {
        Value::String(text) => is_hidden(text),
        Value::Array(items) => items.iter().any(is_hidden_default),
        Value::Object(members) => members.values().any(is_hidden_default),
        _ => false,
    }
}

/// Whether a text is not seen as it is, or looks like a mark.
fn is_hidden(text: &str) -> bool {
    hides_something(text) || unmarked(text) != *text
}

#[cfg(test)]
mod tests;
