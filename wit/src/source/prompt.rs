//! A WIT function → a prompt.

use serde_json::{Map, Value, json};

use super::exported::Exported;
use super::kind::Kind;
use super::naming::{Nameless, is_name};
use super::tags::{self, note};
use crate::CONTRACT;
use crate::error::Finding;
use crate::notes::Notes;
use crate::types::{Case, Field, Type};

/// Returns the prompt of an exported function that has the tag `@prompt`; none, and findings, where
/// it cannot be one.
pub(crate) fn prompt(mut exported: Exported, findings: &mut Vec<Finding>) -> Option<Nameless> {
    let item = exported.item();
    let (mut name, mut title, mut params) = (None, None, Vec::new());
    let doc = std::mem::take(&mut exported.doc);
    for tag in doc.known(&item, &["prompt", "name", "title"], &["param"], findings) {
        match tag.name.as_str() {
            "prompt" => tags::bare(tag, &item, findings),
            "name" => {
                name = tags::text(tag, &item, findings)
                    .filter(|name| is_name(name, Kind::Prompt.noun(), &item, findings));
            }
            "title" => title = tags::text(tag, &item, findings),
            _ => params.extend(tags::param(tag, &item, findings)),
        }
    }
    exported.describe(params, findings);

    let takes_texts = exported.takes_texts("a prompt's argument", findings);
    let answer = exported.answer();
    let answers = matches!(answer, Some(Type::String | Type::Messages));
    if !answers {
        let kind = answer.map_or("nothing", Type::kind);
        note(
            findings,
            Finding::error(&item, format!("a prompt cannot answer with `{kind}`")).hint(format!(
                "return `string`, or `list<prompt-message>` of `{CONTRACT}`, or a `result` of either"
            )),
        );
    }
    if !(takes_texts && answers) {
        return None;
    }

    let mut members = Map::new();
    if let Some(title) = title {
        members.insert("title".into(), Value::from(title));
    }
    if let Some(text) = doc.text {
        members.insert("description".into(), Value::from(text));
    }
    let arguments = exported.function.arguments().iter().enumerate();
    let arguments: Vec<_> = arguments
        .map(|(index, field)| argument(field, exported.arguments.part(index)))
        .collect();
    if !arguments.is_empty() {
        members.insert("arguments".into(), Value::Array(arguments));
    }
    Some(Nameless {
        name,
        function: exported.function,
        members,
    })
}

/// Returns the MCP `PromptArgument` of a parameter or field.
fn argument(field: &Field, notes: &Notes) -> Value {
    let mut argument = Map::new();
    argument.insert("name".into(), Value::from(field.json.as_str()));
    if let Some(title) = &notes.title {
        argument.insert("title".into(), Value::from(title.as_str()));
    }
    let (ty, inner) = match &field.ty {
        Type::Option(inner) => (&**inner, notes.part(0)),
        ty => (ty, notes),
    };
    let text = notes.description.as_ref().or(inner.description.as_ref());
    // Unlike a tool's, a prompt's argument has no schema to list its values.
    let values = match ty {
        Type::Enum(cases) => one_of(cases, inner),
        _ => None,
    };
    let text: Vec<_> = text.cloned().into_iter().chain(values).collect();
    if !text.is_empty() {
        argument.insert("description".into(), Value::from(text.join("\n")));
    }
    let optional = matches!(field.ty, Type::Option(_)) || field.default.is_some();
    argument.insert("required".into(), json!(!optional));
    Value::Object(argument)
}

/// Returns a sentence with the values of an enum, unless the comments on all of them are in the
/// description already.
fn one_of(cases: &[Case], notes: &Notes) -> Option<String> {
    if notes.parts.iter().all(|case| case.description.is_some()) {
        return None;
    }
    let values: Vec<_> = cases
        .iter()
        .map(|case| format!("`{}`", case.json))
        .collect();
    Some(format!("One of {}.", values.join(", ")))
}
