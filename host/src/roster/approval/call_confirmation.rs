//! Questions to a client's user whether a tool is called, where `confirm` has them asked first.

use dormouse_policy::exposure::{Confirmation, ToolAccess};
use dormouse_protocol::{Capability, ClientKey, MAX_WAIT_FOR_OTHER};
use dormouse_runtime::Arguments;
use dormouse_upstream::without_blocking;
use serde_json::Value;

use super::call_decisions::{CallDecision, ToolKey, has_session};
use super::called_arguments::shown_arguments;
use super::code_block::code_block;
use super::confirm::{MAX_QUESTION_BYTES, accepted_field, allowing, answer_to, is_declined};
use super::judged_tool::{CallTarget, JudgedTool};
use crate::roster::{CallContext, CallRefusal, Roster, Snapshot};

/// Answers of the form: each with the words by which it is shown.
const ANSWERS: [(&str, &str); 3] = [
    ("no", "No, and do not ask again"),
    ("once", "For this call"),
    ("session", "For this session"),
];

/// Call of a tool that its user may be asked about.
#[derive(Debug, Clone, Copy)]
pub(in crate::roster) struct CallToConfirm<'a> {
    /// The tool's server.
    pub(in crate::roster) server: &'a str,
    /// The server's name for the tool.
    pub(in crate::roster) tool: &'a str,
    /// Target of the call.
    pub(in crate::roster) target: CallTarget,
    /// Arguments as they go to the server; none where nobody is asked about them.
    pub(in crate::roster) arguments: Option<&'a Arguments>,
}

impl Snapshot {
    /// Returns the calls of a server's tools that its user is asked about.
    fn confirmation(&self, server: &str) -> Confirmation {
        let of_all = self.rules().confirm;
        let Some(server) = self.servers().get(server) else {
            return of_all;
        };
        let config = server.config();
        settled(of_all, config.confirm, config.is_of_project())
    }

    /// Whether its user is asked about calls of a server's tool.
    pub(in crate::roster) fn asks_about(&self, server: &str, tool: &JudgedTool) -> bool {
        self.confirmation(server).asks_about(tool.access)
    }

    /// Whether its user is asked about some calls of a server's tools.
    #[must_use]
    pub fn asks_about_calls(&self, server: &str) -> bool {
        let confirmation = self.confirmation(server);
        confirmation.asks_about(ToolAccess::Destructive)
    }
}

/// Returns what counts for a server of what is said of all servers and of itself. What a project's file
/// says adds to what the user has said, and takes nothing from it.
fn settled(of_all: Confirmation, own: Option<Confirmation>, is_of_project: bool) -> Confirmation {
    match own {
        Some(own) if is_of_project => own.stricter(of_all),
        Some(own) => own,
        None => of_all,
    }
}

impl Roster {
    /// Asks the user of a call's client whether the call is made, where that is configured for what
    /// the tool may do. Nobody else can answer: the question goes to the client by a form, and never
    /// into a result. A "no" holds for the tool as long as the session, or, of clients without one,
    /// as long as the host runs, for all that call themselves by that name. A "yes" holds for the
    /// tool as it was shown, or as it was `judged` before: that is returned; none where nobody is to be
    /// asked about it any more, so that nobody has agreed. A form that was closed holds for nothing but
    /// the call.
    ///
    /// # Errors
    /// They do not want it, or nobody can be asked: a text for the model.
    pub(in crate::roster) async fn confirm_call(
        &self,
        call: CallToConfirm<'_>,
        judged: Option<JudgedTool>,
        context: &CallContext,
    ) -> Result<Option<JudgedTool>, CallRefusal> {
        if let Some(why) = self.refused_at_once(call, context) {
            return Err(why);
        }
        let CallToConfirm { server, tool, .. } = call;
        let as_judged = || judged.clone().unwrap_or_else(|| self.judged_tool(call));
        let now = as_judged();
        if !self.snapshot().asks_about(server, &now) {
            return Ok(None);
        }
        let client = context.listener.client();
        let key = (server.to_owned(), tool.to_owned());
        let turn = self.call_decisions.turn(&client, &key);
        let asked = async {
            // Where whoever is asked before gives no answer, the next one is asked as well.
            let _own = tokio::time::timeout(MAX_WAIT_FOR_OTHER, turn.lock()).await;
            // It may have become another one until this call's turn.
            let now = as_judged();
            if !self.snapshot().asks_about(server, &now) {
                return Ok(None);
            }
            match self.call_decisions.decided(&client, &key, &now) {
                Some(true) => {}
                Some(false) => return Err(REFUSED_BEFORE),
                None => {
                    self.ask_about_call(call, &client, &key, &now, context)
                        .await?;
                }
            }
            Ok(Some(now))
        };
        let answered = tokio::select! {
            answered = asked => answered,
            () = context.cancel.cancelled() => Err(CANCELLED),
        };
        answered.map_err(|why| not_called(call, why))
    }

    /// Returns the tool of a call as its server is known now.
    pub(in crate::roster) fn judged_tool(&self, call: CallToConfirm<'_>) -> JudgedTool {
        let snapshot = self.snapshot();
        let server = snapshot.servers().get(call.server);
        JudgedTool::of(server.map(|server| &**server), call.target, call.tool)
    }

    /// Returns the reason why a call is not made, where nothing has to be found out for that: its user
    /// cannot be asked, or has said so before.
    pub(in crate::roster) fn refused_at_once(
        &self,
        call: CallToConfirm<'_>,
        context: &CallContext,
    ) -> Option<CallRefusal> {
        let now = self.judged_tool(call);
        if !self.snapshot().asks_about(call.server, &now) {
            return None;
        }
        if !context.listener.supports(Capability::ElicitationForm) {
            return Some(not_called(call, CANNOT_ASK));
        }
        let key = (call.server.to_owned(), call.tool.to_owned());
        let client = context.listener.client();
        let decided = self.call_decisions.decided(&client, &key, &now);
        (decided == Some(false)).then(|| not_called(call, REFUSED_BEFORE))
    }

    async fn ask_about_call(
        &self,
        call: CallToConfirm<'_>,
        client: &ClientKey,
        key: &ToolKey,
        now: &JudgedTool,
        context: &CallContext,
    ) -> Result<(), RefusalReason> {
        let text = call.arguments.and_then(|all| all.text.as_ref());
        let bytes = text.map_or(0, |text| text.get().len());
        let Some(shown) = without_blocking(bytes, || shown(call, now.access)) else {
            return Err(TOO_LONG);
        };
        let message = format!("{}\nMay it?", code_block(&shown));
        if message.len() > MAX_QUESTION_BYTES {
            return Err(TOO_LONG);
        }
        // Others may call themselves by the same name.
        let has_session = has_session(client);
        let answer = answer_to(&context.listener, message, allowing(&ANSWERS, has_session)).await;
        let answer = answer.ok_or(UNANSWERED)?;
        let chosen = accepted_field(&answer, "answer");
        let is_for_session = match chosen.as_ref().and_then(Value::as_str) {
            Some("once") => false,
            Some("session") if has_session => true,
            chosen if chosen == Some("no") || is_declined(&answer) => {
                let decision = CallDecision::Refused;
                self.call_decisions.decide(client, key, decision);
                return Err(REFUSED);
            }
            // Closing a form, or filling in what it does not ask for, is no answer.
            _ => return Err(CLOSED),
        };
        if is_for_session {
            let decision = CallDecision::Allowed(Box::new(now.clone()));
            self.call_decisions.decide(client, key, decision);
        }
        // Another form may have been refused meanwhile.
        match self.call_decisions.decided(client, key, now) {
            Some(false) => Err(REFUSED_BEFORE),
            Some(true) | None => Ok(()),
        }
    }
}

/// Reason why a call is not made, with a hint.
type RefusalReason = (&'static str, Option<&'static str>);

fn not_called(call: CallToConfirm<'_>, reason: RefusalReason) -> CallRefusal {
    let (why, hint) = reason;
    let tool = dormouse_text::visible::short_name(call.tool);
    let tool = format!("tool `{tool}` of server `{}`", call.server);
    let refusal = CallRefusal::new(tool, why, hint);
    match [CANCELLED, CANNOT_ASK, TOO_LONG].contains(&reason) {
        true => refusal,
        false => refusal.after_form(),
    }
}

/// Returns the reason why a call is not made whose user was asked, where nobody has heard the answer.
pub(in crate::roster) fn unanswered(call: CallToConfirm<'_>) -> CallRefusal {
    not_called(call, UNANSWERED)
}

const CANCELLED: RefusalReason = ("it was cancelled", None);

const UNANSWERED: RefusalReason = (
    "its user was asked, and the client has given no answer",
    None,
);

const CANNOT_ASK: RefusalReason = (
    "`confirm` of dormouse.toml has its user asked before each call of such a tool, and this client \
     cannot ask",
    Some(
        "a client that shows forms (MCP elicitation) can; which calls are asked about is up to the user",
    ),
);

const CLOSED: RefusalReason = (
    "its user was asked, and has closed the form without an answer",
    Some("ask the user what to do before you call it again"),
);

const REFUSED: RefusalReason = ("its user was asked, and does not want it", Some(OTHER_WAY));

const REFUSED_BEFORE: RefusalReason = (
    "its user was asked in this session, does not want it, and is not asked again",
    Some(OTHER_WAY),
);

const OTHER_WAY: &str = "do not try to get there in another way; ask the user what to do";

const TOO_LONG: RefusalReason = (
    "its user has to be asked first, and its arguments are more than fits into a form",
    Some("call it with fewer"),
);

/// Returns the text that the user is shown: strangers have written all of it but the server's name.
/// None where there is more than they would read.
fn shown(call: CallToConfirm<'_>, access: ToolAccess) -> Option<String> {
    let tool = dormouse_text::visible::line_beginning(call.tool, 128);
    let may = match access {
        ToolAccess::Read => "that only reads",
        ToolAccess::Write => "that adds or changes something",
        ToolAccess::Destructive => "that may change or remove anything",
    };
    let wants = match call.target {
        CallTarget::Server => "The agent wants to call a tool",
        CallTarget::Upstream => "The component in front of a server wants to call a tool of it",
    };
    let arguments = shown_arguments(call.arguments?)?;
    Some(format!(
        "{wants} {may}.\nServer: {}\nTool: {tool}\n{arguments}",
        call.server
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_project_takes_nothing_from_what_its_user_has_said() {
        let [nothing, write, destructive] = [
            Confirmation::default(),
            Confirmation::of([ToolAccess::Write]),
            Confirmation::of([ToolAccess::Destructive]),
        ];
        for (of_all, own, of_users, of_projects) in [
            (destructive, None, destructive, destructive),
            (destructive, Some(nothing), nothing, destructive),
            (destructive, Some(write), write, write),
            (write, Some(destructive), destructive, write),
        ] {
            assert_eq!(settled(of_all, own, false), of_users, "{own:?}");
            assert_eq!(settled(of_all, own, true), of_projects, "{own:?}");
        }
    }

    #[test]
    fn what_strangers_have_written_is_on_lines_of_its_own() {
        let values = json!({ "path": "a\nTool: harmless\u{202e}" });
        let arguments = Arguments::from(values.as_object().unwrap().clone());
        let call = CallToConfirm {
            server: "files",
            tool: "delete\nServer: other",
            target: CallTarget::Server,
            arguments: Some(&arguments),
        };
        let text = shown(call, ToolAccess::Destructive).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1..3],
            ["Server: files", r"Tool: delete\nServer: other"]
        );
        assert_eq!(lines[4], r#"  path: "a\nTool: harmless\u202e""#);
        assert_eq!(lines.len(), 5, "{text}");
    }
}
