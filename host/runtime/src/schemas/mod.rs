//! Schemas of a tool, and checks with them: of arguments before anything is instantiated, and of an
//! adapter's answers before they are passed on.

mod compiled_schemas;

use std::fmt::Write as _;
use std::sync::Arc;

use dormouse_catalog::What;
use dormouse_protocol::Answer;
use dormouse_text::visible::{line_beginning, short_name};
use dormouse_upstream::without_blocking;
use serde_json::{Map, Value};

pub(crate) use compiled_schemas::forget as forget_compiled;

use self::compiled_schemas::SchemaId;
use crate::error::Cause;
use crate::memory::ServerMemory;

/// Most problems that are listed: enough to correct a call in one go, few enough not to fill a
/// model's context with a list that it caused itself.
const LISTED: usize = 20;

/// Most corrections of one answer that are logged one by one.
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

/// Returns an adapter's answer in a form that clients can read. Invalid hints are left out; any
/// other fault is the plugin's failure. `key` is the name or URI that was requested.
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

    /// Returns all problems of a value, with JSON pointers; empty where it matches. `which` is the
    /// schema's name.
    fn problems(
        &self,
        which: &'static str,
        value: &Value,
        server: &Arc<ServerMemory>,
    ) -> Result<String, Cause> {
        let found = compiled_schemas::with(&self.id, &self.schema, server, |compiled| {
            let compiled = compiled.as_ref().map_err(|error| format!("it {error}"))?;
            let length = match compiled.takes_long(value) {
                true => usize::MAX,
                false => 0,
            };
            without_blocking(length, || compiled.problems(value, LISTED))
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
    /// Takes the `inputSchema` of a tool, and its `outputSchema` where its answers have to be
    /// checked with one.
    #[must_use]
    pub fn new(input: Value, output: Option<Value>) -> Self {
        Self {
            input: Schema::new(input),
            output: output.map(Schema::new),
        }
    }

    /// Checks whether [checking](Self::check) the arguments may take long: their schema has to be
    /// compiled, or takes many steps for them.
    pub(super) fn check_takes_long(
        &self,
        arguments: &mut Map<String, Value>,
        server: &ServerMemory,
    ) -> bool {
        let Some(compiled) = compiled_schemas::kept(&self.input.id, server) else {
            return true;
        };
        let Ok(compiled) = compiled.as_ref() else {
            return false;
        };
        let value = Value::Object(std::mem::take(arguments));
        let takes_long = compiled.takes_long(&value);
        if let Value::Object(value) = value {
            *arguments = value;
        }
        takes_long
    }

    /// Checks whether there is a schema for answers.
    pub(super) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Checks the arguments. The error lists all problems at once, with the signature to correct
    /// them by.
    pub(super) fn check(
        &self,
        tool: &str,
        arguments: &mut Map<String, Value>,
        server: &Arc<ServerMemory>,
    ) -> Result<(), Cause> {
        // The arguments may be large, and are one value only during the check.
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

    /// Returns the error for a problem found elsewhere, with the same signature.
    pub(super) fn problem(&self, tool: &str, problems: impl Into<String>) -> Cause {
        Cause::Arguments {
            problems: problems.into(),
            signature: dormouse_wit::signature::compact(tool, &self.input.schema, None),
        }
    }

    /// Returns an adapter's answer to a tool call in a form that clients can [read](readable),
    /// checked with the tool's output schema.
    pub(super) fn answer(
        &self,
        tool: &str,
        answer: String,
        server: &Arc<ServerMemory>,
    ) -> Result<Answer, Cause> {
        let answer = readable(What::Tool, tool, answer)?;
        let failed = answer.is_error();
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use serde_json::json;
    use tokio::task::yield_now;

    use super::*;
    use crate::memory::HostMemory;

    /// Checks arguments for long on the only worker of the runtime, until another task has gone on
    /// meanwhile.
    async fn check_for_long() {
        let schema = json!({ "additionalProperties": { "enum": (0..40).collect::<Vec<_>>() } });
        let schemas = Schemas::new(schema, None);
        let server = ServerMemory::new(HostMemory::new(1 << 30));
        let values = (0..5_000).map(|index| (index.to_string(), json!(39)));
        let mut arguments: Map<_, _> = values.collect();
        assert!(schemas.check_takes_long(&mut arguments, &server));
        // Compiles the schema.
        schemas.check("t", &mut arguments, &server).unwrap();
        assert!(schemas.check_takes_long(&mut arguments, &server));
        let mut few: Map<_, _> = [("a".to_owned(), json!(39))].into_iter().collect();
        assert!(!schemas.check_takes_long(&mut few, &server));
        let polls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&polls);
        let other = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
            }
        });
        // Back to the worker.
        yield_now().await;
        let went_on = (0..200).any(|_| {
            let before = polls.load(Ordering::Relaxed);
            schemas.check("t", &mut arguments, &server).unwrap();
            polls.load(Ordering::Relaxed) > before
        });
        other.abort();
        assert!(went_on);
        assert_eq!(arguments.len(), 5_000);
    }

    #[test]
    fn others_go_on_while_a_value_is_checked_for_long() {
        let mut workers = tokio::runtime::Builder::new_multi_thread();
        let runtime = workers.worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async { tokio::spawn(check_for_long()).await.unwrap() });
    }
}
