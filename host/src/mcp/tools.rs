//! `tools/list` and `tools/call`.

use std::pin::pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

use super::handler::{Host, stateless};
use super::relay::Relay;
use crate::roster::{Context, Server, Snapshot, names};

/// Begins the result of a list in the stateless era: complete, stale at once, and
/// for nobody else, which is what rmcp says of a list that does not say itself.
const STATELESS_LIST: &str =
    r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":"#;

/// Begins the result of a list in the legacy era.
const LEGACY_LIST: &str = r#"{"tools":"#;

impl Host {
    /// All tools, on one page, because many clients never ask for a second one.
    pub(super) fn list_tools(
        &self,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        match params.as_ref().and_then(|params| params.get("cursor")) {
            None | Some(Value::Null) => {}
            Some(cursor) => {
                return Err(ErrorData::invalid_params(
                    format!("unknown cursor `{cursor}`: all tools are on the first page"),
                    None,
                ));
            }
        }
        let head = if stateless(context) {
            STATELESS_LIST
        } else {
            LEGACY_LIST
        };
        let mut text = String::from(head);
        self.roster.snapshot().write_list(&mut text);
        text.push('}');
        // A string: this is the result's own text (see `wire`).
        Ok(Value::String(text))
    }

    pub(super) async fn call_tool(
        &self,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let (name, arguments) = call_params(params)?;
        let snapshot = self.roster.snapshot();
        let Some(shown) = snapshot.find(&name) else {
            return Err(unknown(&name, &snapshot));
        };
        let Ok(_place) = self.in_flight.try_acquire() else {
            return Err(ErrorData::internal_error(
                format!(
                    "tool `{name}` was not called: too many calls are waiting already\n\
                     hint: wait for some of them, or cancel them"
                ),
                None,
            ));
        };
        let cancel = context.ct.child_token();
        let relay = Arc::new(Relay::new(
            context.meta.get_progress_token(),
            self.log_level(context),
        ));
        let mut call = pin!(self.roster.call(
            shown.server(),
            shown.tool(),
            arguments,
            Context {
                session: self.session,
                cancel: cancel.clone(),
                listener: relay.clone(),
            },
        ));
        let mut relaying = pin!(relay.run(&context.peer));
        let mut listening = true;
        let result = loop {
            tokio::select! {
                result = &mut call => break result,
                () = &mut relaying, if listening => listening = false,
                () = self.ending.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
            }
        };
        // What the tool has said goes out before its answer, nothing after it.
        relay.close();
        if listening {
            tokio::select! {
                () = relaying => {}
                () = context.ct.cancelled() => {}
                () = self.closed.cancelled() => {}
            }
        }
        match result {
            Ok(result) => Ok(of_era(result, stateless(context))),
            // It has gone since it was found.
            Err(error) => Err(ErrorData::invalid_params(error.to_string(), None)),
        }
    }
}

fn call_params(params: Option<Value>) -> Result<(String, Map<String, Value>), ErrorData> {
    let refuse = |message: String| Err(ErrorData::invalid_params(message, None));
    let Some(Value::Object(mut params)) = params else {
        return refuse("`tools/call` needs `params` with the `name` of a tool".into());
    };
    let name = match params.remove("name") {
        Some(Value::String(name)) => name,
        Some(other) => return refuse(format!("`name` has to be a string, not `{other}`")),
        None => return refuse("`tools/call` needs the `name` of a tool".into()),
    };
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok((name, Map::new())),
        Some(Value::Object(arguments)) => Ok((name, arguments)),
        Some(other) => {
            let kind = match other {
                Value::Array(_) => "an array",
                Value::String(_) => "a string",
                Value::Number(_) => "a number",
                _ => "a boolean",
            };
            refuse(format!(
                "`arguments` of tool `{name}` have to be an object, not {kind}"
            ))
        }
    }
}

fn unknown(name: &str, snapshot: &Snapshot) -> ErrorData {
    // A name is the agent's to choose, at any length; an answer need not repeat it.
    let mut said: String = name.chars().take(128).collect();
    if said.len() < name.len() {
        said.push('…');
    }
    let why = missing(name, snapshot)
        .or_else(|| {
            let near = names::nearest(name, snapshot.names())?;
            Some(format!("hint: did you mean `{near}`?"))
        })
        .map(|why| format!("\n{why}"))
        .unwrap_or_default();
    ErrorData::invalid_params(format!("Unknown tool: `{said}`{why}"), None)
}

/// What is wrong with the server whose tool a name would be, if its tools are
/// not listed because of that.
fn missing(name: &str, snapshot: &Snapshot) -> Option<String> {
    let servers = snapshot.servers().values();
    let of = |server: &&Arc<Server>| {
        let config = server.config();
        let begin = names::shown(&config.name, config.prefix.as_deref(), "");
        !begin.is_empty() && name.starts_with(&begin)
    };
    let server = servers
        .filter(of)
        .find(|server| server.listed().is_none())?;
    let name = &server.config().name;
    Some(match server.problem() {
        Some(problem) => format!("server `{name}` has failed: {problem}"),
        None => format!("server `{name}` is disabled\nhint: `dormouse enable {name}`"),
    })
}

/// A `CallToolResult` as its era writes it.
fn of_era(mut result: Value, stateless: bool) -> Value {
    if let Value::Object(result) = &mut result {
        let complete = result
            .get("resultType")
            .is_none_or(|kind| kind == "complete");
        if stateless && complete {
            // First, so that a reader of the stream knows what it reads.
            result.shift_insert(0, "resultType".into(), "complete".into());
        } else if complete {
            result.shift_remove("resultType");
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_say_what_their_era_says() {
        let result = json!({"content": [], "x-odd": 1});
        let stateless = of_era(result.clone(), true).to_string();
        assert_eq!(
            stateless,
            r#"{"resultType":"complete","content":[],"x-odd":1}"#
        );
        assert_eq!(of_era(result.clone(), false), result);
        // An adapter may pass on what its upstream says of another era.
        let modern = json!({"content": [], "resultType": "complete"});
        assert_eq!(
            of_era(modern.clone(), true).to_string(),
            r#"{"resultType":"complete","content":[]}"#
        );
        assert_eq!(of_era(modern, false), json!({"content": []}));
    }

    #[test]
    fn arguments_are_an_object_or_none() {
        let (name, arguments) = call_params(Some(json!({"name": "t"}))).unwrap();
        assert_eq!((name.as_str(), arguments.len()), ("t", 0));
        assert!(call_params(Some(json!({"name": "t", "arguments": null}))).is_ok());
        for bad in [
            json!({"name": "t", "arguments": []}),
            json!({"name": "t", "arguments": "{}"}),
            json!({"name": "t", "arguments": 1}),
            json!({"name": 1}),
            json!({}),
        ] {
            assert_eq!(call_params(Some(bad)).unwrap_err().code.0, -32602);
        }
        assert_eq!(call_params(None).unwrap_err().code.0, -32602);
    }

    #[test]
    fn long_names_are_not_repeated_whole() {
        let error = unknown(&"ä".repeat(10_000), &Snapshot::default());
        assert!(error.message.len() < 400);
    }
}
