//! `tools/list` and `tools/call`.

mod listed;

use std::borrow::Cow;
use std::sync::Arc;

use dormouse_catalog::{ListedTool, What};
use dormouse_protocol::{Answer, Era};
use rmcp::model::ErrorCode;
use serde_json::Value;

use super::pages;
use super::result::{called, list};
use super::trust_tool;
use crate::mcp::calls::plugin_request::{NamedParams, PluginRequest};
use crate::mcp::client::compatibility;
use crate::mcp::exposure::{
    CallArguments, MetaTool, failed, unknown_access, with_schema, wrong_access,
};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, refusal};
use crate::roster::{Refusal, Server, Shown, Snapshot, names};
use crate::store::Gated;
use listed::CalledTool;
pub(in crate::mcp) use listed::ListedTools;

impl Host {
    pub(in crate::mcp) fn list_tools(
        &self,
        params: Option<&Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let snapshot = self.snapshot();
        let (listed, client) = self.listed_by(context);
        listed.note(&client, &snapshot);
        list("tools", params, context, |text| {
            self.write_tools(&snapshot, context, text);
            if trust_tool::is_offered(context, &snapshot) {
                trust_tool::append(text);
            }
        })
    }

    pub(in crate::mcp) async fn call_tool(
        &self,
        params: Option<Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let NamedParams {
            mut name,
            mut arguments,
            continued,
        } = NamedParams::take(params, &context.original, "tools/call", "tool")?;
        let snapshot = self.snapshot();
        if name == trust_tool::NAME && trust_tool::is_offered(context, &snapshot) {
            let order = PluginRequest {
                method: "tools/call",
                key: name,
                server: String::new(),
                arguments,
            };
            let asked = self.carry_out(order, continued, context, |roster, _, call| async move {
                Ok(roster.ask_to_trust(call).await.into())
            });
            return Ok(called(asked.await?, context.era()));
        }
        // The kind of tool that it is called as, where it is called by another.
        let mut called_as = None;
        if snapshot.may_defer()
            && let Some(meta_tool) = MetaTool::named(&name)
        {
            let MetaTool::CallTool(access) = meta_tool else {
                let answer =
                    self.answer_meta_tool(meta_tool, &arguments.values, &snapshot, context);
                return Ok(called(answer.await, context.era()));
            };
            match CallArguments::take(&name, arguments.values, &context.original) {
                Ok(inner) => (name, arguments) = (inner.name, inner.arguments),
                Err(why) => return Ok(called(failed(why), context.era())),
            }
            called_as = Some(access);
        }
        let read = self.session.is_some().then_some(&self.pages);
        let (listed, client) = self.listed_by(context);
        let shown = pages::meant_tool(&name, read, &self.common.roster, &snapshot, listed);
        // A call can outlive the listing of its tool: while its user is asked whether
        // the tool may be what it has become, it is not shown.
        let Some((server, tool)) = shown
            .map(|shown| (shown.server(), shown.tool()))
            .or_else(|| snapshot.hidden(&name))
        else {
            let error = unknown(&name, &snapshot);
            return match called_as {
                Some(_) => Ok(called(failed(error.message.into_owned()), context.era())),
                None => Err(error),
            };
        };
        // What a tool may do that waits for its user is not known before they have seen it.
        let wrong = called_as.and_then(|access| match shown {
            Some(shown) => wrong_access(shown, access),
            None => unknown_access(&name, access),
        });
        if let Some(why) = wrong {
            return Ok(called(failed(why), context.era()));
        }
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let typed = shown
            .and_then(Shown::declared)
            .is_some_and(ListedTool::is_typed);
        if typed {
            arguments.text = None;
        } else if called_as.is_none() {
            arguments.text = context.original.object("arguments");
        }
        let object = shown.and_then(Shown::declared);
        let deferred = called_as.zip(object).map(|(_, declared)| {
            let object = declared.object(context.era() == Era::Stateless).get();
            (object.to_owned(), arguments.values.clone())
        });
        let order = PluginRequest {
            method: "tools/call",
            key: name,
            server,
            arguments,
        };
        let (of_server, of_tool) = (order.server.clone(), tool.clone());
        let result = self
            .carry_out(
                order,
                continued,
                context,
                |roster, order, call| async move {
                    roster
                        .call(&order.server, &tool, order.arguments, call)
                        .await
                        .map_err(|refused| match refused {
                            // It has gone since it was found.
                            Refusal::NotFound(why) => ErrorObject::invalid_params(why),
                            refused => refusal(refused),
                        })
                },
            )
            .await;
        let result = match (result, &deferred) {
            // Whoever has called it by another tool reads no errors of the protocol.
            (Err(error), Some(_)) if error.code == ErrorCode::INVALID_PARAMS => {
                failed(error.message.into_owned())
            }
            (result, _) => result?,
        };
        let result = compatibility::result(result, context.unknown_content);
        let result = called(result, context.era());
        if let Some((object, arguments)) = deferred {
            return Ok(with_schema(result, &object, &arguments));
        }
        let tool = CalledTool {
            server: &of_server,
            name: &of_tool,
            era: context.era(),
            client: &client,
        };
        let snapshot = self.snapshot();
        Ok(listed.result(result, tool, &snapshot))
    }

    /// Returns the record of the listed tools for the agent of a request, and its name there.
    fn listed_by<'a>(&'a self, context: &'a RequestContext<'_>) -> (&'a ListedTools, Cow<'a, str>) {
        if self.lasting || context.era() == Era::Handshake {
            return (&self.listed, Cow::Borrowed(""));
        }
        // It belongs to no session, whoever answers it.
        let client = match &self.profile {
            None => Cow::Borrowed(context.client.as_str()),
            // What it lists is what the profile has.
            Some(profile) => Cow::Owned(format!("{profile} {}", context.client)),
        };
        (&self.common.listed_without_session, client)
    }
}

fn unknown(name: &str, snapshot: &Snapshot) -> ErrorObject {
    // A name is the agent's to choose, at any length; an answer need not repeat it.
    let mut said: String = name.chars().take(128).collect();
    if said.len() < name.len() {
        said.push('…');
    }
    let near = names::nearest(name, snapshot.names());
    let near = near.map(|near| format!("hint: did you mean `{near}`?"));
    let hidden = snapshot.hidden_by_rule(name).map(|(tool, why)| {
        format!(
            "server `{}` has it, and it is not shown: {why}",
            tool.server()
        )
    });
    let why = hidden
        .or_else(|| missing(name, snapshot))
        .or_else(|| not_offered(name, snapshot, near.as_deref()))
        .or_else(|| near.clone())
        .or_else(|| Some(snapshot.untrusted()?.hint()))
        .map(|why| format!("\n{why}"))
        .unwrap_or_default();
    ErrorObject::invalid_params(format!("Unknown tool: `{said}`{why}"))
}

/// Returns the fault of the server whose tool a name would be, if its tools are not listed because
/// of that.
fn missing(name: &str, snapshot: &Snapshot) -> Option<String> {
    if let Some(why) = not_shown(name, snapshot) {
        return Some(why);
    }
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
    let why = match (server.problem(), server.switched_off()) {
        (Some(problem), _) => format!("has failed: {problem}"),
        (None, Some(state)) => format!("is {state}"),
        (None, None) => "has nothing to list".to_owned(),
    };
    Some(format!("server `{name}` {why}"))
}

/// Returns the reason for which the server whose tool a name would be does not have it, if that
/// server's tools are listed, and a hint: at the name that is `near`, where that may be meant.
fn not_offered(name: &str, snapshot: &Snapshot, near: Option<&str>) -> Option<String> {
    let servers = || snapshot.servers().values();
    let shown = |server: &Server, tool: &str| {
        let config = server.config();
        names::shown(&config.name, config.prefix.as_deref(), tool)
    };
    let of = |server: &Arc<Server>| format!("server `{}`", server.config().name);
    let is_gone = |server: &&Arc<Server>| {
        let mut gone = server.gone();
        gone.any(|(kind, tool)| kind == Gated::Tool && shown(server, tool) == name)
    };
    let with_hint = |server: &Arc<Server>, why: &str| {
        let name = &server.config().name;
        let usual = format!("hint: `dormouse tools {name}` lists what it has");
        let hint = near.unwrap_or(&usual);
        format!("{} {why}\n{hint}", of(server))
    };
    if let Some(server) = servers().find(is_gone) {
        return Some(with_hint(server, "no longer offers it"));
    }
    let left_out = servers().find_map(|server| {
        let mut left_out = server.left_out();
        let tool = left_out.find(|tool| shown(server, tool) == name)?;
        Some(format!("{} {}", of(server), server.why_left_out(tool)))
    });
    if left_out.is_some() {
        return left_out;
    }
    let is_of = |server: &&Arc<Server>| {
        let begin = shown(server, "");
        server.listed().is_some() && !begin.is_empty() && name.starts_with(&begin)
    };
    let server = servers().find(is_of)?;
    Some(match server.reachable() {
        Err(why) if server.is_unknown() => {
            format!("nothing is known yet of what {} offers\n{why}", of(server))
        }
        _ => with_hint(server, "offers no tool of that name"),
    })
}

/// Returns the reason for which a tool of that name is not shown, if there is one all the same.
fn not_shown(name: &str, snapshot: &Snapshot) -> Option<String> {
    snapshot.servers().values().find_map(|server| {
        let config = server.config();
        let shown = |own: &str| names::shown(&config.name, config.prefix.as_deref(), own);
        let mut odd = server.odd().iter();
        let found =
            odd.find(|odd| odd.what == What::Tool && !odd.shown && shown(&odd.name) == name)?;
        Some(format!("server `{}`: {found}", config.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_not_repeated_whole() {
        let error = unknown(&"ä".repeat(10_000), &Snapshot::default());
        assert!(error.message.len() < 400);
    }
}
