//! Requests to a plugin: their parameters, and the conversion of their results.

mod arguments;
mod completion;
mod contract_export;
mod params;
mod result;

use std::borrow::Cow;
use std::sync::Arc;

use dormouse_catalog::What;
use dormouse_protocol::Answer;
use dormouse_wit::{Export, Function, Type};
use serde_json::{Map, Value};
use wasmtime::component::Val;

pub use arguments::Arguments;
pub use completion::{Completion, Reference, completion};
pub(crate) use contract_export::ContractExport;
pub(crate) use params::CheckedParams;

use self::result::{error_text, object};
use crate::error::Cause;
use crate::memory::ServerMemory;
use crate::schemas::{Schemas, readable};
use crate::target::Target;
use crate::value;

/// A request to a plugin.
#[derive(Debug)]
pub enum GuestRequest {
    /// `tools/call`: an MCP `CallToolResult`.
    Tool(ToolRequest),
    /// `prompts/get`: an MCP `GetPromptResult`.
    Prompt(PromptRequest),
    /// `resources/read`: an MCP `ReadResourceResult`.
    Resource(ResourceRequest),
    /// `completion/complete`: an MCP `CompleteResult`.
    Completion(Completion),
}

/// A call of a tool.
#[derive(Debug)]
pub struct ToolRequest {
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
pub struct PromptRequest {
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
pub struct ResourceRequest {
    /// Its URI.
    pub uri: String,
    /// The function behind it, if it has one.
    pub function: Option<Function>,
    /// Declared MIME type of its contents.
    pub mime_type: Option<String>,
    /// The variables of its template, as strings.
    pub variables: Map<String, Value>,
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
        let by_name = match self {
            Self::Tool(_) => ContractExport::CallTool,
            Self::Prompt(_) => ContractExport::GetPrompt,
            Self::Resource(_) => ContractExport::ReadResource,
            Self::Completion(_) => ContractExport::Complete,
        };
        Cow::Owned(by_name.export())
    }

    /// Returns the number of values that the function returns.
    pub(super) fn results(&self) -> usize {
        self.function()
            .map_or(1, |function| usize::from(function.result.is_some()))
    }

    /// Returns all lists of bytes in the function's parameters.
    pub(super) fn byte_lists_of_params<'v>(&self, params: &'v mut [Val]) -> Vec<&'v mut Val> {
        let function = self.function();
        function.map_or_else(Vec::new, |function| {
            value::byte_lists_of_params(function, params)
        })
    }

    /// Returns all lists of bytes in the function's result.
    pub(super) fn byte_lists_of_result<'v>(&self, result: &'v mut Val) -> Vec<&'v mut Val> {
        let ty = self
            .function()
            .and_then(|function| function.result.as_ref());
        ty.map_or_else(Vec::new, |ty| value::byte_lists(ty, result))
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
            Self::Tool(ToolRequest {
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
        if let Self::Tool(ToolRequest {
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
            Self::Tool(ToolRequest {
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
            Self::Prompt(PromptRequest {
                function: Some(function),
                arguments: Arguments { values, .. },
                ..
            })
            | Self::Resource(ResourceRequest {
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
        failed.filter(|failed| failed.text_for_guest() == said)
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
        target: &Target,
        memory: &Arc<ServerMemory>,
        value: Option<Val>,
        completed: Option<String>,
    ) -> Result<Answer, Cause> {
        let server = &target.server;
        // Objects of an upstream pass as they are.
        let by_name = |what, key: &str, value| match &target.upstream {
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
                (Some(function), value) => {
                    Ok(value::tool_result(server, function.result.as_ref(), value).into())
                }
                (None, value @ Some(Val::Result(Err(_)))) => {
                    Ok(value::tool_result(server, Some(&answer), value).into())
                }
                (None, value) => match &tool.callable.schemas {
                    Some(schemas) => schemas.answer(&tool.name, object(value)?.into_text(), memory),
                    None => object(value),
                },
            },
            Self::Prompt(prompt) => match &prompt.function {
                Some(function) => {
                    let result = function.result.as_ref();
                    value::prompt_result(server, prompt.description.as_deref(), result, value)
                        .map(Answer::Made)
                        .map_err(Cause::Refused)
                }
                None => by_name(What::Prompt, &prompt.name, value),
            },
            Self::Resource(resource) => match &resource.function {
                Some(function) => {
                    let (uri, mime_type) = (&resource.uri, resource.mime_type.as_deref());
                    value::resource_result(server, uri, mime_type, function.result.as_ref(), value)
                        .map_err(Cause::Refused)?
                        .map(Answer::Made)
                        .ok_or(Cause::NotFound)
                }
                None => by_name(What::Resource, &resource.uri, value),
            },
            Self::Completion(_) => completion::completion_of(value.as_ref(), completed),
        }
    }
}
