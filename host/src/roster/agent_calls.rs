//! Calls of tools by agents, judged by what the tools may do as it is known when they run.

use std::sync::Arc;

use dormouse_catalog::ListedTool;
use dormouse_policy::exposure::ToolAccess;
use dormouse_protocol::Answer;
use dormouse_runtime::Arguments;

use super::call_under_rules::CallUnderRules;
use super::error::tool_error;
use super::{CallContext, CallRefusal, OfferRefusal, Roster};

/// Call of a tool by an agent.
#[derive(Debug)]
pub struct AgentCall<'a> {
    /// The name of the tool's server.
    pub server: &'a str,
    /// The server's name for the tool.
    pub tool: &'a str,
    /// The agent's name for the tool.
    pub name: &'a str,
    /// Arguments.
    pub arguments: Arguments,
    /// Access that the tool may have at most, because it is called by one of Dormouse's own that
    /// says no more of itself.
    pub called_as: Option<ToolAccess>,
    /// Whether it is Dormouse's own tool that connects the server, as the agent was told.
    pub is_discover: bool,
}

/// Returns the reason why a tool is not called by the tool that was used for it: clients decide by
/// that one's hints what their user is asked.
#[must_use]
pub fn wrong_access(name: &str, needed: ToolAccess, used: ToolAccess) -> CallRefusal {
    let does = match needed {
        ToolAccess::Read => "only reads",
        ToolAccess::Write => "changes something, and destroys nothing",
        ToolAccess::Destructive => "may change or remove anything",
    };
    CallRefusal::new(
        format!("`{name}`"),
        format!("it {does}, and `{}` is not for that", used.call_tool()),
        Some(&format!("call it by `{}`", needed.call_tool())),
    )
}

/// Returns the reason why a tool is not called by one of Dormouse's own, which models use.
#[must_use]
pub fn not_for_models(name: &str) -> CallRefusal {
    CallRefusal::new(
        format!("`{name}`"),
        "its server declares that it is not for models",
        Some("the server's own page calls it, or a person by `dormouse call`"),
    )
}

impl Roster {
    /// Calls a tool as [`Self::call`] does, for an agent: not by a tool of Dormouse's own that is for
    /// less than the tool may do, and not before its user has agreed where `confirm` has them asked.
    /// What the tool may do is judged as its server says now: one that sleeps is started before, and
    /// its user has approved what has changed of it, so that nobody is asked about what a tool was.
    ///
    /// # Errors
    /// The errors of [`Self::call`].
    pub async fn call_for_agent(
        &self,
        call: AgentCall<'_>,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let AgentCall { server, tool, .. } = call;
        let found = self.current(server)?;
        let ruled = Arc::new(CallUnderRules::of_agent(&call, &context));
        if call.is_discover && !found.is_discover(tool) {
            return Ok(tool_error(ruled.has_changed().to_string()).into());
        }
        // Nothing is started, and nobody asked, for what no agent may call.
        self.check_rules(&found, tool, ruled.profile())?;
        // One of Dormouse's own only reads, whatever an upstream has under that name.
        let is_judged = call.called_as.is_some() || self.snapshot().asks_about_calls(server);
        if is_judged
            && !found.is_discover(tool)
            && let Err(why) = self.judge(&ruled, &context).await?
        {
            return Ok(tool_error(why).into());
        }
        self.call_under_rules(ruled, call.arguments, context).await
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
            if let Err(why) = found.connect(self, context.clone()).await {
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
}
