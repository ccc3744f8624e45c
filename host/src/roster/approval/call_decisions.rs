//! Decisions of users on calls that they were asked about, by their clients.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dormouse_policy::HttpGrant;
use dormouse_protocol::ClientKey;
use parking_lot::Mutex;
use tokio::sync::MutexGuard;

use super::judged_tool::{CallTarget, JudgedTool};

/// Most clients without a session whose refusals are remembered, by the names that they give
/// themselves: who calls by ever more names makes the earlier ones be asked again.
const MAX_NAMES: usize = 256;

/// A tool, by its server's name and its own.
pub(super) type ToolKey = (String, String);

/// Answer that holds for later calls of a tool.
#[derive(Debug, Clone)]
pub(super) enum CallDecision {
    /// None is made, whatever the tool becomes, and whoever calls it.
    Refused,
    /// They are made as long as the tool is this one.
    Allowed(Box<JudgedTool>),
}

/// Answers that hold for later calls of the tools of one name.
#[derive(Default)]
struct DecidedTool {
    is_refused: bool,
    /// Tools of that name, of a server and of the upstream behind its component, that are called as long as
    /// each is this one.
    allowed: BTreeMap<CallTarget, JudgedTool>,
}

/// Decisions of users on calls, by their clients. Of one that has a session it is kept as long as
/// that.
#[derive(Default)]
pub(in crate::roster) struct CallDecisions(Mutex<HashMap<ClientKey, DecisionsOfClient>>);

#[derive(Default)]
struct DecisionsOfClient {
    /// Tools that are called without a question, or not at all.
    decided: BTreeMap<ToolKey, DecidedTool>,
    /// Tools that somebody is being asked about.
    asked: BTreeMap<ToolKey, Arc<tokio::sync::Mutex<()>>>,
}

impl CallDecisions {
    /// Returns whether a client's user wants a tool called that is this one now; none where they were
    /// not asked, or about one call or another tool.
    pub(super) fn decided(
        &self,
        client: &ClientKey,
        tool: &ToolKey,
        now: &JudgedTool,
    ) -> Option<bool> {
        let all = self.0.lock();
        let decided = all.get(client)?.decided.get(tool)?;
        if decided.is_refused {
            return Some(false);
        }
        let confirmed = decided.allowed.get(&now.target)?;
        (confirmed == now).then_some(true)
    }

    /// Keeps an answer. A refusal is one for good: of two forms about a tool, the refused one counts.
    pub(super) fn decide(&self, client: &ClientKey, tool: &ToolKey, decision: CallDecision) {
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
        let decided = decided.entry(tool.clone()).or_default();
        match decision {
            CallDecision::Refused => decided.is_refused = true,
            CallDecision::Allowed(confirmed) => {
                decided.allowed.insert(confirmed.target, *confirmed);
            }
        }
    }

    /// Takes what a server's plugin has just been granted for good, by a user who was asked, for a part of
    /// what they have said yes to: one answer is no reason to ask for another again.
    pub(super) fn add_http_grant(&self, server: &str, granted: &HttpGrant) {
        let mut all = self.0.lock();
        let decided = all
            .values_mut()
            .flat_map(|of_client| &mut of_client.decided);
        let of_server = decided.filter(|((of_server, _), _)| of_server == server);
        for confirmed in of_server.flat_map(|(_, decided)| decided.allowed.values_mut()) {
            confirmed.given.grants.http.push(granted.clone());
        }
    }

    /// Returns the turn in which a client's user is asked about a tool: one form at a time.
    pub(super) fn turn(&self, client: &ClientKey, tool: &ToolKey) -> QuestionTurn<'_> {
        let mut all = self.0.lock();
        let asked = &mut all.entry(client.clone()).or_default().asked;
        QuestionTurn {
            decisions: self,
            client: client.clone(),
            tool: tool.clone(),
            turn: Arc::clone(asked.entry(tool.clone()).or_default()),
        }
    }

    /// Forgets what was said in a session.
    pub(in crate::roster) fn end_session(&self, client: &ClientKey) {
        self.0.lock().remove(client);
    }
}

/// Turn in which a client's user is asked about a tool. It is forgotten when nobody waits for it any
/// more: a call may be dropped while its question is open.
pub(super) struct QuestionTurn<'d> {
    decisions: &'d CallDecisions,
    client: ClientKey,
    tool: ToolKey,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl QuestionTurn<'_> {
    /// Waits until nobody else is asked about the tool.
    pub(super) async fn lock(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

impl Drop for QuestionTurn<'_> {
    fn drop(&mut self) {
        let mut all = self.decisions.0.lock();
        let Some(of_client) = all.get_mut(&self.client) else {
            return;
        };
        // This one and that in the map.
        if Arc::strong_count(&self.turn) == 2 {
            of_client.asked.remove(&self.tool);
        }
        if of_client.asked.is_empty() && of_client.decided.is_empty() {
            all.remove(&self.client);
        }
    }
}

/// Whether a client has a session, so that nobody else goes by its key.
pub(super) fn has_session(client: &ClientKey) -> bool {
    matches!(client, ClientKey::Session(_))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dormouse_config::Fingerprint;
    use dormouse_policy::Grants;
    use dormouse_policy::exposure::ToolAccess;
    use dormouse_protocol::SessionId;
    use serde_json::Value;

    use super::*;
    use crate::roster::approval::judged_tool::JudgedInputs;

    fn tool() -> ToolKey {
        ("files".to_owned(), "delete".to_owned())
    }

    fn confirmed() -> JudgedTool {
        JudgedTool {
            target: CallTarget::Server,
            access: ToolAccess::Write,
            offered: None,
            declaration: Some(blake3::hash(b"{}")),
            launch: None,
            component: Some((PathBuf::from("/files.wasm"), None)),
            given: JudgedInputs::default(),
        }
    }

    fn given(given: JudgedInputs) -> JudgedTool {
        JudgedTool {
            given,
            ..confirmed()
        }
    }

    fn yes() -> CallDecision {
        CallDecision::Allowed(Box::new(confirmed()))
    }

    #[test]
    fn a_refusal_holds_for_its_client_whatever_another_form_says() {
        let decisions = CallDecisions::default();
        let [one, other] = [1, 2].map(|id| ClientKey::Session(SessionId(id)));
        let decided = |client: &ClientKey| decisions.decided(client, &tool(), &confirmed());
        for (decision, expected) in [
            (yes(), true),
            (CallDecision::Refused, false),
            (yes(), false),
        ] {
            decisions.decide(&one, &tool(), decision);
            assert_eq!(decided(&one), Some(expected));
        }
        assert_eq!(decided(&other), None);
        decisions.end_session(&one);
        assert_eq!(decided(&one), None);
    }

    /// A component's `send` calls the `send` of its upstream, which may do more.
    #[test]
    fn a_yes_to_a_tool_ends_none_to_what_its_component_calls_under_that_name() {
        let decisions = CallDecisions::default();
        let client = ClientKey::Session(SessionId(1));
        let of_upstream = JudgedTool {
            target: CallTarget::Upstream,
            access: ToolAccess::Destructive,
            ..confirmed()
        };
        let decided = |tool_now: &JudgedTool| decisions.decided(&client, &tool(), tool_now);
        decisions.decide(&client, &tool(), yes());
        assert_eq!(decided(&of_upstream), None);
        let both = CallDecision::Allowed(Box::new(of_upstream.clone()));
        decisions.decide(&client, &tool(), both);
        for allowed in [&confirmed(), &of_upstream] {
            assert_eq!(decided(allowed), Some(true));
        }
        decisions.decide(&client, &tool(), CallDecision::Refused);
        for refused in [&confirmed(), &of_upstream] {
            assert_eq!(decided(refused), Some(false));
        }
    }

    #[test]
    fn a_yes_is_for_the_tool_that_was_shown_and_a_no_for_whatever_it_becomes() {
        let decisions = CallDecisions::default();
        let client = ClientKey::Session(SessionId(1));
        let others = [
            JudgedTool {
                access: ToolAccess::Destructive,
                ..confirmed()
            },
            JudgedTool {
                declaration: Some(blake3::hash(b"{ }")),
                ..confirmed()
            },
            JudgedTool {
                launch: Some(Fingerprint::default()),
                ..confirmed()
            },
            JudgedTool {
                component: Some((PathBuf::from("/other.wasm"), None)),
                ..confirmed()
            },
            given(JudgedInputs {
                grants: Grants {
                    env: vec!["ACCOUNT".to_owned()],
                    ..Grants::default()
                },
                ..JudgedInputs::default()
            }),
            given(JudgedInputs {
                settings: [("account".to_owned(), Value::from("other"))]
                    .into_iter()
                    .collect(),
                ..JudgedInputs::default()
            }),
        ];
        decisions.decide(&client, &tool(), yes());
        assert_eq!(
            decisions.decided(&client, &tool(), &confirmed()),
            Some(true)
        );
        for other in &others {
            assert_eq!(
                decisions.decided(&client, &tool(), other),
                None,
                "{other:?}"
            );
        }
        decisions.decide(&client, &tool(), CallDecision::Refused);
        for other in &others {
            assert_eq!(decisions.decided(&client, &tool(), other), Some(false));
        }
    }

    #[test]
    fn a_yes_holds_for_what_its_user_has_granted_since_and_for_nothing_else() {
        let decisions = CallDecisions::default();
        let client = ClientKey::Session(SessionId(1));
        let grant = |text: &str| -> HttpGrant { text.parse().unwrap() };
        let with = |granted: &[&str]| {
            given(JudgedInputs {
                grants: Grants {
                    http: granted.iter().map(|text| grant(text)).collect(),
                    ..Grants::default()
                },
                ..JudgedInputs::default()
            })
        };
        decisions.decide(&client, &tool(), yes());
        let is_kept = |now: &[&str]| decisions.decided(&client, &tool(), &with(now)).is_some();
        let (one, other) = ("https://a.example", "https://b.example");
        decisions.add_http_grant("another", &grant(one));
        assert!(is_kept(&[]) && !is_kept(&[one]));
        decisions.add_http_grant("files", &grant(one));
        assert!(is_kept(&[one]) && !is_kept(&[one, other]) && !is_kept(&[other]));
    }

    #[test]
    fn only_so_many_names_and_no_turns_are_kept() {
        let decisions = CallDecisions::default();
        let session = ClientKey::Session(SessionId(1));
        decisions.decide(&session, &tool(), CallDecision::Refused);
        for number in 0..2 * MAX_NAMES {
            let client = ClientKey::Name(number.to_string());
            let turn = decisions.turn(&client, &tool());
            decisions.decide(&client, &tool(), CallDecision::Refused);
            drop(turn);
        }
        assert_eq!(decisions.0.lock().len(), MAX_NAMES + 1);
        let decided = decisions.decided(&session, &tool(), &confirmed());
        assert_eq!(decided, Some(false));
        let client = ClientKey::Name("another".to_owned());
        let turns = [(); 2].map(|()| decisions.turn(&client, &tool()));
        for turn in turns {
            assert!(decisions.0.lock().contains_key(&client));
            drop(turn);
        }
        assert!(!decisions.0.lock().contains_key(&client));
    }
}
