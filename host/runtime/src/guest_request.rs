//! What can be asked of a plugin: its parameters, and what becomes of its answer.

use std::borrow::Cow;
use std::sync::Arc;

use dormouse_catalog::What;
use dormouse_protocol::Answer;
use dormouse_wit::{Export, Field, Function, Type, VariantCase, contract};
use serde_json::{Map, Value, json};
use wasmtime::component::Val;

use super::arguments::Arguments;
use super::error::Cause;
use super::memory::ServerMemory;
use super::schemas::{Schemas, readable};
use super::{Target, value};

/// What is asked of a plugin.
#[derive(Debug)]
pub enum GuestRequest {
    /// `tools/call`: an MCP `CallToolResult`.
    Tool(Tool),
    /// `prompts/get`: an MCP `GetPromptResult`.
    Prompt(Prompt),
    /// `resources/read`: an MCP `ReadResourceResult`.
    Resource(Resource),
    /// `completion/complete`: an MCP `CompleteResult`.
    Completion(Completion),
}

/// A call of a tool.
#[derive(Debug)]
pub struct Tool {
    /// The tool's own name, without a prefix.
    pub name: String,
    /// What is known of it.
    pub callable: Arc<Callable>,
    /// Its arguments.
    pub arguments: Arguments,
}

/// What a call needs to know of its tool.
#[derive(Debug)]
pub struct Callable {
    /// The function behind it; none for an adapter's tool.
    pub function: Option<Function>,
    /// What its arguments are checked against before anything is instantiated and, for
    /// an adapter's tool, its answers. None for a tool of an upstream, which checks its
    /// arguments itself (a schema that is known from before must not refuse a good
    /// call), and whose answers pass as they are.
    pub schemas: Option<Schemas>,
}

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// Its own name, without a prefix.
    pub name: String,
    /// The function behind it, if it has one.
    pub function: Option<Function>,
    /// What it is declared to be.
    pub description: Option<String>,
    /// Its arguments: strings, all of them, says MCP.
    pub arguments: Arguments,
}

/// A resource, perhaps one of a template.
#[derive(Debug)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// The function behind it, if it has one.
    pub function: Option<Function>,
    /// The declared MIME type of what it contains.
    pub mime_type: Option<String>,
    /// The variables of its template, as strings.
    pub variables: Map<String, Value>,
}

/// What a user has begun to type.
#[derive(Debug)]
pub struct Completion {
    /// What it is an argument of.
    pub of: Reference,
    /// The argument's name.
    pub argument: String,
    /// What has been typed so far.
    pub value: String,
    /// What other arguments are already.
    pub context: Vec<(String, String)>,
}

/// What an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its own name.
    Prompt(String),
    /// A resource template.
    Template(String),
}

/// The exports of the contract that take requests by name.
pub(super) const BY_NAME: [(&str, &str); 4] = [
    ("adapter", "call-tool"),
    ("prompts", "get-prompt"),
    ("resources", "read-resource"),
    ("completion", "complete"),
];

/// One of them.
pub(super) fn by_name((interface, function): (&str, &str)) -> Export {
    Export {
        interface: Some(contract::interface(interface)),
        function: function.into(),
    }
}

/// Whether one of them takes and gives what it does in the contract.
pub(super) fn is_of_contract((_, function): (&str, &str), signature: &Function) -> bool {
    let case = |wit: &str, ty| VariantCase {
        wit: wit.to_owned(),
        json: wit.to_owned(),
        ty,
    };
    let member = |wit: &str, ty| Field {
        wit: wit.to_owned(),
        json: wit.to_owned(),
        ty,
        default: None,
    };
    let text = || Type::String;
    let (params, ok, err) = match function {
        "read-resource" => {
            let error = [case("not-found", None), case("failed", Some(text()))];
            (vec![text()], text(), Type::Variant(error.into()))
        }
        "complete" => {
            let of = ["prompt", "template"].map(|of| case(of, Some(text())));
            let context = Type::List(Box::new(Type::Tuple(vec![text(), text()])));
            let completions = [
                member("values", Type::List(Box::new(text()))),
                member("total", Type::Option(Box::new(Type::U32))),
                member("has-more", Type::Bool),
            ];
            let params = vec![Type::Variant(of.into()), text(), text(), context];
            (params, Type::Record(completions.into()), text())
        }
        _ => (vec![text(), text()], text(), text()),
    };
    let result = Type::Result {
        ok: Some(Box::new(ok)),
        err: Some(Box::new(err)),
    };
    signature.params.iter().map(|param| &param.ty).eq(&params) && signature.result == Some(result)
}

impl GuestRequest {
    /// What it is, for the user.
    pub(super) fn subject(&self) -> String {
        match self {
            Self::Tool(tool) => format!("tool `{}`", tool.name),
            Self::Prompt(prompt) => format!("prompt `{}`", prompt.name),
            Self::Resource(resource) => format!("resource `{}`", resource.uri),
            Self::Completion(completion) => match &completion.of {
                Reference::Prompt(name) => format!("prompt `{name}`"),
                Reference::Template(uri) => format!("resource template `{uri}`"),
            },
        }
    }

    fn function(&self) -> Option<&Function> {
        match self {
            Self::Tool(tool) => tool.callable.function.as_ref(),
            Self::Prompt(prompt) => prompt.function.as_ref(),
            Self::Resource(resource) => resource.function.as_ref(),
            Self::Completion(_) => None,
        }
    }

    /// The function to call.
    pub(super) fn export(&self) -> Cow<'_, Export> {
        if let Some(function) = self.function() {
            return Cow::Borrowed(&function.export);
        }
        let [tool, prompt, resource, completion] = BY_NAME;
        Cow::Owned(by_name(match self {
            Self::Tool(_) => tool,
            Self::Prompt(_) => prompt,
            Self::Resource(_) => resource,
            Self::Completion(_) => completion,
        }))
    }

    /// How many values the function returns.
    pub(super) fn results(&self) -> usize {
        self.function()
            .map_or(1, |function| usize::from(function.result.is_some()))
    }

    /// How much base64 its arguments have in them, in bytes, for a typed tool.
    pub(super) fn base64(&self) -> u64 {
        match self {
            Self::Tool(tool) => tool.callable.function.as_ref().map_or(0, |function| {
                value::base64_in(function, &tool.arguments.values)
            }),
            _ => 0,
        }
    }

    /// Whether schemas have to be compiled before the arguments can be checked.
    pub(super) fn has_to_compile(&self, memory: &ServerMemory) -> bool {
        match self {
            Self::Tool(tool) => {
                let schemas = tool.callable.schemas.as_ref();
                schemas.is_some_and(|schemas| !schemas.are_compiled(memory))
            }
            _ => false,
        }
    }

    /// Holds the arguments against the schemas of what is called.
    ///
    /// # Errors
    /// They are not as these say.
    pub(super) fn check(&mut self, memory: &Arc<ServerMemory>) -> Result<(), Cause> {
        if let Self::Tool(Tool {
            name,
            callable,
            arguments,
        }) = self
            && let Some(schemas) = &callable.schemas
        {
            schemas.check(name, &mut arguments.values, memory)?;
        }
        Ok(())
    }

    /// The parameters, if they are right and the values of a function's arguments take no more than
    /// `max_bytes` of memory.
    pub(super) fn params(&self, max_bytes: u64) -> Result<Vec<Val>, Cause> {
        let text = |text: &str| Val::String(text.to_owned());
        match self {
            Self::Tool(Tool {
                name,
                callable,
                arguments,
            }) => {
                let schemas = callable.schemas.as_ref();
                let Some(function) = &callable.function else {
                    return Ok(vec![text(name), Val::String(arguments.to_text())]);
                };
                value::arguments(function, &arguments.values, max_bytes).map_err(|mismatch| {
                    match schemas {
                        Some(schemas) => schemas.problem(name, format!("- {mismatch}")),
                        None => Cause::Invalid(format!("- {mismatch}")),
                    }
                })
            }
            Self::Prompt(Prompt {
                function: Some(function),
                arguments: Arguments { values, .. },
                ..
            })
            | Self::Resource(Resource {
                function: Some(function),
                variables: values,
                ..
            }) => value::texts(function, values, max_bytes)
                .map_err(|mismatch| Cause::Invalid(mismatch.to_string())),
            Self::Prompt(prompt) => Ok(vec![
                text(&prompt.name),
                Val::String(prompt.arguments.to_text()),
            ]),
            Self::Resource(resource) => Ok(vec![text(&resource.uri)]),
            Self::Completion(completion) => Ok(completion.params()),
        }
    }

    /// Why the upstream has failed, if that is what the plugin says: it passes on
    /// what it got by its text.
    pub(super) fn passed_on(&self, value: Option<&Val>, failed: Option<Cause>) -> Option<Cause> {
        let Some(Val::Result(Err(error))) = value else {
            return None;
        };
        if self.function().is_some() {
            return None;
        }
        let said = error_text(error.as_deref())?;
        failed.filter(|failed| super::upstream::text(failed) == said)
    }

    /// How many times the memory that wasmtime counts what the function returns may take.
    pub(super) fn uncounted_factor(&self) -> usize {
        let result = self
            .function()
            .and_then(|function| function.result.as_ref());
        result.map_or(1, value::uncounted_factor)
    }

    /// The size of what the function returned, as JSON, in bytes: at least that, and no more than
    /// shows whether it is beyond a limit.
    pub(super) fn result_size(&self, value: Option<&Val>, limit: u64) -> u64 {
        let function = self.function();
        let ty = function.map(|function| function.result.as_ref().unwrap_or(&Type::Bool));
        value.map_or(0, |value| value::json_size(ty, value, limit))
    }

    /// What the function returned, as MCP has it. `target` is whose it is; `completed` is
    /// what the upstream has said of a completion, if it was asked.
    pub(super) fn result(
        &self,
        (target, memory): (&Target, &Arc<ServerMemory>),
        value: Option<&Val>,
        completed: Option<String>,
    ) -> Result<Answer, Cause> {
        let server = &target.server;
        // What an upstream says passes as it is.
        let by_name = |what, key: &str| match &target.upstream {
            None => readable(what, key, object(value)?.into_text()),
            Some(_) => object(value),
        };
        let string = || Some(Box::new(Type::String));
        let answer = Type::Result {
            ok: string(),
            err: string(),
        };
        match self {
            Self::Tool(tool) => match (&tool.callable.function, value) {
                (Some(function), _) => {
                    Ok(value::tool_result(server, function.result.as_ref(), value).into())
                }
                (None, Some(Val::Result(Err(_)))) => {
                    Ok(value::tool_result(server, Some(&answer), value).into())
                }
                (None, _) => match &tool.callable.schemas {
                    Some(schemas) => schemas.answer(&tool.name, object(value)?.into_text(), memory),
                    None => object(value),
                },
            },
            Self::Prompt(prompt) => match &prompt.function {
                Some(function) => {
                    let result = function.result.as_ref();
                    value::prompt_result((server, prompt.description.as_deref()), result, value)
                        .map(Answer::Made)
                        .map_err(Cause::Refused)
                }
                None => by_name(What::Prompt, &prompt.name),
            },
            Self::Resource(resource) => match &resource.function {
                Some(function) => {
                    let of = (resource.uri.as_str(), resource.mime_type.as_deref());
                    value::resource_result(server, of, function.result.as_ref(), value)
                        .map_err(Cause::Refused)?
                        .map(Answer::Made)
                        .ok_or(Cause::NotFound)
                }
                None => by_name(What::Resource, &resource.uri),
            },
            Self::Completion(_) => completion_of(value, completed),
        }
    }
}

impl Completion {
    fn params(&self) -> Vec<Val> {
        let text = |text: &str| Val::String(text.to_owned());
        let (case, name) = match &self.of {
            Reference::Prompt(name) => ("prompt", name),
            Reference::Template(uri) => ("template", uri),
        };
        let context = self.context.iter();
        let context = context.map(|(name, value)| Val::Tuple(vec![text(name), text(value)]));
        vec![
            Val::Variant(case.into(), Some(Box::new(text(name)))),
            text(&self.argument),
            text(&self.value),
            Val::List(context.collect()),
        ]
    }
}

/// The object whose text a function returned that takes requests by name.
fn object(value: Option<&Val>) -> Result<Answer, Cause> {
    match value {
        Some(Val::Result(Ok(Some(text)))) => match text.as_ref() {
            Val::String(text) => Answer::read(text.clone()).map_err(Cause::BadResult),
            _ => Err(Cause::BadResult("it is not text".into())),
        },
        Some(Val::Result(Err(error))) => Err(refused(error.as_deref())),
        _ => Err(Cause::BadResult("it is not a result".into())),
    }
}

/// The text of an error, where it has one.
fn error_text(error: Option<&Val>) -> Option<&str> {
    match error? {
        Val::String(text) => Some(text),
        Val::Variant(_, text) => error_text(text.as_deref()),
        _ => None,
    }
}

/// The error of such a function: a text, or `read-error`.
fn refused(error: Option<&Val>) -> Cause {
    match error {
        Some(Val::Variant(case, None)) if case == "not-found" => Cause::NotFound,
        error => {
            let text = error_text(error).filter(|text| !text.trim().is_empty());
            let text = text.unwrap_or("the plugin did not say why");
            Cause::Refused(text.to_owned())
        }
    }
}

/// How many values a completion has at most (MCP, completion).
const COMPLETIONS: usize = 100;

/// An MCP `CompleteResult` of these values, or of as many as it may have.
#[must_use]
pub fn completion(mut values: Vec<String>, total: Option<usize>, more: bool) -> Value {
    let more = more || values.len() > COMPLETIONS;
    values.truncate(COMPLETIONS);
    let mut completion = json!({ "values": values, "hasMore": more });
    if let (Some(total), Some(members)) = (total, completion.as_object_mut()) {
        members.insert("total".into(), total.into());
    }
    json!({ "completion": completion })
}

/// A completion that a plugin passes on as it got it is what its upstream said, word
/// for word; the contract has no place for all that MCP has there.
fn completion_of(value: Option<&Val>, completed: Option<String>) -> Result<Answer, Cause> {
    let made = made(value)?;
    let passed_on = |text: &String| {
        let said = dormouse_jsonrpc::member(text, "completion").unwrap_or_default();
        let part = |name| serde_json::from_str::<Value>(dormouse_jsonrpc::member(said, name)?).ok();
        let values = part("values");
        let values = values.as_ref().and_then(Value::as_array).into_iter();
        let values = values.flatten().filter_map(Value::as_str);
        let total = part("total").and_then(|total| u32::try_from(total.as_u64()?).ok());
        let total = total.and_then(|total| usize::try_from(total).ok());
        let more = part("hasMore") == Some(Value::Bool(true));
        completion(values.map(str::to_owned).collect(), total, more) == made
    };
    Ok(match completed.filter(passed_on) {
        Some(text) => Answer::Verbatim(text),
        None => Answer::Made(made),
    })
}

fn made(value: Option<&Val>) -> Result<Value, Cause> {
    let bad = || Cause::BadResult("it is no completion".into());
    let fields = match value {
        Some(Val::Result(Ok(Some(completions)))) => match completions.as_ref() {
            Val::Record(fields) => fields,
            _ => return Err(bad()),
        },
        Some(Val::Result(Err(error))) => return Err(refused(error.as_deref())),
        _ => return Err(bad()),
    };
    let mut values = Vec::new();
    let mut total = None;
    let mut more = false;
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("values", Val::List(items)) => {
                let texts = items.iter().filter_map(|item| match item {
                    Val::String(text) => Some(text.clone()),
                    _ => None,
                });
                values.extend(texts);
            }
            ("total", Val::Option(Some(number))) => {
                if let Val::U32(number) = number.as_ref() {
                    total = usize::try_from(*number).ok();
                }
            }
            ("has-more", Val::Bool(has)) => more = *has,
            _ => {}
        }
    }
    Ok(completion(values, total, more))
}
