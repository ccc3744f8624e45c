//! Requests that nobody waits for any more, and that the upstream has not answered yet.

use std::collections::HashMap;

use crate::runtime::SessionId;

/// Most requests of one connection that are remembered: what a late answer belongs to, and
/// whose call the upstream may still be busy with.
const MAX_REQUESTS: usize = 1024;

/// Requester of a request that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Requester {
    /// Dormouse itself, which wanted to know what there is.
    Dormouse,
    /// A client of that session, or of none.
    Client(Option<SessionId>),
}

/// The requests of one connection that were given up. A cancellation is a wish: until its answer
/// comes, an upstream may ask and say things that are about such a request.
#[derive(Debug, Default)]
pub(super) struct GivenUpRequests {
    requesters: HashMap<u64, Requester>,
    /// Whether there have been more than are remembered.
    is_incomplete: bool,
}

impl GivenUpRequests {
    /// Remembers a request by its JSON-RPC id.
    pub(super) fn add(&mut self, id: u64, requester: Requester) {
        match self.requesters.len() < MAX_REQUESTS {
            true => drop(self.requesters.insert(id, requester)),
            false => self.is_incomplete = true,
        }
    }

    /// Whether an answer to that id may belong to one of them. It is over then.
    pub(super) fn take(&mut self, id: u64) -> bool {
        self.requesters.remove(&id).is_some() || self.is_incomplete
    }

    /// Whether all that the upstream may still be busy with is of that one session.
    pub(super) fn are_all_of(&self, session: Option<SessionId>) -> bool {
        // Two clients of no session cannot be told apart.
        let mut requesters = self.requesters.values();
        !self.is_incomplete
            && requesters.all(|requester| match requester {
                Requester::Dormouse => true,
                Requester::Client(other) => session.is_some() && *other == session,
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
        given_up.add(1, Requester::Dormouse);
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
            for (id, requester) in (0..).zip(requesters) {
                given_up.add(id, *requester);
            }
            assert_eq!(given_up.are_all_of(one), of_one, "{requesters:?}");
            assert_eq!(given_up.are_all_of(None), of_none, "{requesters:?}");
        }
    }

    #[test]
    fn what_is_not_remembered_may_be_anybodys() {
        let mut given_up = GivenUpRequests::default();
        for id in 0..=MAX_REQUESTS as u64 {
            given_up.add(id, Requester::Dormouse);
        }
        assert!(given_up.take(MAX_REQUESTS as u64));
        assert!(!given_up.are_all_of(None));
    }
}
