//! Requests that nobody waits for any more, and that the upstream has not answered yet.

use std::collections::HashMap;
use std::time::Duration;

use dormouse_protocol::SessionId;
use tokio::time::Instant;

/// Most requests of one connection that are remembered: late answers may be to them, and the
/// upstream may still be busy with them.
const MAX_REQUESTS: usize = 1024;

/// Time for which an upstream may still be busy with a request that was given up, unless it
/// answers. Servers that hear of a cancellation are not supposed to answer (MCP, "Cancellation"),
/// so that most of these requests never end otherwise.
const MAX_BUSY: Duration = Duration::from_secs(600);

/// Requester of a request that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requester {
    /// Dormouse itself, for what the upstream offers.
    Dormouse,
    /// A client of that session, or of none.
    Client(Option<SessionId>),
}

/// Requests of one connection that were given up. A cancellation is a wish: until its answer comes,
/// an upstream may ask and say things that are about such a request.
#[derive(Debug, Default)]
pub(super) struct GivenUpRequests {
    requests: HashMap<u64, GivenUpRequest>,
    /// Time until which there may be some that are not remembered.
    incomplete_until: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct GivenUpRequest {
    requester: Requester,
    /// Time from which on it counts no longer.
    end: Instant,
}

impl GivenUpRequests {
    /// Remembers a request by its JSON-RPC id.
    pub(super) fn add(&mut self, id: u64, requester: Requester, now: Instant) {
        self.requests.retain(|_, request| request.end > now);
        let end = now + MAX_BUSY;
        match self.requests.len() < MAX_REQUESTS {
            true => drop(self.requests.insert(id, GivenUpRequest { requester, end })),
            false => self.incomplete_until = Some(end),
        }
    }

    /// Whether an answer with this id may belong to one of the requests. Forgets that request.
    pub(super) fn take(&mut self, id: u64) -> bool {
        self.requests.remove(&id).is_some() || self.incomplete_until.is_some()
    }

    /// Whether all that the upstream may still be busy with is of that one session.
    pub(super) fn are_all_of(&self, session: Option<SessionId>, now: Instant) -> bool {
        let mut requests = self.requests.values();
        self.incomplete_until.is_none_or(|end| end <= now)
            && requests.all(|request| match request.requester {
                _ if request.end <= now => true,
                Requester::Dormouse => true,
                // Two clients of no session cannot be told apart.
                Requester::Client(other) => session.is_some() && other == session,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_what_was_given_up_is_expected_once() {
        let mut given_up = GivenUpRequests::default();
        assert!(!given_up.take(1));
        given_up.add(1, Requester::Dormouse, Instant::now());
        assert!(given_up.take(1) && !given_up.take(1));
    }

    #[test]
    fn they_are_of_a_session_where_each_is() {
        let [one, other] = [1, 2].map(SessionId).map(Some);
        for (requesters, of_one, of_none) in [
            (&[][..], true, true),
            (&[Requester::Dormouse], true, true),
            (&[Requester::Client(one)], true, false),
            (
                &[Requester::Client(one), Requester::Client(other)],
                false,
                false,
            ),
            (&[Requester::Client(None)], false, false),
        ] {
            let mut given_up = GivenUpRequests::default();
            let now = Instant::now();
            for (id, requester) in (0..).zip(requesters) {
                given_up.add(id, *requester, now);
            }
            assert_eq!(given_up.are_all_of(one, now), of_one, "{requesters:?}");
            assert_eq!(given_up.are_all_of(None, now), of_none, "{requesters:?}");
            // Servers do not answer what was cancelled.
            let later = now + MAX_BUSY;
            assert!(given_up.are_all_of(one, later) && given_up.are_all_of(None, later));
        }
    }

    #[test]
    fn what_is_not_remembered_may_be_anybodys() {
        let mut given_up = GivenUpRequests::default();
        let now = Instant::now();
        for id in 0..=MAX_REQUESTS as u64 {
            given_up.add(id, Requester::Dormouse, now);
        }
        assert!(given_up.take(MAX_REQUESTS as u64));
        assert!(!given_up.are_all_of(None, now));
        assert!(given_up.are_all_of(None, now + MAX_BUSY));
    }
}
