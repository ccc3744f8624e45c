//! Decisions of users on calls that they were asked about, by their clients.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dormouse_protocol::ClientKey;
use parking_lot::Mutex;

/// Most clients without a session whose refusals are remembered, by the names that they give
/// themselves: who calls by ever more names makes the earlier ones be asked again.
const MAX_NAMES: usize = 256;

/// A tool, by its server's name and its own.
pub(super) type ToolKey = (String, String);

/// Decisions of users on calls, by their clients. Of one that has a session they are kept as long
/// as that.
#[derive(Default)]
pub(in crate::roster) struct CallDecisions(Mutex<HashMap<ClientKey, DecisionsOfClient>>);

#[derive(Default)]
struct DecisionsOfClient {
    /// Tools that are called without a question, or not at all.
    decided: BTreeMap<ToolKey, bool>,
    /// Tools that somebody is being asked about.
    asked: BTreeMap<ToolKey, Arc<tokio::sync::Mutex<()>>>,
}

impl CallDecisions {
    /// Returns what a client's user has said of a tool, unless that was about one call.
    pub(super) fn decided(&self, client: &ClientKey, tool: &ToolKey) -> Option<bool> {
        let all = self.0.lock();
        all.get(client)?.decided.get(tool).copied()
    }

    /// Keeps an answer. A refusal is one for good: of two forms about a tool, the refused one counts.
    pub(super) fn decide(&self, client: &ClientKey, tool: &ToolKey, is_allowed: bool) {
        let mut all = self.0.lock();
        if !has_session(client) {
            let others = all.iter().filter(|(key, of_client)| {
                !has_session(key) && *key != client && !of_client.decided.is_empty()
            });
            let others: Vec<_> = others.map(|(key, _)| key).collect();
            if others.len() >= MAX_NAMES
                && let Some(one) = others.first().copied().cloned()
            {
                all.remove(&one);
            }
        }
        let decided = &mut all.entry(client.clone()).or_default().decided;
        let known = decided.entry(tool.clone()).or_insert(is_allowed);
        *known &= is_allowed;
    }

    /// Returns the turn in which a client's user is asked about a tool: one form at a time.
    pub(super) fn turn(&self, client: &ClientKey, tool: &ToolKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.0.lock();
        let asked = &mut all.entry(client.clone()).or_default().asked;
        Arc::clone(asked.entry(tool.clone()).or_default())
    }

    /// Forgets a turn that nobody else waits for.
    pub(super) fn end_turn(
        &self,
        client: &ClientKey,
        tool: &ToolKey,
        turn: Arc<tokio::sync::Mutex<()>>,
    ) {
        drop(turn);
        let mut all = self.0.lock();
        let Some(of_client) = all.get_mut(client) else {
            return;
        };
        let asked = of_client.asked.get(tool);
        if asked.is_some_and(|turn| Arc::strong_count(turn) == 1) {
            of_client.asked.remove(tool);
        }
        if of_client.asked.is_empty() && of_client.decided.is_empty() {
            all.remove(client);
        }
    }

    /// Forgets what was said in a session.
    pub(in crate::roster) fn end_session(&self, client: &ClientKey) {
        self.0.lock().remove(client);
    }
}

/// Whether a client has a session, so that nobody else goes by its key.
pub(super) fn has_session(client: &ClientKey) -> bool {
    matches!(client, ClientKey::Session(_))
}

#[cfg(test)]
mod tests {
    use dormouse_protocol::SessionId;

    use super::*;

    fn tool() -> ToolKey {
        ("files".to_owned(), "delete".to_owned())
    }

    #[test]
    fn a_refusal_holds_for_its_client_whatever_another_form_says() {
        let decisions = CallDecisions::default();
        let [one, other] = [1, 2].map(|id| ClientKey::Session(SessionId(id)));
        for (is_allowed, decided) in [(true, true), (false, false), (true, false)] {
            decisions.decide(&one, &tool(), is_allowed);
            assert_eq!(decisions.decided(&one, &tool()), Some(decided));
        }
        assert_eq!(decisions.decided(&other, &tool()), None);
        decisions.end_session(&one);
        assert_eq!(decisions.decided(&one, &tool()), None);
    }

    #[test]
    fn only_so_many_names_and_no_turns_are_kept() {
        let decisions = CallDecisions::default();
        let session = ClientKey::Session(SessionId(1));
        decisions.decide(&session, &tool(), false);
        for number in 0..2 * MAX_NAMES {
            let client = ClientKey::Name(number.to_string());
            let turn = decisions.turn(&client, &tool());
            decisions.decide(&client, &tool(), false);
            decisions.end_turn(&client, &tool(), turn);
        }
        assert_eq!(decisions.0.lock().len(), MAX_NAMES + 1);
        assert_eq!(decisions.decided(&session, &tool()), Some(false));
        let client = ClientKey::Name("another".to_owned());
        let turns = [(); 2].map(|()| decisions.turn(&client, &tool()));
        for turn in turns {
            assert!(decisions.0.lock().contains_key(&client));
            decisions.end_turn(&client, &tool(), turn);
        }
        assert!(!decisions.0.lock().contains_key(&client));
    }
}
