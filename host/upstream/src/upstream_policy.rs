//! What stands between an upstream and those who call it.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};
use futures::future::BoxFuture;

use super::{Offered, Reactions};

/// Knows what an upstream is supposed to offer, and decides what reaches it.
pub trait UpstreamPolicy: Send + Sync {
    /// The upstream says what it offers: after each connection, before anything is
    /// asked of it, and whenever it has said that a list of its has changed.
    fn opened(&self, offered: Offered);

    /// The connection of that number has ended.
    fn closed(&self, connection: u64);

    /// The upstream could not be started, for that reason.
    fn failed(&self, why: &str);

    /// A caller wanted a tool that may be called, but that the upstream does not have for
    /// this caller's client.
    fn missed(&self, tool: &str);

    /// The names of the tools that the upstream's user has seen as they are: the only ones
    /// that a caller may be told of.
    fn seen_tools(&self) -> BTreeSet<String>;

    /// What the upstream has done with the first requests of MCP's eras, as far as that is
    /// known.
    fn reactions(&self) -> Reactions;

    /// Whether a request may go to the upstream as it is now: for the tool, prompt or whatever
    /// else `name` names in it. A tool that has
    /// changed since its user last saw it may not; where the caller can ask the
    /// user, this asks.
    ///
    /// # Errors
    /// Why it may not, for the caller.
    fn admit<'a>(
        &'a self,
        method: &'a str,
        name: Option<&'a str>,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>>;

    /// The upstream says that the resource of this URI is no longer what it was.
    fn updated(&self, uri: &str);

    /// The client of a session, as it can be told and asked something while none of
    /// its requests is being answered: in the stateless era, it cannot.
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>>;

    /// Tells the client of a session what has become of what the upstream has kept for it: at
    /// once, or later where it hears no logs.
    fn tell(&self, session: Option<SessionId>, text: String);
}
