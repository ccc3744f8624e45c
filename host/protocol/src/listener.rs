//! Listeners: the other ends of calls, which get their questions, progress and logs.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Answer, AskError, Awaited, Capability, ClientEra, ClientKey, Question, SessionId};
use crate::DeclaredCapabilities;

/// The levels of MCP logging, the least severe first.
pub const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// Returns the severity of a level of MCP logging, from 0 (debug) to 7 (emergency). An unknown
/// level counts as `info`.
#[must_use]
pub fn severity(level: &str) -> u8 {
    const INFO: u8 = 1;
    let place = LEVELS.iter().position(|known| *known == level);
    place
        .and_then(|place| u8::try_from(place).ok())
        .unwrap_or(INFO)
}

/// Clients of sessions, which can be told something between their requests.
pub trait SessionClients: Send + Sync {
    /// Returns the client of a session, unless the session has ended.
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>>;

    /// Tells the client of a session what has become of something that a server has kept for it: at
    /// once, or beside the next result of a tool of that server, where the client hears no such
    /// logs. Without a session, the next client without one that calls a tool of that server is
    /// told.
    fn tell(&self, session: Option<SessionId>, server: &str, text: String);
}

/// The other end of a call, or of one that could be made: gets progress and logs, has questions
/// answered, and knows the client of the agent. Only [`ask`](Self::ask) may take time.
pub trait Listener: Send + Sync {
    /// Tells progress: `dormouse:plugin/call.progress`, and that of an upstream.
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>);

    /// Tells, about once a second, what keeps the host busy before the call can begin.
    fn preparing(&self, _what: String) {}

    /// Tells a log message: `dormouse:plugin/call.log`. The level is MCP's name for it.
    fn log(&self, level: &'static str, logger: Option<String>, data: Value);

    /// Tells that a page is done which the client was asked to open, by its id
    /// (`notifications/elicitation/complete` of MCP 2025-11-25). Returns whether it is told so here: a
    /// call that has been answered tells nothing more.
    fn page_done(&self, _id: &str) -> bool {
        false
    }

    /// Whether the agent is told logs of this level.
    fn hears(&self, _level: &str) -> bool {
        true
    }

    /// Returns the key of the agent's client.
    fn client(&self) -> ClientKey {
        ClientKey::Name(String::new())
    }

    /// Returns the era of MCP that the agent's client speaks.
    fn era(&self) -> ClientEra {
        ClientEra::default()
    }

    /// Returns the capabilities that the agent's client has declared, whatever it is doing at the
    /// moment: the members `elicitation`, `sampling` and `roots` of its MCP `ClientCapabilities`,
    /// as it has written them; and in `extensions`, whether it shows pages.
    fn declared(&self) -> Map<String, Value> {
        DeclaredCapabilities::with(|capability| self.supports(capability)).into_members()
    }

    /// Whether the agent's client can be asked something.
    fn supports(&self, _capability: Capability) -> bool {
        false
    }

    /// Whether the client's answers are those of the user of this host, so that they may decide
    /// what is trusted, approved or granted. They are over a connection that nobody else can have:
    /// a terminal, or the standard streams. Over HTTP, anybody who has reached the port answers.
    fn may_decide(&self) -> bool {
        false
    }

    /// Whether this process goes on when the call is over, so that what the call has begun (a page
    /// that the user is to open) can still be answered then.
    fn outlives_call(&self) -> bool {
        true
    }

    /// Returns the reason why the client is not asked what it does not [support](Self::supports). A
    /// listener that has to tell the client so takes note of it here.
    fn lacks(&self, lacked: &[Capability]) -> String {
        let lacked = lacked.first().map(|lacked| format!(" (`{lacked}`)"));
        let lacked = lacked.unwrap_or_default();
        format!("there is no client here that could be asked{lacked}")
    }

    /// Asks the client, and returns its answers in the same order. Callers go through `put`, so
    /// that the client is not asked here what it does not support.
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let lacked: Vec<_> = questions.iter().flat_map(Question::needs).collect();
        let lacks = AskError::Unsupported(self.lacks(&lacked));
        Box::pin(std::future::ready(Err(lacks)))
    }

    /// Tells that the call is busy with an instance that other calls may wait for.
    fn holds(&self, _awaited: Awaited) {}

    /// Passes a notice on: `dormouse:plugin/notify`.
    fn notify(&self, _notice: Notice) {}

    /// Returns the least severe level, by MCP's name, of the logs that a plugin is to tell, and
    /// that an upstream is to be asked for where it has to be; none where it is not to be asked for
    /// any.
    fn level(&self) -> Option<&'static str> {
        None
    }

    /// Returns the members of the `_meta` of the agent's request for the server that answers it:
    /// all but those that concern the agent's own connection.
    fn meta(&self) -> Map<String, Value> {
        Map::new()
    }

    /// Returns the tools, by their server's names, on which [`check_judged`](Self::check_judged)
    /// depends: their upstream may have announced that they are others by now.
    fn judged_tools(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks that the call may go on, and that its tool is still the one that it was judged by.
    /// Upstreams are started for a call, and may offer something else then, under other rules: this is
    /// asked after that, and may ask the client's user.
    ///
    /// The error says why it does not go on, for the agent.
    fn check_judged(&self) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl dyn Listener + '_ {
    /// Checks that the client supports all that it would be asked for.
    ///
    /// # Errors
    /// The client lacks a capability; the error says which.
    pub fn check_support(&self, needed: impl Iterator<Item = Capability>) -> Result<(), AskError> {
        let lacked: Vec<_> = needed.filter(|needed| !self.supports(*needed)).collect();
        match lacked.is_empty() {
            true => Ok(()),
            false => Err(AskError::Unsupported(self.lacks(&lacked))),
        }
    }

    /// Asks the client all questions, or none if there is one that it cannot be asked.
    /// (`dormouse:plugin/client.ask`, and what upstreams ask)
    pub fn put(
        &self,
        questions: Vec<Question>,
    ) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        if let Err(lacks) = self.check_support(questions.iter().flat_map(Question::needs)) {
            return Box::pin(std::future::ready(Err(lacks)));
        }
        let context = self.supports(Capability::SamplingContext);
        let questions = questions.into_iter().map(|question| match context {
            true => question,
            false => question.without_context(),
        });
        self.ask(questions.collect())
    }
}

/// Notice of a plugin to agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The resource of this URI has changed.
    Updated(String),
    /// A list has changed.
    Changed(ListKind),
}

/// The lists that MCP has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "named after what they list")]
pub enum ListKind {
    Tools,
    Prompts,
    /// With the templates.
    Resources,
}

#[cfg(test)]
mod tests {

    use futures::FutureExt as _;
    use parking_lot::Mutex;
    use serde_json::value::RawValue;

    use super::*;
    use crate::QuestionOrigin;

    /// An upstream's question.
    fn upstream(capability: Capability, text: &str) -> Question {
        Question {
            id: "who".into(),
            origin: QuestionOrigin::Server,
            capability,
            params: serde_json::from_str(text).unwrap(),
            text: RawValue::from_string(text.to_owned()).ok(),
        }
    }

    /// A client that can be asked some things, and notes what it is asked in spite of that.
    struct Some {
        able: Vec<Capability>,
        asked: Mutex<Vec<String>>,
    }

    impl Listener for Some {
        fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

        fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

        fn supports(&self, capability: Capability) -> bool {
            self.able.contains(&capability)
        }

        fn ask(
            &self,
            questions: Vec<Question>,
        ) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
            let texts = questions.iter().map(Question::to_text);
            self.asked.lock().extend(texts);
            std::future::ready(Ok(Vec::new())).boxed()
        }
    }

    fn put(able: &[Capability], questions: Vec<Question>) -> (Option<AskError>, Vec<String>) {
        let client = Some {
            able: able.to_vec(),
            asked: Mutex::default(),
        };
        let listener: &dyn Listener = &client;
        let error = listener.put(questions).now_or_never().unwrap().err();
        (error, client.asked.into_inner())
    }

    #[test]
    fn nobody_is_asked_what_they_do_not_support() {
        use Capability::{ElicitationForm, Roots, Sampling, SamplingTools};
        let roots = || upstream(Roots, "{}");
        let form = || upstream(ElicitationForm, "{}");
        let tools = || upstream(Sampling, r#"{"tools":[]}"#);
        let choice = || upstream(Sampling, r#"{"toolChoice":{"mode":"none"}}"#);
        for (able, questions, lacked) in [
            (vec![], vec![roots()], "roots"),
            (vec![Roots], vec![roots(), form()], "elicitation"),
            (vec![Sampling], vec![tools()], "sampling.tools"),
            (vec![Sampling], vec![choice()], "sampling.tools"),
            (vec![SamplingTools], vec![tools()], "sampling"),
        ] {
            let (error, asked) = put(&able, questions);
            let Some(AskError::Unsupported(why)) = error else {
                panic!("{able:?}: {error:?}");
            };
            assert!(why.contains(&format!("`{lacked}`")), "{why}");
            assert_eq!(asked, [""; 0], "{able:?}");
        }
        let (error, asked) = put(&[Sampling, SamplingTools], vec![tools()]);
        assert_eq!((error, asked), (None, vec![r#"{"tools":[]}"#.to_owned()]));
    }

    #[test]
    fn context_is_asked_of_those_who_add_it() {
        use Capability::{Sampling, SamplingContext};
        let text = r#"{"maxTokens": 1.0, "includeContext":"thisServer","x":[1.10]}"#;
        let asked = |able: &[Capability]| put(able, vec![upstream(Sampling, text)]).1;
        assert_eq!(asked(&[Sampling, SamplingContext]), [text]);
        assert_eq!(asked(&[Sampling]), [r#"{"maxTokens": 1.0,"x":[1.10]}"#]);
    }
}
