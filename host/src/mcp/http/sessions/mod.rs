//! The sessions of legacy clients: their number, their life, and the calls of a client that has
//! gone.
//!
//! A [`session`] has [`streams`]: one for each request that needs more than one message
//! for its answer, and one for all that answers nothing. What rmcp says comes through
//! the [`transport`], and the [`routes`] know on which stream it belongs. There it is
//! kept for a while, within a [`budget`], and each [`reader`] has a place in it; so
//! nobody who sends waits for anybody who reads, and who comes back after a break goes
//! on where it was.

mod budget;
mod claimed_request_id;
mod event;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod reader;
mod routes;
mod session;
mod stream;
mod streams;
mod transport;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::server_side_http::session_id;
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use budget::Budget;
pub(super) use claimed_request_id::ClaimedRequestId;
use event::NoEvent;
pub(super) use event::size;
use session::Ended;
use session::Session;
pub(super) use session::{SessionInfo, name_of};
pub(super) use transport::Pipe;

/// Sessions of the server.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Inner>);

struct Inner {
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    most: usize,
    idle: Duration,
    budget: Arc<Budget>,
}

/// Reason for which a client cannot have another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoRoom {
    #[error("there are too many sessions, and all of them are busy")]
    OfAll,
    #[error("there are too many sessions of clients of this name, and all of them are busy")]
    OfClient,
}

/// Error: a request of that id is on its way already.
#[derive(Debug)]
pub(super) struct Taken;

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("all sessions are busy")]
    Full,
    #[error(transparent)]
    Ended(#[from] Ended),
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        Self(Arc::new(Inner {
            open: Mutex::default(),
            most,
            idle,
            budget: Arc::default(),
        }))
    }

    /// Makes room for one more session of a client, by its name in the handshake: where there is
    /// none, an idle one ends, of that client or of one that has more.
    ///
    /// # Errors
    /// None is idle of which that holds, or the client has as many as one may have, all busy.
    pub(super) fn make_room(&self, client: &str) -> Result<(), NoRoom> {
        let open = self.0.open.lock();
        let shares = shares(&open);
        let share = |of: &Session| shares.get(&of.client()).copied().unwrap_or_default();
        let is_same = |other: &Session| other.client().as_deref() == Some(client);
        let own = shares.get(&Some(client.to_owned())).copied();
        let own = own.unwrap_or_default();
        let spared = if own >= most_of_one(self.0.most) {
            longest_idle(&open, &shares, &is_same).ok_or(NoRoom::OfClient)?
        } else if open.len() < self.0.most {
            return Ok(());
        } else {
            let may_end = |other: &Session| is_same(other) || share(other) > own;
            longest_idle(&open, &shares, &may_end).ok_or(NoRoom::OfAll)?
        };
        drop(open);
        tracing::debug!(id = %spared, "an idle session has made room");
        self.end(&spared);
        Ok(())
    }

    /// Claims the id of a request, unless one of that id is on its way; `None` where there is no
    /// such session.
    pub(super) fn claim(
        &self,
        session: &str,
        request: &RequestId,
    ) -> Result<Option<ClaimedRequestId>, Taken> {
        let Some(session) = self.find(session) else {
            return Ok(None);
        };
        session.claim(request).map(Some).ok_or(Taken)
    }

    /// Notes the outcome of a session's handshake.
    pub(super) fn know(&self, session: &str, known: SessionInfo) {
        if let Some(session) = self.find(session) {
            session.know(known);
        }
    }

    /// The version of the protocol that a session is of.
    ///
    /// # Errors
    /// There is no such session.
    pub(super) fn version(&self, session: &str) -> Result<Option<ProtocolVersion>, Ended> {
        Ok(self.there(session)?.version())
    }

    /// Checks whether nothing is to be had in a session after the event with that id, now or later,
    /// or there is no such event. False where there is no such session.
    pub(super) fn is_over(&self, session: &str, last_event_id: &str) -> bool {
        let session = self.find(session);
        session.is_some_and(|session| match last_event_id.parse() {
            Ok(after) => session.is_over(after),
            Err(NoEvent) => true,
        })
    }

    /// Ends a request that was not passed to rmcp.
    pub(super) fn cancel(&self, session: &str, request: &RequestId) {
        if let Some(session) = self.find(session) {
            session.cancel(request);
        }
    }

    /// Ends sessions whose clients were not heard of for too long, for ever.
    pub(super) async fn sweep(&self) {
        let pause = (self.0.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(30));
        loop {
            tokio::time::sleep(pause).await;
            let all: Vec<_> = self
                .0
                .open
                .lock()
                .iter()
                .map(|(id, session)| (id.clone(), session.clone()))
                .collect();
            for (id, session) in all {
                session.tidy();
                let idle = session.idle();
                if idle.is_some_and(|(read, heard)| !read && heard.elapsed() >= self.0.idle) {
                    tracing::debug!(%id, "an idle session is ended");
                    self.end(&id);
                }
            }
        }
    }

    fn end(&self, id: &str) {
        let mut open = self.0.open.lock();
        let ended = open.remove(id);
        self.0.budget.among(open.len());
        drop(open);
        if let Some(session) = ended {
            session.end();
        }
    }

    fn find(&self, session: &str) -> Option<Arc<Session>> {
        self.0.open.lock().get(session).cloned()
    }

    fn there(&self, session: &str) -> Result<Arc<Session>, Ended> {
        self.find(session).ok_or(Ended)
    }
}

/// Returns the most sessions that clients of one name may have: some are left to others, however
/// many are busy.
fn most_of_one(most: usize) -> usize {
    (most - most / 4).max(1)
}

/// Returns the number of sessions of each client.
fn shares(open: &HashMap<SessionId, Arc<Session>>) -> HashMap<Option<String>, usize> {
    let mut shares = HashMap::new();
    for session in open.values() {
        *shares.entry(session.client()).or_default() += 1;
    }
    shares
}

/// Returns the session that can best be spared of those that may end: one without a running request,
/// of the client that has most, so that no client ends the sessions of others. Of these, one that
/// never had a request goes first, then one without a reader, then the one whose client was not
/// heard of for longest.
fn longest_idle(
    open: &HashMap<SessionId, Arc<Session>>,
    shares: &HashMap<Option<String>, usize>,
    may_end: &dyn Fn(&Session) -> bool,
) -> Option<SessionId> {
    let idle = open.iter().filter_map(|(id, session)| {
        let (listens, heard) = session.idle().filter(|_| may_end(session))?;
        let share = shares.get(&session.client()).copied().unwrap_or_default();
        let order = (Reverse(share), session.is_used(), listens, heard);
        Some((order, id))
    });
    idle.min().map(|(_, id)| id.clone())
}

impl SessionManager for Sessions {
    type Error = Error;
    type Transport = Pipe;

    async fn create_session(&self) -> Result<(SessionId, Pipe), Error> {
        let id = session_id();
        let (session, said) = Session::new(self.0.budget.clone());
        let mut open = self.0.open.lock();
        let mut spared = None;
        if open.len() >= self.0.most {
            // Others have taken the room that was made, or nobody was named.
            let longest = longest_idle(&open, &shares(&open), &|_| true).ok_or(Error::Full)?;
            tracing::debug!(id = %longest, "an idle session has made room");
            spared = open.remove(&longest);
        }
        open.insert(id.clone(), session.clone());
        self.0.budget.among(open.len());
        drop(open);
        if let Some(spared) = spared {
            spared.end();
        }
        Ok((id, Pipe::new(session, said)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Error> {
        Ok(self.there(id)?.shake_hands(message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Error> {
        let session = self.find(id);
        if let Some(session) = &session {
            session.hear();
        }
        Ok(session.is_some())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Error> {
        self.end(id);
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        Ok(self.there(id)?.ask(message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        Ok(self.there(id)?.tell(message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        Ok(self.there(id)?.listen())
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Error> {
        let session = self.there(id)?;
        let Ok(after) = last_event_id.parse() else {
            tracing::debug!("there is no event `{}`", last_event_id.escape_debug());
            return Ok(session.nothing());
        };
        Ok(session.resume(after))
    }
}
