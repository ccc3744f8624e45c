//! Asking the user of a call to log in.

use std::sync::Arc;

use dormouse_protocol::{
    Answer, AskError, Capability, Listener, MAX_WAIT_FOR_OTHER, Question, QuestionOrigin,
};
use dormouse_text::server_url::host;
use serde_json::json;

use super::{Auth, LoginFailure, NotLoggedIn, PendingLogin};

/// Id of the question for a login among those of a call.
const QUESTION: &str = "dormouse-login";

impl Auth {
    /// Asks the user to log in, on behalf of a call that was refused, where the caller's client can
    /// show them a page, and returns when they are logged in.
    ///
    /// # Errors
    /// The user is not logged in. Where the client cannot ask, the reason has the link in it, which stays valid for a while: once the user has followed it, the same
    /// call works. Where this process ends with the call, nobody would be there when the user comes
    /// back from that link, so the words name the command that waits.
    pub async fn authorize(
        &self,
        listener: &Arc<dyn Listener>,
        challenge: Option<&str>,
    ) -> Result<(), NotLoggedIn> {
        let server = &self.0.server;
        let can_ask = listener.supports(Capability::ElicitationUrl);
        let by_command = || {
            format!(
                "`{server}` needs a login\nhint: `dormouse login {server}` gives a link and waits \
                 until you have followed it"
            )
        };
        if !can_ask && !listener.outlives_call() {
            return Err(NotLoggedIn::new(match self.check() {
                Ok(()) => by_command(),
                Err(failure) => format!("`{server}` needs a login: {failure}"),
            }));
        }
        let pending = self
            .begin(challenge)
            .await
            .map_err(|failure| NotLoggedIn::new(format!("`{server}` needs a login: {failure}")))?;
        let refused = |failure: LoginFailure| {
            NotLoggedIn::new(format!(
                "{failure}\nhint: call again for a new link, or run `dormouse login {server}`"
            ))
        };
        if can_ask {
            // A user is asked once, however many calls wait for them: who gets the
            // lock when all is over asks nothing. But the client that asks may not answer.
            let asking = tokio::time::timeout(MAX_WAIT_FOR_OTHER, pending.asking.lock());
            let _asking = tokio::select! {
                biased;
                outcome = pending.finish() => return outcome.map_err(refused),
                asking = asking => asking.ok(),
            };
            let asked = tokio::select! {
                biased;
                outcome = pending.finish() => return outcome.map_err(refused),
                answers = listener.ask(vec![self.question(&pending)]) => answers,
            };
            match consent(asked) {
                Some(true) => return pending.finish().await.map_err(refused),
                Some(false) => {
                    pending.decline();
                    return pending.finish().await.map_err(refused);
                }
                None => {}
            }
        }
        if !listener.outlives_call() {
            return Err(NotLoggedIn::new(by_command()));
        }
        let elsewhere = elsewhere(&pending);
        let reason = format!(
            "`{server}` needs a login; open this link in a browser{elsewhere}, then call again:\n{}\nhint: the link is good for ten minutes; `dormouse login {server}` gives a new one",
            pending.link()
        );
        Err(NotLoggedIn::with_link(reason, by_command()))
    }

    fn question(&self, pending: &PendingLogin) -> Question {
        let server = &self.0.server;
        let elsewhere = elsewhere(pending);
        let mut params = serde_json::Map::new();
        for (name, value) in [
            ("mode", json!("url")),
            (
                "message",
                json!(format!(
                    "The server `{server}` wants you to log in at `{}`{elsewhere}.",
                    host(pending.link()).unwrap_or_default()
                )),
            ),
            ("url", json!(pending.link())),
            ("elicitationId", json!(pending.id())),
        ] {
            params.insert(name.to_owned(), value);
        }
        Question {
            id: QUESTION.into(),
            origin: QuestionOrigin::Host,
            capability: Capability::ElicitationUrl,
            params,
            text: None,
        }
    }
}

/// Returns words, for behind those on where to log in, on a host elsewhere that gets the login's code.
fn elsewhere(pending: &PendingLogin) -> String {
    match pending.host_elsewhere() {
        Some(host) => format!(" (what you are given there goes to `{host}`)"),
        None => String::new(),
    }
}

/// Returns whether a user wants to log in; none where their client could not ask them.
fn consent(asked: Result<Vec<Answer>, AskError>) -> Option<bool> {
    let answers = asked.ok()?;
    let action = answers.first()?.get("action")?;
    Some(action.as_str()? == "accept")
}
