//! Requests to a plugin: their parameters, and the conversion of their results.

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

/// A request to a plugin.
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
    /// Its declaration, as far as a call needs it.
    pub callable: Arc<Callable>,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Declaration of a tool, as far as a call needs it.
#[derive(Debug)]
pub struct Callable {
    /// The function behind it; none for an adapter's tool.
    pub function: Option<Function>,
    /// Schemas with which its arguments are checked before anything is instantiated and, for an
    /// adapter's tool, its answers. None for a tool of an upstream, which checks its arguments
    /// itself (a schema that is known from before must not refuse a good call), and whose answers
    /// pass as they are.
    pub schemas: Option<Schemas>,
}

/// A prompt.
#[derive(Debug)]
pub struct Prompt {
    /// Its own name, without a prefix.
    pub name: String,
    /// The function behind it, if it has one.
    pub function: Option<Function>,
    /// Its declared description.
    pub description: Option<String>,
    /// Its arguments: all strings, as MCP has it.
    pub arguments: Arguments,
}

/// A resource, perhaps one of a template.
#[derive(Debug)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// The function behind it, if it has one.
    pub function: Option<Function>,
    /// Declared MIME type of its contents.
    pub mime_type: Option<String>,
    /// The variables of its template, as strings.
    pub variables: Map<String, Value>,
}

/// A text that a user has begun to type.
#[derive(Debug)]
pub struct Completion {
    /// The prompt or template that it is an argument of.
    pub of: Reference,
    /// The argument's name.
    pub argument: String,
    /// Text typed so far.
    pub value: String,
    /// Names and values of other arguments.
    pub context: Vec<(String, String)>,
}

/// Item that an argument belongs to.
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

/// Returns the export of one of these.
pub(super) fn by_name((interface, function): (&str, &str)) -> Export {
    Export {
        interface: Some(contract::interface(interface)),
        function: function.into(),
    }
}

/// Checks whether the signature of one of these exports is that of the contract.
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
    /// Returns the name of the requested item, for the user.
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

    /// Returns the function to call.
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

    /// Returns the number of values that the function returns.
    pub(super) fn results(&self) -> usize {
        self.function()
            .map_or(1, |function| usize::from(function.result.is_some()))
    }

    /// Returns the length of the base64 in a typed tool's arguments, in bytes.
    pub(super) fn base64(&self) -> u64 {
        match self {
            Self::Tool(tool) => tool.callable.function.as_ref().map_or(0, |function| {
                value::base64_in(function, &tool.arguments.values)
            }),
            _ => 0,
        }
    }

    /// Checks whether [checking](Self::check) the arguments may take long.
    pub(super) fn check_takes_long(&mut self, memory: &Arc<ServerMemory>) -> bool {
        match self {
            Self::Tool(Tool {
                callable,
                arguments,
                ..
            }) => callable
                .schemas
                .as_ref()
                .is_some_and(|schemas| schemas.check_takes_long(&mut arguments.values, memory)),
            _ => false,
        }
    }

    /// Checks whether the result is checked with a schema, which may take long.
    pub(super) fn has_output_schema(&self) -> bool {
        match self {
            Self::Tool(tool) => tool
                .callable
                .schemas
                .as_ref()
                .is_some_and(Schemas::has_output),
            _ => false,
        }
    }

    /// Checks the arguments with the schemas of the tool.
    ///
    /// # Errors
    /// They do not match.
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

    /// Returns the parameters, if they are right and the values of a function's arguments take no
    /// more than `max_bytes` of memory.
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

    /// Returns the upstream's failure, if the plugin answers with its text: that is how plugins
    /// pass on an error of their upstream.
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

    /// Returns the most memory that the function's result may take, as a multiple of the memory
    /// that wasmtime counts.
    pub(super) fn uncounted_factor(&self) -> usize {
        let result = self
            .function()
            .and_then(|function| function.result.as_ref());
        result.map_or(1, value::uncounted_factor)
    }

    /// Returns the size of the function's result as JSON, in bytes: a lower bound, exact enough to
    /// show whether it is beyond a limit.
    pub(super) fn result_size(&self, value: Option<&Val>, limit: u64) -> u64 {
        let function = self.function();
        let ty = function.map(|function| function.result.as_ref().unwrap_or(&Type::Bool));
        value.map_or(0, |value| value::json_size(ty, value, limit))
    }

    /// Converts the function's result to MCP. `target` is the server; `completed` is the upstream's
    /// answer to a completion, if it was asked.
    pub(super) fn result(
        &self,
        (target, memory): (&Target, &Arc<ServerMemory>),
        value: Option<&Val>,
        completed: Option<String>,
    ) -> Result<Answer, Cause> {
        let server = &target.server;
        // Objects of an upstream pass as they are.
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

/// Returns the object whose text was returned by a function that takes requests by name.
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

/// Returns the text of an error, where it has one.
fn error_text(error: Option<&Val>) -> Option<&str> {
    match error? {
        Val::String(text) => Some(text),
        Val::Variant(_, text) => error_text(text.as_deref()),
        _ => None,
    }
}

/// Returns the cause for an error of such a function: a text, or `read-error`.
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

/// Most values of a completion (MCP, completion).
const COMPLETIONS: usize = 100;

/// Returns an MCP `CompleteResult` of these values, cut to the most that it may have.
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

/// Returns a completion: in the upstream's own words if the plugin passes it on unchanged, as the
/// contract has no room for all members that MCP has there.
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
    let passed_on = completed.filter(passed_on);
    let passed_on = passed_on.and_then(|text| Answer::read(text).ok());
    Ok(passed_on.unwrap_or(Answer::Made(made)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a completion that passes, clients read each number.
    #[test]
    fn a_completion_with_a_number_that_clients_do_not_read_is_made_anew() {
        let member = |name: &str, value| (name.to_owned(), value);
        let completions = Val::Record(vec![
            member("values", Val::List(vec![Val::String("a".to_owned())])),
            member("total", Val::Option(None)),
            member("has-more", Val::Bool(false)),
        ]);
        let value = Val::Result(Ok(Some(Box::new(completions))));
        for (number, passes) in [("1.10", true), ("1e999", false)] {
            let said = format!(
                r#"{{"completion":{{"values":["a"],"hasMore":false}},"_meta":{{"n":{number}}}}}"#
            );
            let answer = completion_of(Some(&value), Some(said.clone())).unwrap();
            let expected = match passes {
                true => Answer::Verbatim(said),
                false => Answer::Made(completion(vec!["a".to_owned()], None, false)),
            };
            assert_eq!(answer, expected, "{number}");
        }
    }
}
