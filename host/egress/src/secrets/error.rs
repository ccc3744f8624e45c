//! Error of a secret that cannot be sent, without its text.

use std::borrow::Cow;

/// Reason why a request is not sent that needs a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("secret `{secret}` of server `{server}` {why}\nhint: {hint}")]
pub struct SecretError {
    server: String,
    secret: String,
    why: String,
    hint: Cow<'static, str>,
}

/// Fault of a secret, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretFault {
    /// The fault, behind the name of the secret.
    pub(super) why: String,
    pub(super) hint: Cow<'static, str>,
    /// Whether nobody has given it a text: one that was given and cannot be had now is another thing.
    pub(super) is_absent: bool,
}

impl SecretFault {
    /// Returns the fault with its hint, where no secret is named.
    pub(super) fn into_text(self) -> String {
        format!("{}\nhint: {}", self.why, self.hint)
    }
}

impl SecretError {
    /// Returns the secret's name among those of its server.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Returns the fault, behind the name of the secret.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Returns what to do about it.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }

    pub(super) fn new(server: &str, secret: &str, wrong: SecretFault) -> Self {
        Self {
            server: server.to_owned(),
            secret: secret.to_owned(),
            why: wrong.why,
            hint: wrong.hint,
        }
    }
}
