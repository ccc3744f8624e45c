//! The schemas of a tool, and what is held against them: arguments before anything is
//! instantiated, and what an adapter answers before anybody hears of it.

use std::fmt::Write as _;
use std::sync::Arc;

use dormouse_catalog::What;
use dormouse_protocol::Answer;
use dormouse_text::visible::{line_beginning, short_name};
use serde_json::{Map, Value};

use super::compiled_schemas::{self, SchemaId};
use super::error::Cause;
use super::memory::ServerMemory;

/// How many problems are listed: enough to mend a call in one go, few enough not
/// to drown a model in a list that it made itself.
const LISTED: usize = 20;

/// Most things that are mended in one answer and logged one by one.
const MAX_LOGGED: usize = 3;

/// A schema, compiled when it is needed.
#[derive(Debug)]
struct Schema {
    schema: Value,
    id: SchemaId,
}

/// The schemas of a tool.
#[derive(Debug)]
pub struct Schemas {
    input: Schema,
    output: Option<Schema>,
}

/// What an adapter has answered, as clients can read it. Hints that are none are left
/// out; whatever else is wrong is the plugin's failure. `key` is what it was asked for.
pub(super) fn readable(what: What, key: &str, answer: String) -> Result<Answer, Cause> {
    let (text, odd) = dormouse_catalog::answer(what, &answer).map_err(Cause::BadResult)?;
    if !odd.is_empty() {
        let first = odd.iter().take(MAX_LOGGED);
        let first: Vec<_> = first.map(|odd| line_beginning(odd, 200)).collect();
        tracing::warn!(
            "an answer of {what} `{}` goes out without what MCP does not have, in {} places: {}",
            short_name(key),
            odd.len(),
            first.join(", ")
        );
    }
    Ok(Answer::Verbatim(text.unwrap_or(answer)))
}

impl Schema {
    fn new(schema: Value) -> Self {
        Self {
            schema,
            id: SchemaId::new(),
        }
    }

    /// Every problem that a value has with it, with JSON pointers; nothing where it
    /// fits. `which` is what the schema is called.
    fn problems(
        &self,
        which: &'static str,
        value: &Value,
        server: &Arc<ServerMemory>,
    ) -> Result<String, Cause> {
        let found = compiled_schemas::with(&self.id, &self.schema, server, |compiled| {
            let compiled = compiled.as_ref().map_err(|error| format!("it {error}"))?;
            compiled.problems(value, LISTED)
        });
        let found = found.map_err(|why| Cause::Schema { which, why })?;
        let mut problems = String::new();
        for problem in found.listed {
            let message = problem.message;
            // Writing to a string cannot fail.
            let _ = match problem.pointer.as_str() {
                "" => writeln!(problems, "- {message}"),
                pointer => writeln!(problems, "- `{pointer}`: {message}"),
            };
        }
        if found.more > 0 {
            let _ = writeln!(problems, "- and {} more", found.more);
        }
        problems.truncate(problems.trim_end().len());
        Ok(problems)
    }
}

impl Schemas {
    /// The `inputSchema` of a tool, and its `outputSchema` where it has one that its
    /// answers have to be held against.
    #[must_use]
    pub fn new(input: Value, output: Option<Value>) -> Self {
        Self {
            input: Schema::new(input),
            output: output.map(Schema::new),
        }
    }

    /// Whether the arguments can be held against them without compiling anything.
    pub(super) fn are_compiled(&self, server: &ServerMemory) -> bool {
        compiled_schemas::is_kept(&self.input.id, server)
    }

    /// Every problem of the arguments at once, and the signature to mend them by.
    pub(super) fn check(
        &self,
        tool: &str,
        arguments: &mut Map<String, Value>,
        server: &Arc<ServerMemory>,
    ) -> Result<(), Cause> {
        // They may be large, and are a value only as long as this looks at them.
        let value = Value::Object(std::mem::take(arguments));
        let problems = self.input.problems("inputSchema", &value, server);
        if let Value::Object(value) = value {
            *arguments = value;
        }
        match problems? {
            problems if problems.is_empty() => Ok(()),
            problems => Err(self.problem(tool, problems)),
        }
    }

    /// A problem found elsewhere, with the same signature.
    pub(super) fn problem(&self, tool: &str, problems: impl Into<String>) -> Cause {
        Cause::Arguments {
            problems: problems.into(),
            signature: dormouse_wit::signature::compact(tool, &self.input.schema, None),
        }
    }

    /// What an adapter has answered to a call of a tool, as clients can
    /// [read it](readable), held against the tool's output schema.
    pub(super) fn answer(
        &self,
        tool: &str,
        answer: String,
        server: &Arc<ServerMemory>,
    ) -> Result<Answer, Cause> {
        let answer = readable(What::Tool, tool, answer)?;
        let failed = answer.get("isError").as_deref() == Some(&Value::Bool(true));
        let Some(output) = self.output.as_ref().filter(|_| !failed) else {
            return Ok(answer);
        };
        let Some(content) = answer.get("structuredContent") else {
            return Err(Cause::BadResult(
                "it has no `structuredContent`, and the tool has an `outputSchema`".to_owned(),
            ));
        };
        match output.problems("outputSchema", &content, server)? {
            problems if problems.is_empty() => {}
            problems => {
                return Err(Cause::BadResult(format!(
                    "its `structuredContent` does not fit the tool's `outputSchema`:\n{problems}"
                )));
            }
        }
        drop(content);
        Ok(answer)
    }
}
