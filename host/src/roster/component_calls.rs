//! Calls of tools that a component makes at the upstream that it stands in front of: each is held to what a
//! call of that tool by an agent is held to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use dormouse_config::name::SEPARATOR;
use dormouse_policy::exposure::HiddenBy;
use dormouse_runtime::{CallCondition, UpstreamCallCondition};
use dormouse_text::visible::short_name;
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::call_under_rules::CallUnderRules;
use super::{CallContext, CallRefusal, NoSuchTool, Roster, Server};

/// Request that a component answers, and for which it calls tools of its upstream.
struct ComponentRequest {
    server: String,
    /// The call of the component's own tool; none where it is asked for something else.
    call: Option<Arc<CallUnderRules>>,
    context: CallContext,
    /// Whether its user was asked about such a call, and has not agreed: a component that tries again
    /// opens no form after the other.
    has_refused: AtomicBool,
}

/// Condition on which such a call begins and goes on: its rules.
struct ConditionOfUpstreamCall {
    roster: Weak<Roster>,
    request: Arc<ComponentRequest>,
    call: Arc<CallUnderRules>,
    has_begun: Arc<AtomicBool>,
}

impl CallCondition for ConditionOfUpstreamCall {
    fn check(&self) -> BoxFuture<'static, Result<(), String>> {
        let (roster, request) = (self.roster.clone(), Arc::clone(&self.request));
        let (call, has_begun) = (Arc::clone(&self.call), Arc::clone(&self.has_begun));
        async move {
            // Where there is no roster any more, nothing is called either.
            let may = match roster.upgrade() {
                Some(roster) => roster.may_call_upstream(&request, &call).await,
                None => Ok(Err(call.has_changed())),
            };
            if has_begun.load(Ordering::Relaxed) {
                let may = may.unwrap_or_else(|why| Err(call.hidden(&why)));
                return may.map_err(|why| why.of_begun_call());
            }
            may.map_err(|why| forbidden(&call, &why))?
                .map_err(|why| why.to_string())?;
            has_begun.store(true, Ordering::Relaxed);
            Ok(())
        }
        .boxed()
    }

    fn judged_tool(&self) -> Option<String> {
        self.call.judged_tool(&self.roster)
    }
}

impl Roster {
    /// Returns the conditions of the calls that the component of a server makes of its upstream's tools for
    /// a request, which is the `call` of a tool or something else; none where the server has no component.
    pub(super) fn upstream_condition(
        &self,
        server: &Server,
        call: Option<&Arc<CallUnderRules>>,
        context: &CallContext,
    ) -> Option<UpstreamCallCondition> {
        let config = server.config();
        config.component().zip(config.bridge())?;
        let request = Arc::new(ComponentRequest {
            server: config.name.clone(),
            call: call.cloned(),
            context: context.clone(),
            has_refused: AtomicBool::new(false),
        });
        let roster = self.me.clone();
        Some(Arc::new(move |tool, arguments| {
            let names = (request.server.as_str(), tool);
            let is_for_agent = request.call.as_ref().is_none_or(|call| call.is_of_agent());
            let call =
                CallUnderRules::of_component(names, arguments, is_for_agent, &request.context);
            // Nothing is started, and nobody asked, for what it may not call.
            if let Some(roster) = roster.upgrade() {
                let checked = roster
                    .check_call(&call)
                    .map_err(|why| forbidden(&call, &why))?;
                checked.map_err(|why| why.to_string())?;
            }
            Ok(Arc::new(ConditionOfUpstreamCall {
                roster: roster.clone(),
                request: Arc::clone(&request),
                call: Arc::new(call),
                has_begun: Arc::default(),
            }))
        }))
    }

    /// Checks that a component may call a tool of its upstream for a request under the rules as they are
    /// now, and asks its user where `confirm` has them asked about such a tool: a text for the component
    /// where it may not. What they have agreed to when the agent called a tool of the same name need not be
    /// asked once more.
    ///
    /// # Errors
    /// A rule forbids it, or its server has gone.
    async fn may_call_upstream(
        &self,
        request: &ComponentRequest,
        call: &CallUnderRules,
    ) -> Result<Result<(), CallRefusal>, NoSuchTool> {
        if let Some(outer) = &request.call {
            call.take_confirmation(outer, || self.judged_tool(call.to_confirm()));
        }
        if let Err(why) = self.check_call(call)? {
            return Ok(Err(why));
        }
        if !self.needs_nobody(call) {
            if let Some(why) = self.refused_at_once(call.to_confirm(), &request.context) {
                return Ok(Err(why));
            }
            if request.has_refused.load(Ordering::Relaxed) && !call.is_refused() {
                return Ok(Err(call.refusal(REFUSED_ANOTHER, Some(HINT))));
            }
        }
        let may = self.may_go_on(call, &request.context).await?;
        if call.is_refused_after_form() {
            request.has_refused.store(true, Ordering::Relaxed);
        }
        Ok(may)
    }
}

/// Returns the text for a component on a tool that a rule does not let it call. Who has written a list of the
/// component's own tools may know of no others.
fn forbidden(call: &CallUnderRules, why: &NoSuchTool) -> String {
    let NoSuchTool::HiddenByRule { why: rule, .. } = why else {
        return why.to_string();
    };
    let list = match rule {
        HiddenBy::Allow => "`allow`",
        HiddenBy::Profile => "`tools` of the profile",
        HiddenBy::Server | HiddenBy::Deny(_) => return why.to_string(),
    };
    let (server, tool) = (&call.server, short_name(&call.tool));
    let hint = format!(
        "the component of that server calls it: write `{server}{SEPARATOR}{tool}` into {list} in \
         dormouse.toml to have it called"
    );
    call.refusal(rule.to_string(), Some(&hint)).to_string()
}

const REFUSED_ANOTHER: &str = "its user would have to be asked first, and has not agreed to another call \
     that was to be made for the same one";

const HINT: &str = "ask the user what to do before you call it again";

#[cfg(test)]
mod tests;
