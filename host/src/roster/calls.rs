//! Calls of tools.

use std::sync::Arc;

use dormouse_catalog::ListedTool;
use dormouse_policy::exposure::{HiddenBy, ToolAccess};
use dormouse_protocol::Answer;
use dormouse_runtime::Arguments;

use super::all_tool_names::AllToolNames;
use super::approval::{CallTarget, JudgedTool};
use super::call_under_rules::CallUnderRules;
use super::error::tool_error;
use super::{CallContext, NoSuchTool, OfferRefusal, Roster, Server};

/// Call of a tool by an agent, besides the names of the tool and of its server.
#[derive(Debug)]
pub struct AgentCall {
    /// The agent's name for the tool.
    pub name: String,
    /// Arguments.
    pub arguments: Arguments,
    /// Access that the tool may have at most, because it is called by one of Dormouse's own that
    /// says no more of itself.
    pub called_as: Option<ToolAccess>,
    /// Whether it is Dormouse's own tool that connects the server, as the agent was told.
    pub is_discover: bool,
}

impl AgentCall {
    /// Takes the arguments, and leaves what the agent's user is shown of them: the text alone, where
    /// there is one.
    fn take_arguments(&mut self) -> Arguments {
        let shown = match &self.arguments.text {
            Some(text) => Arguments {
                text: Some(text.clone()),
                ..Arguments::default()
            },
            None => self.arguments.clone(),
        };
        std::mem::replace(&mut self.arguments, shown)
    }
}

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

    /// Calls a tool as [`Self::call`] does, for an agent: not by a tool of Dormouse's own that is for
    /// less than the tool may do, and not before its user has agreed where `confirm` has them asked.
    /// What the tool may do is judged as its server says now: one that sleeps is started before, and
    /// its user has approved what has changed of it, so that nobody is asked about what a tool was.
    ///
    /// # Errors
    /// The errors of [`Self::call`].
    pub async fn call_for_agent(
        &self,
        server: &str,
        tool: &str,
        mut call: AgentCall,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let found = self.current(server)?;
        let arguments = call.take_arguments();
        let (called_as, is_discover) = (call.called_as, call.is_discover);
        let ruled = Arc::new(CallUnderRules::of_agent((server, tool), call, &context));
        if is_discover && !found.is_discover(tool) {
            return Ok(tool_error(ruled.has_changed().to_string()).into());
        }
        // Nothing is started, and nobody asked, for what no agent may call.
        self.check_rules(&found, CallTarget::Server, tool, ruled.profile())?;
        let is_judged = called_as.is_some() || self.snapshot().asks_about_calls(server);
        // One of Dormouse's own only reads, whatever an upstream has under that name.
        if !is_judged || found.is_discover(tool) {
            return self.call_allowed(found, ruled, arguments, context).await;
        }
        if let Err(why) = self.judge(&ruled, &context).await? {
            return Ok(tool_error(why).into());
        }
        // It may have waited for its user, or for its server.
        self.call_under_rules(ruled, arguments, context).await
    }

    /// Judges a call by its tool, once that is known: a text for the model where it is not to be made.
    async fn judge(
        &self,
        call: &CallUnderRules,
        context: &CallContext,
    ) -> Result<Result<(), String>, OfferRefusal> {
        // Nothing is started for what would be refused as it is known already.
        if let Some(why) = self.refused_at_once(call.to_confirm(), context) {
            return Ok(Err(why.to_string()));
        }
        let (server, tool) = (&call.server, &call.tool);
        if let Err(why) = self.update_tool(server, tool, context).await? {
            return Ok(Err(why));
        }
        if let Err(why) = self.check_call(call)? {
            return Ok(Err(why.to_string()));
        }
        // What is given to its plugin is no change of a tool that was judged before.
        let found = self.server(server)?;
        if let Err(why) = self.with_inputs(&found, context).await {
            return Ok(Err(why));
        }
        let may = self.may_go_on(call, context).await?;
        Ok(may.map_err(|why| why.to_string()))
    }

    /// Learns what a tool is now, and has its user approve it where that is up to them: a text for the
    /// model where it cannot be called.
    async fn update_tool(
        &self,
        server: &str,
        tool: &str,
        context: &CallContext,
    ) -> Result<Result<(), String>, OfferRefusal> {
        let mut found = self.current(server)?;
        // A function of a component's own is what the component declares of it; anything else that it
        // declares is its upstream's, and becomes more careful with that.
        let is_own = || found.declared_tool(tool).is_some_and(ListedTool::is_typed);
        if found.config().bridge().is_some() && !is_own() {
            if let Err(why) = found.connect(self, Some(tool), context.clone()).await {
                let why = format!("tool `{tool}` of server `{server}` was not called: {why}");
                return Ok(Err(why));
            }
            found = self.server(server)?;
        }
        if found.hidden().any(|hidden| hidden == tool) {
            return Ok(self.admit_tool(server, tool, &context.listener).await);
        }
        Ok(Ok(()))
    }

    /// Makes a call as [`Self::call`] does, as long as it may go on.
    ///
    /// # Errors
    /// The errors of [`Self::call`].
    async fn call_under_rules(
        &self,
        call: Arc<CallUnderRules>,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let found = self.current(&call.server)?;
        self.check_rules(&found, CallTarget::Server, &call.tool, call.profile())?;
        self.call_allowed(found, call, arguments, context).await
    }

    /// Makes a call that no rule forbids now, of a server as it is on disk now. Where anything is waited
    /// for before the tool is called, the rules are checked again.
    async fn call_allowed(
        &self,
        mut found: Arc<Server>,
        call: Arc<CallUnderRules>,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let (server, tool) = (&*call.server, &*call.tool);
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
        target: CallTarget,
        tool: &str,
        profile: Option<&str>,
    ) -> Result<(), NoSuchTool> {
        let config = server.config();
        let view = self.view(profile);
        let rules = view.rules();
        let names = AllToolNames::of(config, tool, &rules.deny);
        // A profile that is not there any more has no rules, and no server.
        let is_there = profile.is_none() || view.servers().contains_key(&config.name);
        // How agents are shown a server says nothing about what its own component calls.
        let expose = match target {
            CallTarget::Server => config.expose,
            CallTarget::Upstream => None,
        };
        let hidden = rules.hides(names.named(), expose);
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
        if judged
            .is_some_and(|judged| judged != JudgedTool::of(Some(&server), CallTarget::Server, tool))
        {
            return Ok(tool_error(call.has_changed().to_string()).into());
        }
        let name = &server.config().name;
        let condition = Some(self.condition(call, &context));
        let of_upstream = self.upstream_condition(&server, Some(call), &context);
        let answer = server
            .call(self, tool, arguments, context, condition, of_upstream)
            .await;
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
}
