//! Checks of messages between a bridged server and its upstream.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Weak};

use dormouse_config::{Fingerprint, OnChange};
use dormouse_protocol::{Listener, Notice, SessionClients as _, SessionId};
use dormouse_text::visible::{short_name, visible_line};
use dormouse_upstream::{JudgedItems, Lost, Offered, Reactions, UpstreamPolicy, without_blocking};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;

use crate::roster::all_tool_names::AllToolNames;
use crate::roster::approval::AgreedForm;
use crate::roster::{Roster, Server};
use crate::store::{Asker, DecidedBy, Gated, Treatment, is_other_version};

/// Policy between one server and its upstream.
struct RosterPolicy {
    roster: Weak<Roster>,
    server: String,
    /// Fingerprint of the upstream's launch. Another server may get the name while a connection
    /// lives, and must not get messages of this one.
    fingerprint: Fingerprint,
    /// Tools that were looked for again, because they were called by a client that is not shown
    /// them; `None` stands for all tools after another release.
    looked: Mutex<BTreeSet<Option<String>>>,
    /// Turn at looking, one tool after the other.
    looking: Arc<tokio::sync::Mutex<()>>,
}

impl RosterPolicy {
    /// Returns the server, as long as its launch is that of the connection.
    fn server(&self) -> Option<(Arc<Roster>, Arc<Server>)> {
        let roster = self.roster.upgrade()?;
        let server = roster.reached_by(&self.server, &self.fingerprint)?;
        Some((roster, server))
    }

    /// Asks for the upstream's offers as a client that can be asked everything: only such a client
    /// can tell that something is gone. This is done once for each tool, whatever its outcome.
    fn look_again(&self, roster: &Arc<Roster>, tool: Option<&str>) {
        let mut looked = self.looked.lock();
        if looked.insert(tool.map(str::to_owned)) {
            let (roster, server) = (Arc::clone(roster), self.server.clone());
            let looking = Arc::clone(&self.looking);
            tokio::spawn(async move {
                let _turn = looking.lock().await;
                if let Err(why) = roster.sync(&server).await {
                    tracing::warn!("server `{server}` does not say what it has: {why}");
                }
            });
        }
    }
}

impl UpstreamPolicy for RosterPolicy {
    fn opened(&self, mut offered: Offered) {
        let Some(roster) = self.roster.upgrade() else {
            return;
        };
        let server = self.server();
        let before = server.as_ref().and_then(|(_, server)| server.known());
        let is_other_release =
            before.is_some_and(|known| is_other_version(&known.server_info, &offered.server_info));
        // Whatever is asked next is refused with why.
        // Who learns of the same server at this moment is waited for.
        let _ = without_blocking(usize::MAX, || {
            roster
                .connection_offers
                .set(&self.fingerprint, &mut offered);
            roster.learn(&self.server, &self.fingerprint, Asker::Agent, offered)
        });
        let server = self.server();
        let known = server.as_ref().and_then(|(_, server)| server.known());
        // What this client is not offered any more may be gone with the old release.
        let has_doubtful =
            known.is_some_and(|known| !known.doubtful.is_empty() || known.has_other_doubtful);
        if is_other_release && has_doubtful {
            self.look_again(&roster, None);
        }
    }

    fn closed(&self, connection: u64) {
        if let Some(roster) = self.roster.upgrade()
            && roster
                .connection_offers
                .forget(&self.fingerprint, connection)
        {
            roster.refresh(None);
        }
    }

    fn failed(&self, lost: &Lost) {
        if let Some(roster) = self.roster.upgrade() {
            roster.store.note_failed_start(&self.fingerprint, lost);
            // What is listed of a server that nobody knows says that it could not be connected.
            let found = roster.server(&self.server);
            if found.is_ok_and(|found| found.is_unknown() && found.failed_start().is_none()) {
                roster.refresh(None);
            }
        }
    }

    fn missed(&self, tool: &str) {
        let Some((roster, found)) = self.server() else {
            return;
        };
        let known = found.known();
        if known.is_none_or(|known| !known.doubtful.contains(tool)) {
            return;
        }
        self.look_again(&roster, Some(tool));
    }

    fn seen_tools(&self) -> BTreeSet<String> {
        let server = self.server();
        let listing = server.and_then(|(_, server)| server.listed().cloned());
        let tools = listing.iter().flat_map(|listing| &listing.tools);
        tools.map(|tool| tool.name.clone()).collect()
    }

    fn is_known(&self) -> bool {
        let found = self.server();
        found.is_none_or(|(_, server)| server.known().is_some())
    }

    fn reactions(&self) -> Reactions {
        let found = self.server();
        let known = found.as_ref().and_then(|(_, server)| server.known());
        known.map(|known| known.reactions).unwrap_or_default()
    }

    fn judged_items(
        &self,
        method: &str,
        name: Option<&str>,
        caller: &Arc<dyn Listener>,
    ) -> JudgedItems {
        let found = self.server();
        let bridge = found
            .as_ref()
            .and_then(|(_, server)| server.config().bridge());
        let mut items = JudgedItems {
            tools: caller.judged_tools().into_iter().collect(),
            ..JudgedItems::default()
        };
        let Some(((bridge, kind), name)) = bridge.zip(gated(method)).zip(name) else {
            return items;
        };
        let mode = kind.mode(&bridge.changes, name);
        if matches!(mode, OnChange::Ask | OnChange::Block) {
            match kind {
                Gated::Prompt => items.prompts.insert(name.to_owned()),
                _ => items.tools.insert(name.to_owned()),
            };
        }
        items
    }

    fn is_recorded(&self, connection: u64, items: &JudgedItems) -> bool {
        let Some((roster, found)) = self.server() else {
            return true;
        };
        // What is refused for another reason says that.
        let Some(known) = found
            .known()
            .filter(|_| roster.not_kept(&self.server).is_none())
        else {
            return true;
        };
        let offers = &roster.connection_offers;
        offers.are_known(&self.fingerprint, connection, known, items)
    }

    fn admit<'a>(
        &'a self,
        method: &'a str,
        name: Option<&'a str>,
        caller: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>> {
        async move {
            let Some((roster, _)) = self.server() else {
                return Err(CHANGED.to_owned());
            };
            if let Some(why) = roster.not_kept(&self.server) {
                return Err(why);
            }
            if let (Some(kind), Some(name)) = (gated(method), name) {
                roster.admit(&self.server, kind, name, caller).await?;
            }
            // The user may have been asked just now, and have approved something else.
            caller.check_judged().await
        }
        .boxed()
    }

    fn updated(&self, uri: &str) {
        if let Some((roster, _)) = self.server() {
            roster.notify(&self.server, Notice::Updated(uri.to_owned()));
        }
    }

    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        self.server()?.0.sessions.client(session)
    }

    fn tell(&self, session: Option<SessionId>, text: String) {
        if let Some((roster, _)) = self.server() {
            roster.sessions.tell(session, &self.server, text);
        }
    }
}

/// Returns the kind of the items that a method asks for by name, if any.
fn gated(method: &str) -> Option<Gated> {
    match method {
        "tools/call" => Some(Gated::Tool),
        "prompts/get" => Some(Gated::Prompt),
        _ => None,
    }
}

/// Error of a connection that outlives the server it was made for.
pub(super) const CHANGED: &str =
    "its configuration has changed since it was connected\nhint: call it again";

/// Most names of tools that an error lists.
const MAX_NAMES_TOLD: usize = 20;

impl Roster {
    /// Returns the policy between a server and its upstream, whose launch has this fingerprint.
    pub(in super::super) fn upstream_policy(
        &self,
        server: &str,
        fingerprint: &Fingerprint,
    ) -> Arc<dyn UpstreamPolicy> {
        Arc::new(RosterPolicy {
            roster: self.me.clone(),
            server: server.to_owned(),
            fingerprint: fingerprint.clone(),
            looked: Mutex::default(),
            looking: Arc::default(),
        })
    }

    /// Returns the server of a name, if it may be connected and its upstream has this fingerprint.
    pub(super) fn reached_by(
        &self,
        server: &str,
        fingerprint: &Fingerprint,
    ) -> Option<Arc<Server>> {
        let found = self.server(server).ok()?;
        let bridge = found.reachable().ok()?;
        (bridge.fingerprint == *fingerprint).then(|| Arc::clone(&found))
    }

    /// Checks that a call of a tool, or a request for a prompt, may go to its server as it is now,
    /// and asks the user of its client where the policy says so. The error is the reason against
    /// it.
    async fn admit(
        &self,
        server: &str,
        kind: Gated,
        name: &str,
        caller: &Arc<dyn Listener>,
    ) -> Result<(), String> {
        let found = self.server(server).map_err(|error| error.to_string())?;
        if kind == Gated::Tool {
            let view = self.view(None);
            let rules = view.rules();
            let names = AllToolNames::of(found.config(), name, &rules.deny);
            if let Some(why) = rules.denies(names.named()) {
                return Err(format!(
                    "tool `{}` of server `{server}` was not called: {why}",
                    short_name(name)
                ));
            }
        }
        let Some(upstream) = found.config().bridge() else {
            return Ok(());
        };
        // A component may use what it does not show, but not what is taken out.
        let filter = upstream.filter.of_tools();
        let is_left_out = match found.config().component() {
            None => !filter.shows(name),
            Some(_) => filter.excludes(name),
        };
        if kind == Gated::Tool && is_left_out {
            return Err(format!("server `{server}` {}", found.why_left_out(name)));
        }
        // What is not compared with anything is not what anybody has approved.
        let Some(known) = found.known() else {
            return Err(format!(
                "{kind} `{}` of server `{server}` is not to be used: what the server offers is not \
                 known\nhint: call it again; if that does not help, `dormouse doctor` says why",
                short_name(name)
            ));
        };
        let pending = found.pending();
        let waiting = pending.find(kind, name);
        if waiting.is_some_and(|item| found.treatment(item) == Treatment::Withheld) {
            let mut why = "the user of Dormouse has not approved it as it is now".to_owned();
            if kind.mode(&upstream.changes, name) == OnChange::Ask {
                match self.confirm_approval(server, pending, caller).await {
                    Ok(AgreedForm::WithAnother) => return Ok(()),
                    Ok(AgreedForm::Now(form)) => {
                        let shown = pending.digest();
                        let approval = self.approve(server, &shown, None, DecidedBy::Client);
                        form.done(approval.is_ok());
                        return approval.map(drop).map_err(|error| format!("{error:#}"));
                    }
                    Err(unconfirmed) => why = format!("{why}, and {unconfirmed}"),
                }
            }
            return Err(format!(
                "{kind} `{name}` of server `{server}` is not to be used: {why}\n\
                 hint: `dormouse approve {server}` shows what has changed, and allows it"
            ));
        }
        // A component may use what it does not show.
        let has = known.listing.tools.iter().any(|known| known.name == name)
            || known.pending.find(kind, name).is_some();
        if has || kind != Gated::Tool {
            return Ok(());
        }
        let tools = known.listing.tools.iter().map(|tool| tool.name.as_str());
        let mut error = format!(
            "server `{server}` no longer offers a tool `{}`",
            short_name(name)
        );
        if known.listing.tools.is_empty() {
            return Err(error + "\nhint: it has no tools any more");
        }
        error.push_str("\nhint: the server has");
        for (index, name) in tools.take(MAX_NAMES_TOLD).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let _ = write!(error, "{comma} `{}`", visible_line(name));
        }
        Err(error)
    }

    /// Checks that a call of a hidden tool may go to its server, and asks the user where the policy
    /// says so, before anything is connected.
    pub(in super::super) async fn admit_tool(
        &self,
        server: &str,
        tool: &str,
        caller: &Arc<dyn Listener>,
    ) -> Result<(), String> {
        self.admit(server, Gated::Tool, tool, caller).await
    }
}

#[cfg(test)]
mod tests;
