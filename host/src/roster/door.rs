//! What may pass between a bridged server and its upstream.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::confirm::confirm;
use super::{Roster, bridge};
use crate::config::OnChange;
use crate::runtime::{Listener, Notice, SessionId};
use crate::store::{Changed, News};
use crate::upstream::{Gate, Offered};

/// The door between one server and its upstream.
pub(super) struct Door {
    pub(super) roster: Weak<Roster>,
    pub(super) server: String,
    /// Tools that were looked for again, because they were called by a client that is
    /// not shown them.
    pub(super) looked: Mutex<BTreeSet<String>>,
}

impl Gate for Door {
    fn opened(&self, offered: Offered) {
        let Some(roster) = self.roster.upgrade() else {
            return;
        };
        roster.learn(&self.server, offered);
    }

    fn missed(&self, tool: &str) {
        let Some(roster) = self.roster.upgrade() else {
            return;
        };
        let found = roster.server(&self.server).ok();
        let known = found.as_ref().and_then(|server| server.known());
        if known.is_none_or(|known| !known.doubtful.contains(tool)) {
            return;
        }
        // Whether it is gone only shows to somebody who can be asked everything. Once is
        // enough, whatever comes of it.
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.insert(tool.to_owned()) {
            let server = self.server.clone();
            tokio::spawn(async move {
                if let Err(why) = roster.sync(&server).await {
                    tracing::warn!("server `{server}` does not say what it has: {why}");
                }
            });
        }
    }

    fn spoke(&self) -> Option<String> {
        let found = self.roster.upgrade()?.server(&self.server).ok()?;
        Some(found.known()?.protocol.clone())
    }

    fn admit<'a>(
        &'a self,
        method: &'a str,
        params: &'a Map<String, Value>,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>> {
        async move {
            let name = params.get("name").and_then(Value::as_str);
            match (method, name, self.roster.upgrade()) {
                ("tools/call", Some(tool), Some(roster)) => {
                    roster.admit(&self.server, tool, caller).await
                }
                _ => Ok(()),
            }
        }
        .boxed()
    }

    fn updated(&self, uri: &str) {
        if let Some(roster) = self.roster.upgrade() {
            roster.notify(&self.server, Notice::Updated(uri.to_owned()));
        }
    }

    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.roster.upgrade()?.sessions.client(session)
    }
}

impl Roster {
    /// Takes note of what an upstream offers, and has agents told what is new.
    pub(super) fn learn(&self, server: &str, offered: Offered) {
        let Ok(found) = self.server(server) else {
            return;
        };
        let Some(upstream) = found.config().bridge() else {
            return;
        };
        // What a component says that its upstream has is what its user has seen.
        let first = found.config().component().and(found.listing());
        let news = self
            .store
            .learn(&upstream.fingerprint, offered, (upstream.on_change, first))
            .unwrap_or_else(|error| {
                tracing::error!("server `{server}`: {error:#}");
                News::default()
            });
        if !news.quarantined.is_empty() {
            tracing::warn!(
                "server `{server}` has changed tools (`{}`), which are not shown\n\
                 hint: `dormouse approve {server}` shows how, and allows them",
                news.quarantined.join("`, `")
            );
        }
        self.refresh(None);
    }

    /// Whether a call may go to a tool as it is now.
    pub(super) async fn admit(
        &self,
        server: &str,
        tool: &str,
        caller: &Arc<dyn Listener>,
    ) -> Result<(), String> {
        let found = self.server(server).map_err(|error| error.to_string())?;
        let (Some(upstream), Some(known)) = (found.config().bridge(), found.known()) else {
            return Ok(());
        };
        if known.changed.iter().any(|changed| changed.name == tool) {
            let asks = upstream.on_change == OnChange::Ask;
            if asks && approved(server, &known.changed, caller).await {
                let approval = self.approve(server);
                return approval.map(drop).map_err(|error| format!("{error:#}"));
            }
            return Err(format!(
                "tool `{tool}` of server `{server}` is no longer what it was when its user last \
                 saw it, and may not be called until they allow it\n\
                 hint: `dormouse approve {server}` shows what has changed"
            ));
        }
        if known.listing.tools.iter().any(|known| known.name == tool) {
            return Ok(());
        }
        let tools = known.listing.tools.iter().map(|tool| tool.name.as_str());
        let mut error = format!("server `{server}` has no tool `{tool}` any more\nhint: it has");
        for (index, name) in tools.enumerate() {
            let _ = write!(error, "{} `{name}`", if index > 0 { "," } else { "" });
        }
        Err(error)
    }

    /// Allows the tools of a server as they are now. Says which had changed.
    ///
    /// # Errors
    /// There is no such server, it has no upstream, or that cannot be kept.
    pub fn approve(&self, server: &str) -> anyhow::Result<Vec<Changed>> {
        let found = self.server(server)?;
        let Some(upstream) = found.config().bridge() else {
            return Ok(Vec::new());
        };
        let changed = self.store.approve(&upstream.fingerprint)?;
        self.refresh(None);
        Ok(changed)
    }
}

/// Asks the user whether tools may be what they are now.
async fn approved(server: &str, changed: &[Changed], caller: &Arc<dyn Listener>) -> bool {
    let mut message =
        format!("The tools of `{server}` are no longer what they were when you last saw them:\n");
    for changed in changed {
        message.push('\n');
        message.push_str(&bridge::difference(changed));
    }
    confirm(caller, message, "Allow them as they are now")
        .await
        .is_ok()
}
