//! `tools/list` and `tools/call`.

mod listed;
mod unknown_tool;

use std::borrow::Cow;

use dormouse_catalog::ListedTool;
use dormouse_policy::exposure::ToolAccess;
use dormouse_protocol::{Answer, Era};
use rmcp::model::ErrorCode;
use serde_json::{Map, Value};

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
        params: &Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let snapshot = self.snapshot();
        let (listed, client) = self.listed_by(context);
        listed.note(&client, &snapshot);
        listed.note_own(self.profile.as_deref(), &snapshot);
        list("tools", params, context, |text| {
            self.write_tools(&snapshot, context, text);
            if trust_tool::is_offered(context, &snapshot) {
                trust_tool::append(text);
            }
        })
    }

    pub(in crate::mcp) async fn call_tool(
        &self,
        params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let call = NamedParams::take(params, &context.request.original, "tools/call", "tool")?;
        let snapshot = self.snapshot();
        if call.name == trust_tool::NAME && trust_tool::is_offered(context, &snapshot) {
            return self.call_trust_tool(call, context).await;
        }
        let may_defer = snapshot.may_defer();
        let meta_tool = may_defer.then(|| MetaTool::named(&call.name)).flatten();
        let answer = match meta_tool {
            None => return self.call_server_tool(call, None, context).await,
            Some(MetaTool::CallTool(access)) => {
                match CallArguments::take(
                    &call.name,
                    call.arguments.values,
                    &context.request.original,
                ) {
                    Ok(inner) => {
                        let call = NamedParams {
                            name: inner.name,
                            arguments: inner.arguments,
                            continued: call.continued,
                        };
                        return self.call_server_tool(call, Some(access), context).await;
                    }
                    Err(why) => failed(why),
                }
            }
            Some(meta_tool) => {
                // Those that find and load tools tell of some that were not listed.
                let (listed, _) = self.listed_by(context);
                listed.note_own(self.profile.as_deref(), &snapshot);
                let arguments = &call.arguments.values;
                self.answer_meta_tool(meta_tool, arguments, &snapshot, context)
                    .await
            }
        };
        Ok(called(answer, context.era()))
    }

    /// Asks the user to trust the project, and returns the result of the tool that asks for it.
    async fn call_trust_tool(
        &self,
        call: NamedParams,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let request = PluginRequest {
            method: "tools/call",
            key: call.name,
            server: String::new(),
            arguments: call.arguments,
        };
        let asked = self.carry_out(
            request,
            call.continued,
            context,
            |roster, _, call| async move { Ok(roster.ask_to_trust(call).await.into()) },
        );
        Ok(called(asked.await?, context.era()))
    }

    /// Calls a tool of a server: by its name, or by a tool of Dormouse's own that is for this access.
    async fn call_server_tool(
        &self,
        call: NamedParams,
        called_as: Option<ToolAccess>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let NamedParams {
            name,
            mut arguments,
            continued,
        } = call;
        let refused = |why: String| Ok(called(failed(why), context.era()));
        let snapshot = self.snapshot();
        let read = self.session.is_some().then_some(&self.pages);
        let (listed, client) = self.listed_by(context);
        let shown = snapshot.find(&name);
        // An agent means what it is shown, but for what a project has put in the way of a page.
        let shown = match shown.filter(|shown| !snapshot.is_of_project(shown.server())) {
            None => pages::meant_tool(&name, shown, read, &self.common.roster, &snapshot, listed),
            of_user => of_user,
        };
        // A session that still lists the tool that connects a server calls that, and nothing else.
        let discovered = match shown {
            None => snapshot.discovered(&name),
            Some(_) => None,
        };
        // A call can outlive the listing of its tool: while its user is asked whether
        // the tool may be what it has become, it is not shown.
        let Some((server, tool)) = shown
            .map(|shown| (shown.server(), shown.tool()))
            .or(discovered)
            .or_else(|| snapshot.hidden(&name))
        else {
            let error = unknown(&name, &snapshot);
            return match called_as {
                Some(_) => refused(error.message.into_owned()),
                None => Err(error),
            };
        };
        let profile = self.profile.as_deref();
        let is_discover = discovered.is_some() || shown.is_some_and(ShownTool::is_discover);
        if is_discover {
            listed.note_discover(profile, &name);
        } else if let Some(why) = listed.taken_from_dormouse(profile, &name, server) {
            return refused(why);
        }
        // What a tool may do that waits for its user is not known before they have seen it.
        let wrong = called_as.and_then(|access| match shown {
            Some(shown) => wrong_tool(shown, access),
            None if discovered.is_some() => None,
            None => unknown_access(&name, access),
        });
        if let Some(why) = wrong {
            return refused(why);
        }
        let declared = shown.and_then(ShownTool::declared);
        // Nobody is asked about a call that would fail at once.
        if snapshot.asks_about_calls(server)
            && shown.is_some_and(ShownTool::is_of_plugin)
            && let Some(declared) = declared
            && let object = declared.object(false).get()
            && let checks = &self.common.schema_checks
            && let Some(why) = unfit(checks, server, object, &arguments.values).await
        {
            return refused(why);
        }
        if declared.is_some_and(ListedTool::is_typed) {
            // A function of a component takes values.
            arguments.text = None;
        } else if called_as.is_none() {
            // Of one that is called by another, they have been taken from the arguments of that.
            arguments.text = context.request.original.object("arguments");
        }
        // Whoever calls by another tool may not have seen the schema.
        let unseen = called_as.zip(declared).map(|(_, declared)| {
            let object = declared.object(context.era() == Era::Stateless).get();
            (object.to_owned(), arguments.values.clone())
        });
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let request = PluginRequest {
            method: "tools/call",
            key: name,
            server: server.clone(),
            arguments,
        };
        let called_tool = tool.clone();
        let result = self
            .carry_out(
                request,
                continued,
                context,
                move |roster, request, call| async move {
                    let agent_call = AgentCall {
                        name: request.key,
                        arguments: request.arguments,
                        called_as,
                        is_discover,
                    };
                    let answer = roster
                        .call_for_agent(&request.server, &called_tool, agent_call, call)
                        .await;
                    answer.map_err(|refused| match refused {
                        // It has gone since it was found.
                        OfferRefusal::NotFound(why) => ErrorObject::invalid_params(why),
                        refused => refusal(refused),
                    })
                },
            )
            .await;
        let result = match (result, &unseen) {
            // Whoever has called it by another tool reads no errors of the protocol.
            (Err(error), Some(_)) if error.code == ErrorCode::INVALID_PARAMS => {
                failed(error.message.into_owned())
            }
            (result, _) => result?,
        };
        let result = compatibility::result(result, context.unknown_content);
        let result = called(result, context.era());
        if let Some((object, arguments)) = unseen {
            let checks = &self.common.schema_checks;
            return Ok(with_schema(checks, &server, result, &object, &arguments).await);
        }
        let tool = CalledTool {
            server: &server,
            name: &tool,
            era: context.era(),
            client: &client,
        };
        // The call may have changed what is listed.
        let (checks, snapshot) = (&self.common.schema_checks, self.snapshot());
        Ok(listed.result(result, tool, &snapshot, checks).await)
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
