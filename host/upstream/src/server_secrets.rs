//! Secrets of one server, as far as they are known now.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_launch::Launch;
use dormouse_launch::redaction::{HiddenTexts, HiddenTextsBuilder};
use parking_lot::Mutex;

/// Most bytes of the secrets of logins that are kept: tokens, earlier tokens, which a server may
/// still repeat, and secrets of logins that have begun.
const MAX_LEARNT_BYTES: usize = 64 << 10;

/// Secrets of one server: those of its configuration, and those that logins have brought since. The
/// search for them is prepared only once the server has said something.
pub(crate) struct ServerSecrets {
    server: String,
    launch: Launch,
    state: Mutex<ServerSecretsState>,
}

#[derive(Default)]
struct ServerSecretsState {
    /// Secrets of logins; the one that was given last comes last.
    learnt: VecDeque<String>,
    texts: Option<Arc<HiddenTexts>>,
    /// Secrets of logins alone.
    learnt_texts: Option<Arc<HiddenTexts>>,
    /// Whether it has been logged that nothing can be shown.
    is_told: bool,
}

impl ServerSecrets {
    /// Takes the secrets that a server is configured with.
    pub(crate) fn new(server: &str, launch: &Launch) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            launch: launch.clone(),
            state: Mutex::default(),
        })
    }

    /// Returns the name of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Hides secrets that a login has brought, from now on.
    pub(crate) fn learn<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) {
        let mut state = self.state.lock();
        for secret in secrets {
            match state.learnt.iter().rposition(|known| known == secret) {
                Some(at) => {
                    // What is used stays, however often other things come.
                    let known = state.learnt.remove(at);
                    state.learnt.extend(known);
                }
                None => {
                    state.learnt.push_back(secret.to_owned());
                    let mut bytes: usize = state.learnt.iter().map(String::len).sum();
                    while bytes > MAX_LEARNT_BYTES {
                        let first = state.learnt.pop_front();
                        bytes -= first.map_or(bytes, |first| first.len());
                    }
                    state.texts = None;
                    state.learnt_texts = None;
                }
            }
        }
    }

    /// Returns all secrets, prepared for the search.
    pub(crate) fn texts(&self) -> Arc<HiddenTexts> {
        let mut state = self.state.lock();
        if let Some(texts) = &state.texts {
            return Arc::clone(texts);
        }
        let mut builder = HiddenTextsBuilder::default();
        self.launch.add_secrets(&mut builder);
        for secret in &state.learnt {
            builder.add(secret);
        }
        let texts = Arc::new(builder.build());
        if !texts.is_complete() && !std::mem::replace(&mut state.is_told, true) {
            tracing::warn!(
                "server `{}` is given more secrets than can be looked for in what it says, so its errors, its logs and its progress are shown as `…`\nhint: give it the paths of files instead of long values in variables and arguments",
                self.server
            );
        }
        state.texts = Some(Arc::clone(&texts));
        texts
    }

    /// Returns the JSON without the secrets of logins. Of texts that people and models are shown as
    /// the server has written them, such as questions and tools, only these are taken out: such a
    /// text may well be about what the server is configured with.
    #[must_use]
    pub(crate) fn redact_learnt_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        match self.learnt_texts() {
            Some(texts) => texts.redact_json(json).into(),
            None => json.into(),
        }
    }

    /// Returns the secrets of logins, prepared for the search; none where there are none.
    fn learnt_texts(&self) -> Option<Arc<HiddenTexts>> {
        let mut state = self.state.lock();
        if state.learnt.is_empty() {
            return None;
        }
        if state.learnt_texts.is_none() {
            let mut builder = HiddenTextsBuilder::default();
            for secret in &state.learnt {
                builder.add(secret);
            }
            state.learnt_texts = Some(Arc::new(builder.build()));
        }
        state.learnt_texts.clone()
    }

    /// Returns the text without any of the secrets.
    #[must_use]
    pub(crate) fn redact(&self, text: &str) -> String {
        self.texts().redact(text)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Http, Secret, Stdio};

    use super::*;

    #[test]
    fn what_a_login_brings_is_hidden_from_then_on() {
        let http = Http {
            url: "https://e.com/mcp?key=configured".into(),
            ..Http::default()
        };
        let secrets = ServerSecrets::new("web", &Launch::Http(http));
        let said = "configured first-token second-token";
        assert_eq!(secrets.redact(said), "… first-token second-token");
        secrets.learn(["first-token"]);
        assert_eq!(secrets.redact(said), "… … second-token");
        secrets.learn(["second-token"]);
        // A server may still repeat the one before.
        assert_eq!(secrets.redact(said), "… … …");
        let json = r#"{"first-token":"configured","n":["second-token",1.10]}"#;
        let shown = r#"{"…":"configured","n":["…",1.10]}"#;
        assert_eq!(secrets.redact_learnt_json(json), shown);
        for number in 0..100 {
            let long = "x".repeat(1000);
            secrets.learn([format!("{number}{long}").as_str(), "second-token"]);
        }
        assert_eq!(secrets.redact(said), "… first-token …");
        let learnt = secrets.state.lock().learnt.clone();
        let bytes: usize = learnt.iter().map(String::len).sum();
        assert!((60_000..=MAX_LEARNT_BYTES).contains(&bytes), "{bytes}");
    }

    #[test]
    fn nothing_is_prepared_before_something_is_said() {
        let stdio = Stdio {
            env: [("KEY".to_owned(), Secret::new("in-a-variable"))].into(),
            ..Stdio::default()
        };
        let secrets = ServerSecrets::new("child", &Launch::Stdio(stdio));
        secrets.learn(["a-token"]);
        assert!(secrets.state.lock().texts.is_none());
        let once = secrets.texts();
        secrets.learn(["a-token"]);
        assert!(Arc::ptr_eq(&once, &secrets.texts()), "made twice");
    }
}
