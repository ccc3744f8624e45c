//! An upstream policy of the tests.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use dormouse_protocol::{Listener, SessionId};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;

use super::recording_listener::RecordingListener;
use crate::{JudgedItems, Lost, Offered, Reactions, UpstreamPolicy};

/// Policy that lets everything through but one tool, and notes what it is told.
#[derive(Default)]
pub(crate) struct OneToolWithheld {
    told: Mutex<Vec<String>>,
    /// Clients that can be told and asked something between calls.
    pub(super) clients: Mutex<HashMap<SessionId, Arc<RecordingListener>>>,
    pub(super) reactions: Mutex<Reactions>,
    /// Tool that changes as soon as a request for it was let through.
    pub(super) changing: Mutex<Option<&'static str>>,
    /// Offers that it was told of last.
    pub(super) offered: Mutex<Option<Offered>>,
    /// Items by which each request is judged.
    pub(super) judged: Mutex<JudgedItems>,
    /// Number of times that it has to be told again what is offered until it goes by that: another
    /// connection may have told it something else in between.
    pub(super) overwritten: Mutex<usize>,
}

impl OneToolWithheld {
    pub(super) fn told(&self) -> Vec<String> {
        self.told.lock().clone()
    }

    fn names(offered: &Offered) -> Vec<String> {
        let name = |tool: &serde_json::value::RawValue| {
            let tool: Value = serde_json::from_str(tool.get()).unwrap();
            tool["name"].as_str().unwrap().to_owned()
        };
        offered.tools.iter().map(|tool| name(tool)).collect()
    }
}

impl UpstreamPolicy for OneToolWithheld {
    fn closed(&self, _connection: u64) {}

    fn failed(&self, lost: &Lost) {
        self.told.lock().push(format!("failed {lost}"));
    }

    fn missed(&self, tool: &str) {
        self.told.lock().push(format!("missed {tool}"));
    }

    fn seen_tools(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_known(&self) -> bool {
        true
    }

    fn reactions(&self) -> Reactions {
        *self.reactions.lock()
    }

    fn opened(&self, offered: Offered) {
        let mut reactions = self.reactions.lock();
        *reactions = offered.reactions.or(*reactions);
        let told = format!("opened {}", Self::names(&offered).join(" "));
        self.told.lock().push(told);
        *self.offered.lock() = Some(offered);
        let mut overwritten = self.overwritten.lock();
        *overwritten = overwritten.saturating_sub(1);
    }

    fn judged_items(&self, _: &str, _: Option<&str>, _: &Arc<dyn Listener>) -> JudgedItems {
        self.judged.lock().clone()
    }

    fn is_recorded(&self, _connection: u64, items: &JudgedItems) -> bool {
        *items == JudgedItems::default() || *self.overwritten.lock() == 0
    }

    fn admit<'a>(
        &'a self,
        method: &'a str,
        name: Option<&'a str>,
        _: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let name = name.unwrap_or_default();
        let told = format!("admit {method} {name}");
        let has_changed = *self.changing.lock() == Some(name) && self.told().contains(&told);
        self.told.lock().push(told);
        let barred = name == "barred" || has_changed;
        async move {
            if barred {
                return Err("it has changed".to_owned());
            }
            Ok(())
        }
        .boxed()
    }

    fn updated(&self, uri: &str) {
        self.told.lock().push(format!("updated {uri}"));
    }

    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        let client = self.clients.lock().get(&session).cloned()?;
        Some(client)
    }

    fn tell(&self, session: Option<SessionId>, text: String) {
        if let Some(client) = session.and_then(|session| self.client(session)) {
            client.log("notice", None, text.into());
        }
    }
}
