//! Policy between an upstream and its callers.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};
use futures::future::BoxFuture;

use super::{JudgedItems, Lost, Offered, Reactions};

/// Policy that knows what an upstream is supposed to offer, and decides what reaches it.
pub trait UpstreamPolicy: Send + Sync {
    /// Takes what the upstream offers: after each connection, before anything is asked of it, and
    /// whenever it has announced that a list of its has changed.
    fn opened(&self, offered: Offered);

    /// Notes that the connection of that number has ended.
    fn closed(&self, connection: u64);

    /// Notes that the upstream could not be started, or wants its user to log in first.
    fn failed(&self, lost: &Lost);

    /// Notes that a caller wanted a tool that may be called, but that the upstream does not have
    /// for this caller's client.
    fn missed(&self, tool: &str);

    /// Returns the names of the tools that the upstream's user has seen as they are: the only ones
    /// that a caller may be told of.
    fn seen_tools(&self) -> BTreeSet<String>;

    /// Whether it is known what the upstream offers. That may be forgotten while a connection is
    /// open, which then is asked again before anything else.
    fn is_known(&self) -> bool;

    /// Returns the upstream's reactions to the first requests of MCP's eras, as far as they are
    /// known.
    fn reactions(&self) -> Reactions;

    /// Returns the items of the upstream by which [`admit`](Self::admit) decides about a request: their
    /// lists have to be known then, as they are after all changes that it has announced. None where
    /// the request may go to the upstream whatever that has become.
    fn judged_items(
        &self,
        method: &str,
        name: Option<&str>,
        caller: &Arc<dyn Listener>,
    ) -> JudgedItems;

    /// Whether [`admit`](Self::admit) decides by these items as the upstream has told them over the
    /// connection of that number: over another one it may have told something else since.
    fn is_recorded(&self, connection: u64, items: &JudgedItems) -> bool;

    /// Checks whether a request may go to the upstream as it is now, for the tool, prompt or other
    /// item that `name` names. A tool that has changed since its user last saw it may not; where
    /// the caller can ask the user, this asks.
    ///
    /// # Errors
    /// The request may not; says why, for the caller.
    fn admit<'a>(
        &'a self,
        method: &'a str,
        name: Option<&'a str>,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>>;

    /// Notes that the upstream says that the resource of this URI has changed.
    fn updated(&self, uri: &str);

    /// Returns the client of a session, as it can be told and asked something between its requests;
    /// none in the stateless era.
    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>>;

    /// Tells the client of a session what has become of the state that the upstream has kept for
    /// it: at once, or later where it hears no logs.
    fn tell(&self, session: Option<SessionId>, text: String);
}
