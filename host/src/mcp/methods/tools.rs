//! `tools/list` and `tools/call`.

mod listed;
mod unknown_tool;

use std::borrow::Cow;

use dormouse_catalog::ListedTool;
use dormouse_protocol::{Answer, Era};
use rmcp::model::ErrorCode;
use serde_json::Value;

use super::pages;
use super::result::{called, list};
use super::trust_tool;
use crate::mcp::calls::plugin_request::{NamedParams, PluginRequest};
use crate::mcp::client::compatibility;
use crate::mcp::exposure::{
    CallArguments, MetaTool, failed, unfit, unknown_access, with_schema, wrong_tool,
};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, refusal};
use crate::roster::{AgentCall, OfferRefusal, ShownTool};
use listed::CalledTool;
pub(in crate::mcp) use listed::ListedTools;
use unknown_tool::unknown;

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
            Some(shown) => wrong_tool(shown, access),
            None => unknown_access(&name, access),
        });
        if let Some(why) = wrong {
            return Ok(called(failed(why), context.era()));
        }
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let typed = shown
            .and_then(ShownTool::declared)
            .is_some_and(ListedTool::is_typed);
        if typed {
            arguments.text = None;
        } else if called_as.is_none() {
            arguments.text = context.original.object("arguments");
        }
        let object = shown.and_then(ShownTool::declared);
        let deferred = called_as.zip(object).map(|(_, declared)| {
            let object = declared.object(context.era() == Era::Stateless).get();
            (object.to_owned(), arguments.values.clone())
        });
        // Nobody is asked about a call that would fail at once.
        if snapshot.asks_about_calls(&server)
            && let Some(shown) = shown.filter(|shown| shown.is_of_plugin())
            && let Some(declared) = shown.declared()
            && let Some(why) = unfit(declared.object(false).get(), &arguments.values)
        {
            return Ok(called(failed(why), context.era()));
        }
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
                move |roster, order, call| async move {
                    let agent_call = AgentCall {
                        server: &order.server,
                        tool: &tool,
                        name: &order.key,
                        arguments: order.arguments,
                        called_as,
                    };
                    let answer = roster.call_for_agent(agent_call, call).await;
                    answer.map_err(|refused| match refused {
                        // It has gone since it was found.
                        OfferRefusal::NotFound(why) => ErrorObject::invalid_params(why),
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
