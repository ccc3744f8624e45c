//! The sessions of legacy clients: their number, their life, and the calls of a client that has
//! gone.
//!
//! An [`agent`] has a [`session`], which has [`streams`]: one for each request that needs more than
//! one message for its answer, and one for all that answers nothing. The [`routes`] know on which
//! stream a message belongs. There it is kept for a while, within a [`budget`], and each [`reader`]
//! has a place in it; so nobody who sends waits for anybody who reads, and who comes back after a
//! break goes on where it was.

mod agent;
mod budget;
mod claimed_request_id;
mod event;
mod reader;
mod routes;
mod session;
mod stream;
mod streams;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use parking_lot::Mutex;
use rmcp::model::{InitializeRequestParams, InitializeResult};

use super::answers::answer_room::AnswerRoom;
use crate::mcp::server::Host;
use crate::mcp::session::AgentSession;
pub(super) use agent::Agent;
use agent::name_of;
use budget::SessionsBudget;
pub(super) use event::EventId;

/// Number of random bytes in the id of a session.
const ID_BYTES: usize = 16;

/// Sessions of the server.
pub(super) struct HttpSessions {
    open: Mutex<HashMap<String, Arc<Agent>>>,
    most: usize,
    idle: Duration,
    budget: Arc<SessionsBudget>,
    /// Memory of messages to clients.
    answers: Arc<AnswerRoom>,
}

/// Reason for which a client cannot have another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoSessionRoom {
    #[error("there are too many sessions, and all of them are busy")]
    OfAll,
    #[error("there are too many sessions of clients of this name, and all of them are busy")]
    OfClient,
}

/// A session that was opened.
pub(super) struct OpenedSession {
    pub(super) id: String,
    /// The answer to its handshake.
    pub(super) result: InitializeResult,
}

impl HttpSessions {
    pub(super) fn new(most: usize, idle: Duration, answers: Arc<AnswerRoom>) -> Self {
        Self {
            open: Mutex::default(),
            most,
            idle,
            budget: Arc::default(),
            answers,
        }
    }

    /// Opens a session by a handshake, which `begin` begins. Where there is no room for one more, an
    /// idle one ends, of that client or of one that has more.
    ///
    /// # Errors
    /// None is idle of which that holds, or the client has as many as one may have, all busy.
    pub(super) fn open(
        &self,
        said: InitializeRequestParams,
        begin: impl FnOnce() -> (AgentSession, Host),
    ) -> anyhow::Result<OpenedSession> {
        let id = new_id()?;
        let client = name_of(&said.client_info);
        let mut open = self.open.lock();
        let spared = self.spared(&open, &client)?;
        let spared = spared.and_then(|spared| {
            tracing::debug!(id = %spared, "an idle session has made room");
            open.remove(&spared)
        });
        let (agent, result) = Agent::new(begin(), said, self.budget.clone(), &self.answers);
        open.insert(id.clone(), agent);
        self.budget.among(open.len());
        drop(open);
        if let Some(spared) = spared {
            spared.end();
        }
        Ok(OpenedSession { id, result })
    }

    /// Returns the session that has to end for one more of a client, by its name; none where there
    /// is room.
    fn spared(
        &self,
        open: &HashMap<String, Arc<Agent>>,
        client: &str,
    ) -> Result<Option<String>, NoSessionRoom> {
        let shares = shares(open);
        let share = |of: &str| shares.get(of).copied().unwrap_or_default();
        let own = share(client);
        let is_same = |other: &Agent| other.client == client;
        if own >= most_of_one(self.most) {
            return longest_idle(open, &shares, &is_same)
                .map(Some)
                .ok_or(NoSessionRoom::OfClient);
        }
        if open.len() < self.most {
            return Ok(None);
        }
        let may_end = |other: &Agent| is_same(other) || share(&other.client) > own;
        longest_idle(open, &shares, &may_end)
            .map(Some)
            .ok_or(NoSessionRoom::OfAll)
    }

    /// Returns the agent of a session, if that is there for clients that name this profile, or none,
    /// and notes that its client is.
    pub(super) fn find(&self, session: &str, profile: Option<&str>) -> Option<Arc<Agent>> {
        let agent = self.open.lock().get(session).cloned()?;
        if agent.host.profile.as_deref() != profile {
            return None;
        }
        agent.session.hear();
        Some(agent)
    }

    /// Ends sessions whose clients were not heard of for too long, for ever.
    pub(super) async fn sweep(&self) {
        let pause = (self.idle / 4).clamp(Duration::from_millis(100), Duration::from_secs(30));
        loop {
            tokio::time::sleep(pause).await;
            for (id, agent) in self.all() {
                agent.session.tidy();
                let idle = agent.session.idle();
                if idle.is_some_and(|(read, heard)| !read && heard.elapsed() >= self.idle) {
                    tracing::debug!(%id, "an idle session is ended");
                    self.end(&id);
                }
            }
        }
    }

    /// Ends a session. Returns whether it was there.
    pub(super) fn end(&self, id: &str) -> bool {
        let mut open = self.open.lock();
        let ended = open.remove(id);
        self.budget.among(open.len());
        drop(open);
        let was_there = ended.is_some();
        if let Some(agent) = ended {
            agent.end();
        }
        was_there
    }

    /// Ends all sessions.
    pub(super) fn end_all(&self) {
        for (id, _) in self.all() {
            self.end(&id);
        }
    }

    fn all(&self) -> Vec<(String, Arc<Agent>)> {
        let open = self.open.lock();
        let all = open.iter();
        all.map(|(id, agent)| (id.clone(), agent.clone())).collect()
    }
}

/// Returns the id of a new session, which nobody can guess.
fn new_id() -> anyhow::Result<String> {
    let mut random = [0; ID_BYTES];
    getrandom::fill(&mut random).context("the system gives no random numbers")?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

/// Returns the most sessions that clients of one name may have: some are left to others, however
/// many are busy.
fn most_of_one(most: usize) -> usize {
    (most - most / 4).max(1)
}

/// Returns the number of sessions of each client.
fn shares(open: &HashMap<String, Arc<Agent>>) -> HashMap<String, usize> {
    let mut shares = HashMap::new();
    for agent in open.values() {
        *shares.entry(agent.client.clone()).or_default() += 1;
    }
    shares
}

/// Returns the session that can best be spared of those that may end: one without a running request,
/// of the client that has most, so that no client ends the sessions of others. Of these, one that
/// never had a request goes first, then one without a reader, then the one whose client was not
/// heard of for longest.
fn longest_idle(
    open: &HashMap<String, Arc<Agent>>,
    shares: &HashMap<String, usize>,
    may_end: &dyn Fn(&Agent) -> bool,
) -> Option<String> {
    let idle = open.iter().filter_map(|(id, agent)| {
        let (listens, heard) = agent.session.idle().filter(|_| may_end(agent))?;
        let share = shares.get(&agent.client).copied().unwrap_or_default();
        let order = (Reverse(share), agent.session.is_used(), listens, heard);
        Some((order, id))
    });
    idle.min().map(|(_, id)| id.clone())
}
