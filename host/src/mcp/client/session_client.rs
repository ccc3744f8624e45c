//! A client of the era with sessions, which can be notified and asked at any time.

use std::sync::Arc;

use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, ClientKey, Listener, Question, passed_extensions,
};
use futures::FutureExt as _;
use futures::future::{BoxFuture, try_join_all};
use rmcp::model::{ClientCapabilities, InitializeRequestParams, ProtocolVersion};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::client_connection::ClientConnection;
use super::compatibility;
use super::level;
use super::level::{WantedLogLevel, WantedLogs};
use crate::mcp::calls::call_listener::CallQuestions;
use crate::mcp::calls::relay::Relay;
use crate::mcp::calls::suspended_calls;

/// The client of a session while none of its requests is being answered.
pub(in crate::mcp) struct SessionClient {
    connection: Arc<dyn ClientConnection>,
    capabilities: ClientCapabilities,
    declared: Map<String, Value>,
    era: ClientEra,
    level: Arc<WantedLogLevel>,
    relay: Relay,
    key: ClientKey,
}

impl SessionClient {
    /// The one that has said that in its handshake.
    pub(in crate::mcp) fn new(
        connection: Arc<dyn ClientConnection>,
        said: &InitializeRequestParams,
        level: Arc<WantedLogLevel>,
        key: ClientKey,
    ) -> Arc<Self> {
        let capabilities = able(said.capabilities.clone(), &said.protocol_version);
        let era = ClientEra::Handshake(said.protocol_version.as_str().to_owned());
        Arc::new(Self {
            connection,
            declared: declared(&capabilities, &era),
            capabilities,
            era,
            level,
            // What is too little for the client never gets there; the level may change.
            relay: Relay::new(None, WantedLogs::Unsaid),
            key,
        })
    }

    /// Sends the client its notifications, until it has gone or `end` is cancelled.
    pub(in crate::mcp) async fn run(&self, end: CancellationToken) {
        tokio::select! {
            () = self.relay.run(&*self.connection) => {}
            () = end.cancelled() => {}
        }
        self.relay.close();
    }
}

impl Listener for SessionClient {
    /// Does nothing: progress belongs to a request.
    fn progress(&self, _progress: f64, _total: Option<f64>, _message: Option<String>) {}

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        if self.hears(level) {
            self.relay.log(level, logger, data);
        }
    }

    fn page_done(&self, id: &str) -> bool {
        self.relay.page_done(id)
    }

    fn hears(&self, level: &str) -> bool {
        self.level.wanted().take(level)
    }

    fn client(&self) -> ClientKey {
        self.key.clone()
    }

    fn era(&self) -> ClientEra {
        self.era.clone()
    }

    fn declared(&self) -> Map<String, Value> {
        self.declared.clone()
    }

    fn supports(&self, capability: Capability) -> bool {
        can(&self.capabilities, capability)
    }

    fn lacks(&self, lacked: &[Capability]) -> String {
        lacks(lacked)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let (connection, era) = (Arc::clone(&self.connection), self.era.clone());
        async move {
            let (answers, answered) = oneshot::channel();
            ask(&*connection, &era, CallQuestions { questions, answers }).await;
            let gone = || Err(AskError::Failed("the agent has gone".into()));
            answered.await.unwrap_or_else(|_| gone())
        }
        .boxed()
    }

    fn level(&self) -> Option<&'static str> {
        self.level.said().and_then(level::name)
    }
}

/// Returns the capabilities of a client, by those that it declares and the version of MCP that it
/// speaks: before 2025-11-25, all clients that could be asked for texts could be asked to add
/// context to them, and had no word to say so.
pub(in crate::mcp) fn able(
    mut said: ClientCapabilities,
    version: &ProtocolVersion,
) -> ClientCapabilities {
    if let (true, Some(sampling)) = (
        compatibility::is_older(version.as_str()),
        &mut said.sampling,
    ) {
        sampling.context.get_or_insert_default();
    }
    said
}

/// Returns the capabilities that a client has declared, as they go to a server that asks it through
/// this host: the members of its MCP `ClientCapabilities` that the host has a way to pass on. Of
/// extensions these are the pages of servers (MCP Apps), which the client shows and whose calls
/// pass here.
pub(in crate::mcp) fn declared(said: &ClientCapabilities, era: &ClientEra) -> Map<String, Value> {
    let mut declared = match serde_json::to_value(said) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let extensions = passed_extensions(&declared);
    declared.retain(|name, _| matches!(name.as_str(), "elicitation" | "sampling" | "roots"));
    if let Some(extensions) = extensions {
        declared.insert("extensions".into(), extensions);
    }
    let unsaid = match era {
        // It had no word for that, see `able`.
        ClientEra::Handshake(version) if compatibility::is_older(version) => {
            ("sampling", "context")
        }
        // There is no message that would tell of other roots.
        ClientEra::Stateless => ("roots", "listChanged"),
        ClientEra::Handshake(_) => return declared,
    };
    if let Some(Value::Object(members)) = declared.get_mut(unsaid.0) {
        members.shift_remove(unsaid.1);
    }
    declared
}

/// Returns the reason for which a client is not asked: a capability that it lacks.
pub(in crate::mcp) fn lacks(lacked: &[Capability]) -> String {
    let lacked = lacked.first().map(ToString::to_string);
    format!("this client has no `{}`", lacked.unwrap_or_default())
}

/// Checks whether a client can be asked something, by its declared capabilities.
pub(in crate::mcp) fn can(client: &ClientCapabilities, capability: Capability) -> bool {
    let (elicitation, sampling) = (client.elicitation.as_ref(), client.sampling.as_ref());
    match capability {
        // One that says no more than `elicitation` means forms, as before pages
        // came to be.
        Capability::ElicitationForm => {
            elicitation.is_some_and(|said| said.form.is_some() || said.url.is_none())
        }
        Capability::ElicitationUrl => elicitation.is_some_and(|said| said.url.is_some()),
        Capability::Sampling => sampling.is_some(),
        Capability::SamplingTools => sampling.is_some_and(|said| said.tools.is_some()),
        Capability::SamplingContext => sampling.is_some_and(|said| said.context.is_some()),
        Capability::Roots => client.roots.is_some(),
    }
}

/// Asks a client of the era with sessions.
pub(in crate::mcp) async fn ask(
    connection: &dyn ClientConnection,
    era: &ClientEra,
    ask: CallQuestions,
) {
    let CallQuestions {
        questions,
        mut answers,
    } = ask;
    let questions = match era {
        ClientEra::Handshake(version) if compatibility::is_older(version) => questions
            .into_iter()
            .map(|question| compatibility::question(question, version))
            .collect(),
        _ => Ok(questions),
    };
    let questions: Vec<_> = match questions {
        Ok(questions) => questions,
        Err(error) => {
            // Whoever has asked may have gone, and then nobody minds.
            let _ = answers.send(Err(error));
            return;
        }
    };
    let asked = questions
        .iter()
        .map(|question| connection.request(question));
    let patience = tokio::time::timeout(suspended_calls::ANSWER_TIMEOUT, try_join_all(asked));
    let answered = tokio::select! {
        answered = patience => answered
            .unwrap_or_else(|_| Err(AskError::Failed("nobody has answered".into()))),
        // Whoever has asked has gone meanwhile.
        () = answers.closed() => return,
    };
    let _ = answers.send(answered);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_is_asked_only_what_it_says_it_can() {
        use Capability::{
            ElicitationForm, ElicitationUrl, Roots, Sampling, SamplingContext, SamplingTools,
        };
        let table = [
            (json!({}), vec![]),
            (json!({"elicitation": {}}), vec![ElicitationForm]),
            (json!({"elicitation": {"form": {}}}), vec![ElicitationForm]),
            (json!({"elicitation": {"url": {}}}), vec![ElicitationUrl]),
            (
                json!({"elicitation": {"form": {}, "url": {}}}),
                vec![ElicitationForm, ElicitationUrl],
            ),
            (json!({"sampling": {}, "roots": {}}), vec![Sampling, Roots]),
            (
                json!({"sampling": {"tools": {}, "context": {}}}),
                vec![Sampling, SamplingTools, SamplingContext],
            ),
        ];
        for (declared, expected) in table {
            let client = serde_json::from_value(declared.clone()).unwrap();
            let all = [
                ElicitationForm,
                ElicitationUrl,
                Sampling,
                SamplingTools,
                SamplingContext,
                Roots,
            ];
            let able: Vec<_> = all.into_iter().filter(|one| can(&client, *one)).collect();
            assert_eq!(able, expected, "{declared}");
        }
    }

    #[test]
    fn what_a_client_declares_is_passed_on_as_it_is() {
        let handshake = |version: &str| ClientEra::Handshake(version.to_owned());
        let full = json!({
            "elicitation": {}, "sampling": {"tools": {}}, "roots": {"listChanged": true},
        });
        let mut of_stateless = full.clone();
        of_stateless["roots"] = json!({});
        for (said, era, expected) in [
            (json!({}), handshake("2025-06-18"), json!({})),
            (full.clone(), handshake("2025-11-25"), full.clone()),
            (full.clone(), handshake("2025-06-18"), full.clone()),
            (full, ClientEra::Stateless, of_stateless),
            (
                json!({"elicitation": {"form": {}, "url": {}}, "experimental": {"x": {}}}),
                handshake("2025-11-25"),
                json!({"elicitation": {"form": {}, "url": {}}}),
            ),
            (
                json!({"extensions": {
                    "io.modelcontextprotocol/ui": {"mimeTypes": ["b/b", "a/a"], "x": {}},
                    "io.modelcontextprotocol/tasks": {},
                }}),
                handshake("2025-11-25"),
                json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["a/a", "b/b"]}}}),
            ),
        ] {
            let said: ClientCapabilities = serde_json::from_value(said).unwrap();
            let ClientEra::Handshake(version) = &era else {
                assert_eq!(json!(declared(&said, &era)), expected);
                continue;
            };
            let version = serde_json::from_value(json!(version)).unwrap();
            let able = able(said, &version);
            assert_eq!(json!(declared(&able, &era)), expected, "{era:?}");
        }
    }

    #[test]
    fn before_there_was_a_word_for_it_all_who_sample_added_context() {
        let said: ClientCapabilities = serde_json::from_value(json!({"sampling": {}})).unwrap();
        for (version, context) in [
            (ProtocolVersion::V_2025_06_18, true),
            (ProtocolVersion::V_2025_11_25, false),
            (ProtocolVersion::V_2026_07_28, false),
        ] {
            let able = able(said.clone(), &version);
            assert_eq!(
                can(&able, Capability::SamplingContext),
                context,
                "{version}"
            );
            assert!(!can(&able, Capability::SamplingTools));
        }
        let nothing = able(
            ClientCapabilities::default(),
            &ProtocolVersion::V_2025_06_18,
        );
        assert!(!can(&nothing, Capability::SamplingContext));
    }
}
