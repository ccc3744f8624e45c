//! A WIT function → a tool.

use serde_json::{Map, Value, json};
use wit_parser::FunctionKind;

use crate::accept::accept_object;
use crate::declaration::{DeclaredTool, Export, Function, Param};
use crate::error::Finding;
use crate::lower::{Lower, Unfit, snake_case};
use crate::notes::Notes;
use crate::schema;
use crate::tags::{self, Doc, note};
use crate::types::Type;

/// The longest tool name that MCP allows.
const MAX_NAME: usize = 128;

/// A tool that has no name yet.
pub(crate) struct Nameless {
    /// `@name`, if the author gave it one.
    pub(crate) name: Option<String>,
    function: Function,
    members: Map<String, Value>,
}

impl Nameless {
    /// The exported function behind it.
    pub(crate) fn export(&self) -> &Export {
        &self.function.export
    }

    /// The tool by this name.
    pub(crate) fn named(self, name: String) -> Result<DeclaredTool, serde_json::Error> {
        let mut tool = Map::new();
        tool.insert("name".into(), Value::from(name.as_str()));
        tool.extend(self.members);
        let tool = serde_json::value::to_raw_value(&tool)?;
        Ok(DeclaredTool {
            name,
            tool,
            function: Some(self.function),
        })
    }
}

/// What a function's tags say besides its name.
#[derive(Default)]
struct About {
    name: Option<String>,
    title: Option<String>,
    annotations: Map<String, Value>,
    params: Vec<(String, String)>,
    examples: Vec<Value>,
}

/// The tool of an exported function.
///
/// # Errors
/// When it cannot be one; the others can.
pub(crate) fn tool(
    lower: &mut Lower<'_>,
    export: Export,
    function: &wit_parser::Function,
) -> Result<Nameless, Unfit> {
    lower.next_function();
    let item = export.to_string();
    if !matches!(function.kind, FunctionKind::Freestanding) {
        return Err(Unfit(match function.kind {
            FunctionKind::AsyncFreestanding => "`async func` cannot be called as a tool yet".into(),
            _ => "it belongs to a `resource`, and handles have no JSON".into(),
        }));
    }
    let mut params = Vec::new();
    let mut parts = Vec::new();
    for param in &function.params {
        let (ty, notes) = lower.parameter(&param.ty)?;
        params.push(Param {
            wit: param.name.clone(),
            json: snake_case(&param.name),
            ty,
            default: None,
        });
        parts.push(notes);
    }
    let result = function
        .result
        .as_ref()
        .map(|ty| lower.result(ty))
        .transpose()?;

    let doc = Doc::parse(&function.docs);
    let about = about(&doc, &item, &mut lower.findings);
    // The fields of an only record are the arguments, so that each has a doc
    // comment of its own.
    let (spread, notes) = match params.as_slice() {
        [
            Param {
                ty: Type::Record(_),
                ..
            },
        ] => (true, parts.pop().unwrap_or_default()),
        _ => (false, Notes::over(parts)),
    };
    let mut notes = notes;
    for (name, text) in about.params {
        let found = params
            .iter()
            .position(|param| param.wit == name || param.json == name);
        match found
            .filter(|_| !spread)
            .and_then(|index| notes.parts.get_mut(index))
        {
            Some(notes) => notes.description = Some(text),
            None if spread => note(
                &mut lower.findings,
                Finding::error(
                    &item,
                    format!("`@param {name}` is not used, the arguments are a record's fields"),
                )
                .hint("write a doc comment on the field"),
            ),
            None => {
                note(
                    &mut lower.findings,
                    Finding::error(
                        &item,
                        format!("`@param {name}`: there is no such parameter"),
                    ),
                );
            }
        }
    }

    let fields = match params.as_slice() {
        [
            Param {
                ty: Type::Record(fields),
                ..
            },
        ] => fields,
        params => params,
    };
    let mut input = schema::input(fields, &notes);
    let mut examples = Vec::new();
    for example in about.examples {
        match accept_object(fields, &notes, &example) {
            Ok(()) => examples.push(example),
            Err(error) => note(
                &mut lower.findings,
                Finding::error(&item, format!("`@example`: {error}")),
            ),
        }
    }
    if !examples.is_empty() {
        input.insert("examples".into(), Value::Array(examples));
    }
    let output = result.as_ref().and_then(|(ty, notes)| match ty {
        Type::Result { ok, .. } => schema::output(ok.as_deref()?, notes.part(0)),
        ty => schema::output(ty, notes),
    });

    let mut members = Map::new();
    if let Some(title) = about.title {
        members.insert("title".into(), Value::from(title));
    }
    if let Some(text) = doc.text {
        members.insert("description".into(), Value::from(text));
    }
    members.insert("inputSchema".into(), Value::Object(input));
    if let Some(output) = output {
        members.insert("outputSchema".into(), Value::Object(output));
    }
    if !about.annotations.is_empty() {
        members.insert("annotations".into(), Value::Object(about.annotations));
    }
    let function = Function {
        export,
        spread,
        params,
        result: result.map(|(ty, _)| ty),
    };
    Ok(Nameless {
        name: about.name,
        function,
        members,
    })
}

fn about(doc: &Doc, item: &str, findings: &mut Vec<Finding>) -> About {
    const KNOWN: &[&str] = &[
        "name",
        "title",
        "readonly",
        "destructive",
        "idempotent",
        "openworld",
    ];
    let mut about = About::default();
    for tag in doc.known(item, KNOWN, &["param", "example"], findings) {
        match tag.name.as_str() {
            "name" => {
                about.name =
                    tags::text(tag, item, findings).filter(|name| is_name(name, item, findings));
            }
            "title" => about.title = tags::text(tag, item, findings),
            "param" => match tag.text.split_once(char::is_whitespace) {
                Some((name, text)) => about.params.push((name.to_owned(), text.trim().to_owned())),
                None => note(
                    findings,
                    Finding::error(item, "`@param` needs a parameter and a text after it"),
                ),
            },
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

fn is_name(name: &str, item: &str, findings: &mut Vec<Finding>) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = name.len() <= MAX_NAME && name.chars().all(allowed);
    if !fits {
        note(
            findings,
            Finding::error(item, format!("`@name {name}` is no tool name"))
                .hint(format!("use at most {MAX_NAME} of `A-Z a-z 0-9 _ - .`")),
        );
    }
    fits
}
