//! Calls of tools.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_policy::exposure::HiddenBy;
use dormouse_protocol::{Answer, attribution};
use dormouse_runtime::Arguments;
use serde_json::{Value, json};

use super::all_tool_names::AllToolNames;
use super::approval::JudgedTool;
use super::call_under_rules::CallUnderRules;
use super::error::tool_error;
use super::server::signatures;
use super::{CallContext, NoSuchTool, OfferRefusal, Roster, Server};

/// Returns the text for a model beside the refusal of a tool that it is shown as its user has
/// approved it, and whose definition has changed since. The model may have called it by the old
/// definition.
fn definition_has_changed(server: &str) -> String {
    format!(
        "[dormouse] The definition of this tool has changed since its user approved it: \
         `dormouse approve {server}` shows how, and allows it."
    )
}

/// Returns the text for a model beside the refusal of a tool whose old definition a component
/// declares.
fn component_is_outdated(server: &str) -> String {
    format!(
        "[dormouse] The definition of this tool has changed since the component of this server was \
         made, and it may take other arguments than you were told: `dormouse diff {server}` says \
         what to do."
    )
}

impl Roster {
    /// Calls a tool by the names of its server and of itself. The answer is an MCP
    /// `CallToolResult`, also for errors inside the tool (`isError`).
    ///
    /// # Errors
    /// There is no such tool to call, or the upstream behind it answers with a
    /// JSON-RPC error.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let call = Arc::new(CallUnderRules::of_person((server, tool), &context));
        self.call_under_rules(call, arguments, context).await
    }

    /// Makes a call as [`Self::call`] does, as long as it may go on.
    ///
    /// # Errors
    /// The errors of [`Self::call`].
    pub(super) async fn call_under_rules(
        &self,
        call: Arc<CallUnderRules>,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let (server, tool) = (&*call.server, &*call.tool);
        let mut found = self.current(server)?;
        self.check_rules(&found, tool, call.profile())?;
        if found.is_discover(tool) {
            let profile = call.profile();
            return Ok(self.discover(&found, profile, context).await.into());
        }
        if found.hidden().any(|hidden| hidden == tool) {
            if let Err(why) = self.admit_tool(server, tool, &context.listener).await {
                return Ok(tool_error(why).into());
            }
            found = self.server(server)?;
        }
        self.called(&found, &call, arguments, context).await
    }

    /// Checks that no rule of exposure forbids the calls of a tool, whoever calls it, nor the profile
    /// that an agent has named: agents are not even shown it, and a person at a command line has written
    /// the rule.
    pub(super) fn check_rules(
        &self,
        server: &Server,
        tool: &str,
        profile: Option<&str>,
    ) -> Result<(), NoSuchTool> {
        let config = server.config();
        let view = self.view(profile);
        let rules = view.rules();
        let names = AllToolNames::of(config, tool, &rules.deny);
        // A profile that is not there any more has no rules, and no server.
        let is_there = profile.is_none() || view.servers().contains_key(&config.name);
        let hidden = rules.hides(names.named(), config.expose);
        match hidden.or_else(|| (!is_there).then_some(HiddenBy::Profile)) {
            None => Ok(()),
            Some(why) => Err(NoSuchTool::HiddenByRule {
                server: config.name.clone(),
                tool: tool.to_owned(),
                why,
            }),
        }
    }

    async fn called(
        &self,
        server: &Arc<Server>,
        call: &Arc<CallUnderRules>,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let tool = &*call.tool;
        let server = match self.with_inputs(server, &context).await {
            Ok(server) => server,
            Err(why) => return Ok(tool_error(why).into()),
        };
        // After all that a person may have been waited for.
        if let Err(why) = self.may_go_on(call, &context).await? {
            return Ok(tool_error(why.to_string()).into());
        }
        let judged = call.judged();
        if judged.is_some_and(|judged| judged != JudgedTool::of(Some(&server), tool)) {
            return Ok(tool_error(call.has_changed().to_string()).into());
        }
        let name = &server.config().name;
        let condition = Some(self.condition(call, &context));
        let answer = server.call(self, tool, arguments, context, condition).await;
        // As it is known to be now: the call may have connected the server. Schemas are compared
        // for that, so it is asked beside a refusal only.
        let is_another = || {
            let found = self.server(name).ok()?;
            if found.takes_other_arguments(tool) {
                return Some(definition_has_changed(name));
            }
            let is_outdated = found.declares_other_arguments(tool);
            is_outdated.then(|| component_is_outdated(name))
        };
        let mut answer = match answer {
            Err(OfferRefusal::Upstream {
                code,
                mut message,
                data,
            }) => {
                if let Some(told) = is_another() {
                    message.push('\n');
                    message.push_str(&told);
                }
                return Err(OfferRefusal::Upstream {
                    code,
                    message,
                    data,
                });
            }
            answer => answer?,
        };
        if answer.is_error()
            && let Some(told) = is_another()
        {
            answer.push_text(&told);
        }
        Ok(self.with_shown_uris(&server, None, answer))
    }

    /// Returns a server as it is on disk now: a replaced file is noticed even without a
    /// notification.
    pub(super) fn current(&self, server: &str) -> Result<Arc<Server>, OfferRefusal> {
        let found = self.server(server)?;
        if found.is_current() {
            return Ok(found);
        }
        self.refresh(None);
        Ok(self.server(server)?)
    }

    /// Connects a server's upstream if nothing is known of it, and returns a text on its tools: of one
    /// that is known, by what is known. What rules of exposure hide from an agent of that profile, or of
    /// none, it does not tell.
    pub(super) async fn discover(
        &self,
        server: &Arc<Server>,
        profile: Option<&str>,
        context: CallContext,
    ) -> Value {
        let name = &server.config().name;
        if server.is_unknown()
            && let Err(why) = server.connect(self, context).await
        {
            return tool_error(format!("server `{name}` could not be connected: {why}"));
        }
        if let Some(why) = self.not_kept(name) {
            return tool_error(why);
        }
        // As it is now: the server has been connected since, and a profile may have become another one.
        let view = self.view(profile);
        let Some(found) = view.servers().get(name) else {
            return tool_error(format!("server `{name}` is gone"));
        };
        // By the names under which agents see them: others' and Dormouse's own are no names of it.
        let tools = view.tools_for_models();
        let tools = tools.filter(|tool| tool.server() == name && !found.is_discover(tool.tool()));
        let names: HashMap<&str, &str> = tools.map(|tool| (tool.tool(), &*tool.name)).collect();
        let shown = |tool: &str| names.get(tool).map(|name| (*name).to_owned());
        let mut text = match found.listed() {
            Some(listing) => signatures(name, listing, shown),
            None => format!("server `{name}` is disabled"),
        };
        let mut instructions = view.instructions();
        if let Some((_, instructions)) = instructions.find(|(server, _)| *server == name.as_str()) {
            text.push_str("\n\nIts instructions:\n");
            text.push_str(&attribution::message(name, instructions));
        }
        json!({ "content": [{ "type": "text", "text": text }] })
    }
}
