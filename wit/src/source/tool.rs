//! A WIT function → a tool.

use serde_json::{Map, Value, json};

use super::accept::accept_object;
use super::exported::Exported;
use super::kind::Kind;
use super::naming::{Nameless, is_name};
use super::tags::{self, Doc, note};
use crate::error::Finding;
use crate::schema;
use crate::types::Type;

/// Values of a function's tags.
#[derive(Default)]
struct About {
    name: Option<String>,
    title: Option<String>,
    annotations: Map<String, Value>,
    params: Vec<(String, String)>,
    examples: Vec<Value>,
}

/// Returns the tool of an exported function.
pub(crate) fn tool(mut exported: Exported, findings: &mut Vec<Finding>) -> Nameless {
    let item = exported.item();
    let about = about(&exported.doc, &item, findings);
    exported.describe(about.params, findings);

    let fields = exported.function.arguments();
    let notes = &exported.arguments;
    let mut input = schema::input(fields, notes);
    let mut examples = Vec::new();
    for example in about.examples {
        match accept_object(fields, notes, &example) {
            Ok(()) => examples.push(example),
            Err(error) => note(
                findings,
                Finding::error(&item, format!("`@example`: {error}")),
            ),
        }
    }
    if !examples.is_empty() {
        input.insert("examples".into(), Value::Array(examples));
    }
    let notes = &exported.result;
    let output = match exported.function.result.as_ref() {
        Some(Type::Result { ok, .. }) => ok
            .as_deref()
            .and_then(|ok| schema::output(ok, notes.part(0))),
        result => result.and_then(|ty| schema::output(ty, notes)),
    };

    let mut members = Map::new();
    if let Some(title) = about.title {
        members.insert("title".into(), Value::from(title));
    }
    if let Some(text) = exported.doc.text {
        members.insert("description".into(), Value::from(text));
    }
    members.insert("inputSchema".into(), Value::Object(input));
    if let Some(output) = output {
        members.insert("outputSchema".into(), Value::Object(output));
    }
    if !about.annotations.is_empty() {
        members.insert("annotations".into(), Value::Object(about.annotations));
    }
    Nameless {
        name: about.name,
        function: exported.function,
        members,
    }
}

fn about(doc: &Doc, item: &str, findings: &mut Vec<Finding>) -> About {
    const KNOWN: &[&str] = &[
        "name",
        "title",
        "readonly",
        "destructive",
        "idempotent",
        "openworld",
        // A function that has these is no tool; here they are for the hint on a
        // tag that does not exist.
        "prompt",
        "resource",
    ];
    let mut about = About::default();
    for tag in doc.known(item, KNOWN, &["param", "example"], findings) {
        match tag.name.as_str() {
            "name" => {
                about.name = tags::text(tag, item, findings)
                    .filter(|name| is_name(name, Kind::Tool.noun(), item, findings));
            }
            "title" => about.title = tags::text(tag, item, findings),
            "param" => about.params.extend(tags::param(tag, item, findings)),
            "example" => about.examples.extend(tags::json(tag, item, findings)),
            hint => {
                let hint = match hint {
                    "readonly" => "readOnlyHint",
                    "destructive" => "destructiveHint",
                    "idempotent" => "idempotentHint",
                    _ => "openWorldHint",
                };
                if let Some(on) = tags::switch(tag, item, findings) {
                    about.annotations.insert(hint.into(), json!(on));
                }
            }
        }
    }
    about
}
