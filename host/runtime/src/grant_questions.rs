//! Questions to a user for grants that a plugin asks for and does not have, and for secrets that have no
//! text, while it runs.

use std::sync::Arc;

pub use dormouse_egress::{SecretError, SessionGrants};
use dormouse_policy::{HttpGrant, HttpSecret};
use dormouse_protocol::Listener;
use futures::future::BoxFuture;

/// Requests that a plugin's user may be asked for while it runs.
pub struct GrantQuestions {
    /// Requests over HTTP that the plugin asks for.
    pub requested: Vec<HttpGrant>,
    /// Their answers so far.
    pub session: Arc<SessionGrants>,
    /// Asks the user.
    pub asker: Arc<dyn GrantAsker>,
}

/// Asks the user of a call's client for a grant.
pub trait GrantAsker: Send + Sync {
    /// Asks for a grant of that server, and waits for the answer.
    fn ask<'a>(
        &'a self,
        server: &'a str,
        wanted: &'a HttpGrant,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, GrantAnswer>;

    /// Asks whether a secret of that server has a text by now, and waits for the answer.
    fn ask_for_secret<'a>(
        &'a self,
        server: &'a str,
        missing: &'a SecretError,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, SecretAnswer>;
}

/// Answer of a user who was asked for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretAnswer {
    /// They say that it is there. It comes from where the configuration says now, where it has it.
    Done(Option<Box<HttpSecret>>),
    /// It is refused for as long as the host runs.
    Refused,
    /// Nobody could be asked, or nobody has answered.
    NotAsked,
}

/// Answer of a user who was asked for a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantAnswer {
    /// It is granted for the running call.
    Once,
    /// It is granted for as long as the host runs.
    Session,
    /// It is refused for as long as the host runs.
    Refused,
    /// Nobody could be asked, or nobody has answered.
    NotAsked,
}
