//! Call of a tool under the rules as they are whenever it goes on: calls wait for people and for
//! servers that start, and their user may write other rules meanwhile.

use std::sync::{Arc, Weak};

use dormouse_runtime::{Arguments, CallCondition};
use dormouse_text::visible::short_name;
use dormouse_upstream::without_blocking;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::value::RawValue;

use super::approval::{CallTarget, CallToConfirm, JudgedTool, unanswered};
use super::call_refusal::{not_for_models, wrong_access};
use super::{AgentCall, CallContext, CallRefusal, NoSuchTool, Roster};
use crate::store::is_for_models;

/// Call of a tool, with what decides whether it goes on.
pub(super) struct CallUnderRules {
    /// The name of the tool's server.
    pub(super) server: String,
    /// The server's name for the tool.
    pub(super) tool: String,
    target: CallTarget,
    /// The profile that its agent has named, if any.
    profile: Option<Arc<str>>,
    /// The agent's part of it, with the arguments as its user is shown them; none where a person calls,
    /// who is not asked whether they do.
    agent: Option<AgentCall>,
    decided: Mutex<DecidedCall>,
    /// Turn in which it is decided whether it goes on: parts of it may go on at the same time.
    turn: tokio::sync::Mutex<()>,
}

/// Decisions on a call until now.
#[derive(Default)]
struct DecidedCall {
    /// The tool that it was judged by; none where nothing had to be judged.
    judged: Option<JudgedTool>,
    /// Whether its user wants that tool called.
    is_confirmed: bool,
    /// The reason why it does not go on, once it was asked about: nobody is asked about it again.
    refused: Option<CallRefusal>,
}

impl CallUnderRules {
    /// Makes the call of an agent, by the names of a server and of its tool. Of its arguments, those are
    /// left that its user is shown.
    pub(super) fn of_agent(names: (&str, &str), call: AgentCall, context: &CallContext) -> Self {
        Self {
            agent: Some(call),
            ..Self::of_person(names, context)
        }
    }

    /// Makes the call of a person, by the names of a server and of its tool.
    pub(super) fn of_person((server, tool): (&str, &str), context: &CallContext) -> Self {
        Self {
            server: server.to_owned(),
            tool: tool.to_owned(),
            target: CallTarget::Server,
            profile: context.profile.clone(),
            agent: None,
            decided: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Makes the call that a component makes of a tool of its upstream, for a call of an agent's or a
    /// person's. `arguments` is JSON text.
    pub(super) fn of_component(
        names: (&str, &str),
        arguments: &str,
        is_for_agent: bool,
        context: &CallContext,
    ) -> Self {
        let read = || RawValue::from_string(arguments.to_owned()).ok();
        let text = is_for_agent.then(|| without_blocking(arguments.len(), read));
        let agent = text.map(|text| AgentCall {
            name: names.1.to_owned(),
            arguments: Arguments {
                text,
                ..Arguments::default()
            },
            called_as: None,
            is_discover: false,
        });
        Self {
            target: CallTarget::Upstream,
            agent,
            ..Self::of_person(names, context)
        }
    }

    /// Whether an agent makes it, whose user may be asked about it.
    pub(super) fn is_of_agent(&self) -> bool {
        self.agent.is_some()
    }

    /// Takes what its user has agreed to of the call for which it is made, where that is of a tool of the
    /// same name, which may do no less than this one as it is `now`.
    pub(super) fn take_confirmation(&self, outer: &Self, now: impl FnOnce() -> JudgedTool) {
        let is_of_same_tool = self.server == outer.server && self.tool == outer.tool;
        if !is_of_same_tool || self.decided.lock().is_confirmed {
            return;
        }
        let agreed = {
            let outer = outer.decided.lock();
            outer.judged.clone().filter(|_| outer.is_confirmed)
        };
        let Some((agreed, now)) = agreed.map(|agreed| (agreed, now())) else {
            return;
        };
        if agreed.access >= now.access {
            let mut decided = self.decided.lock();
            decided.judged.get_or_insert(now);
            decided.is_confirmed = true;
        }
    }

    /// Returns its tool, where it depends on what that is now that it is made.
    pub(super) fn judged_tool(&self, roster: &Weak<Roster>) -> Option<String> {
        let agent = self.agent.as_ref()?;
        let roster = roster.upgrade();
        let asks = |roster: Arc<Roster>| roster.snapshot().asks_about_calls(&self.server);
        let is_judged = agent.called_as.is_some() || roster.is_some_and(asks);
        is_judged.then(|| self.tool.clone())
    }

    /// Whether its user was asked about it, or would have been, and it is not made.
    pub(super) fn is_refused(&self) -> bool {
        self.decided.lock().refused.is_some()
    }

    /// Whether its user was shown a form about it, or about its tool in this session, and has not agreed.
    pub(super) fn is_refused_after_form(&self) -> bool {
        let decided = self.decided.lock();
        decided
            .refused
            .as_ref()
            .is_some_and(CallRefusal::is_after_form)
    }

    /// Returns the tool that it was judged by, if it was.
    pub(super) fn judged(&self) -> Option<JudgedTool> {
        self.decided.lock().judged.clone()
    }

    /// Returns the profile that its agent has named, if any.
    pub(super) fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// Returns it as its user would be asked about it.
    pub(super) fn to_confirm(&self) -> CallToConfirm<'_> {
        CallToConfirm {
            server: &self.server,
            tool: &self.tool,
            target: self.target,
            arguments: self.agent.as_ref().map(|agent| &agent.arguments),
        }
    }

    /// Says that its tool is another one than its user was asked about, or than its caller took it for.
    pub(super) fn has_changed(&self) -> CallRefusal {
        let hint = "call it again; whoever is asked about it is shown what it is now";
        self.refusal("it has changed while the call waited", Some(hint))
    }

    /// Says that a rule forbids it by now, or that its server has gone.
    pub(super) fn hidden(&self, why: &NoSuchTool) -> CallRefusal {
        match why {
            NoSuchTool::HiddenByRule { why, .. } => self.refusal(why.to_string(), None),
            _ => self.refusal("its server is not there any more", None),
        }
    }

    pub(super) fn refusal(&self, why: impl Into<String>, hint: Option<&str>) -> CallRefusal {
        let (server, tool) = (&self.server, short_name(&self.tool));
        CallRefusal::new(format!("tool `{tool}` of server `{server}`"), why, hint)
    }
}

impl Roster {
    /// Checks that a call may go on under the rules and its agent's profile as they are now, and asks
    /// its user where `confirm`, as it is now, has them asked: a text for the model where it may not.
    /// This is asked wherever a call goes on after it may have waited. They are asked once about a call,
    /// however often it goes on, and whatever becomes of the form.
    ///
    /// # Errors
    /// A rule forbids it, or its server has gone.
    pub(super) async fn may_go_on(
        &self,
        call: &CallUnderRules,
        context: &CallContext,
    ) -> Result<Result<(), CallRefusal>, NoSuchTool> {
        let _turn = call.turn.lock().await;
        if let Some(why) = call.decided.lock().refused.clone() {
            return Ok(Err(why));
        }
        loop {
            if let Err(why) = self.check_call(call)? {
                return Ok(Err(why));
            }
            if self.needs_nobody(call) {
                return Ok(Ok(()));
            }
            let judged = call.judged();
            // Whatever waits for the answer may be dropped before there is one.
            call.decided.lock().refused = Some(unanswered(call.to_confirm()));
            let answered = self.confirm_call(call.to_confirm(), judged, context).await;
            let mut decided = call.decided.lock();
            match answered {
                // The rules may have become others while it was asked about.
                Ok(confirmed) => {
                    let is_confirmed = confirmed.is_some();
                    *decided = DecidedCall {
                        judged: confirmed.or_else(|| decided.judged.take()),
                        is_confirmed,
                        refused: None,
                    };
                }
                Err(why) => {
                    decided.refused = Some(why.clone());
                    return Ok(Err(why));
                }
            }
        }
    }

    /// Checks that nothing forbids a call for which nobody has to be asked: a text for the model where
    /// its tool is not the one that it was judged by, or is not for the way in which it is called.
    ///
    /// # Errors
    /// A rule forbids it, or its server has gone.
    pub(super) fn check_call(
        &self,
        call: &CallUnderRules,
    ) -> Result<Result<(), CallRefusal>, NoSuchTool> {
        let found = self.server(&call.server)?;
        self.check_rules(&found, call.target, &call.tool, call.profile())?;
        // The arguments of a call of Dormouse's own are nobody else's.
        if call.agent.as_ref().is_some_and(|agent| agent.is_discover) {
            return Ok(Err(call.has_changed()));
        }
        let judged = call.judged();
        let called_as = call.agent.as_ref().and_then(|agent| agent.called_as);
        if judged.is_none() && called_as.is_none() {
            return Ok(Ok(()));
        }
        let now = self.judged_tool(call.to_confirm());
        let (is_same, is_replaced) = judged.as_ref().map_or((true, false), |judged| {
            (judged.runs_as(&now), judged.is_of_replaced_file(&now))
        });
        if !is_same {
            return Ok(Err(call.has_changed()));
        }
        let Some((agent, used)) = call.agent.as_ref().zip(called_as) else {
            return Ok(Ok(()));
        };
        // What another file declares is not asked of what runs.
        let declared = found.declared_tool(&call.tool).filter(|_| !is_replaced);
        // Of one that waited for its user this is not known before.
        if declared.is_some_and(|declared| !is_for_models(declared.tool.get())) {
            return Ok(Err(not_for_models(&agent.name)));
        }
        let access = judged.unwrap_or(now).access;
        Ok(match access > used {
            true => Err(wrong_access(&agent.name, access, used)),
            false => Ok(()),
        })
    }

    /// Whether a call goes on without a question to its user. It is judged by its tool as that is now
    /// then, where it depends on the tool.
    pub(super) fn needs_nobody(&self, call: &CallUnderRules) -> bool {
        let Some(agent) = &call.agent else {
            return true;
        };
        let mut decided = call.decided.lock();
        let snapshot = self.snapshot();
        let asks = snapshot.asks_about_calls(&call.server);
        if decided.is_confirmed || (agent.called_as.is_none() && !asks) {
            return true;
        }
        let judged = decided.judged.clone();
        let judged = judged.unwrap_or_else(|| self.judged_tool(call.to_confirm()));
        let asks = snapshot.asks_about(&call.server, &judged);
        // What is asked about may still become another one before it is shown.
        if !asks {
            decided.judged = Some(judged);
        }
        !asks
    }

    /// Returns the condition on which a call goes on.
    pub(super) fn condition(
        &self,
        call: &Arc<CallUnderRules>,
        context: &CallContext,
    ) -> Arc<dyn CallCondition> {
        Arc::new(ConditionOfRules {
            roster: self.me.clone(),
            call: Arc::clone(call),
            context: context.clone(),
        })
    }
}

/// Condition on which a call goes on: its rules.
struct ConditionOfRules {
    roster: Weak<Roster>,
    call: Arc<CallUnderRules>,
    context: CallContext,
}

impl CallCondition for ConditionOfRules {
    fn check(&self) -> BoxFuture<'static, Result<(), String>> {
        let (roster, call) = (self.roster.clone(), Arc::clone(&self.call));
        let context = self.context.clone();
        async move {
            // Where there is no roster any more, nothing is called either.
            let Some(roster) = roster.upgrade() else {
                return Err(call.has_changed().of_begun_call());
            };
            let may = roster.may_go_on(&call, &context).await;
            let may = may.unwrap_or_else(|why| Err(call.hidden(&why)));
            may.map_err(|why| why.of_begun_call())
        }
        .boxed()
    }

    fn judged_tool(&self) -> Option<String> {
        self.call.judged_tool(&self.roster)
    }
}

#[cfg(test)]
pub(super) mod tests;
