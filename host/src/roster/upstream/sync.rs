//! Reading of upstreams' offers, ahead of any call.

use dormouse_upstream::{Lost, without_blocking};

use crate::roster::Roster;
use crate::roster::status::wants_login;
use crate::store::{Asker, Treatment};

/// Number of items that an upstream turned out to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after what is counted")]
pub struct Synced {
    pub tools: usize,
    pub prompts: usize,
    pub resources: usize,
    /// Number of items that its user has not seen as they are.
    pub changed: usize,
}

impl Roster {
    /// Checks whether the knowledge of a server is valid in this host's folder alone, because that
    /// folder may decide which program it is.
    pub fn is_known_here_alone(&self, server: &str) -> bool {
        let found = self.server(server).ok();
        let bridge = found.as_ref().and_then(|found| found.config().bridge());
        bridge.is_some_and(|bridge| self.store.is_known_here_alone(&bridge.fingerprint))
    }

    /// Connects a server's upstream, records its offers, and disconnects.
    ///
    /// # Errors
    /// The server is none that can be connected, or its upstream does not answer.
    pub async fn sync(&self, server: &str) -> Result<Synced, String> {
        let found = self.server(server).map_err(|error| error.to_string())?;
        let config = found.config();
        let bridge = found.reachable()?;
        let known = found.known().map(|known| known.reactions);
        let limits = config.limits.upstream;
        let offered = dormouse_upstream::discover(
            &self.hub,
            server,
            &bridge.launch,
            limits,
            bridge.patience(),
            known.unwrap_or_default(),
        );
        let offered = offered.await.map_err(|lost| {
            self.store.note_failed_start(&bridge.fingerprint, &lost);
            match lost {
                Lost::Auth { .. } => wants_login(config),
                lost => lost.to_string(),
            }
        })?;
        without_blocking(usize::MAX, || {
            self.learn(server, &bridge.fingerprint, Asker::Dormouse, offered)
        })?;
        let found = self.server(server).map_err(|error| error.to_string())?;
        let listing = found.listed().ok_or("what it offers could not be kept")?;
        Ok(Synced {
            tools: listing.tools.len(),
            prompts: listing.prompts.len(),
            resources: listing.resources.len() + listing.templates.len(),
            changed: found.pending().len(),
        })
    }

    /// Returns the servers that have an upstream which can be connected, by name.
    #[must_use]
    pub fn bridged(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let servers = snapshot.servers().iter();
        servers
            .filter(|(_, server)| {
                let config = server.config();
                config.enabled && config.bridge().is_some()
            })
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Reads, one by one, the offers of the servers of which nothing is known, or something is that is
    /// taken as it comes and was not.
    pub(in super::super) async fn sync_unknown(&self) {
        for server in self.bridged() {
            let is_wanted = self.server(&server).is_ok_and(|server| {
                let mut pending = server.pending().iter();
                server.known().is_none()
                    || pending.any(|item| server.treatment(item) == Treatment::Current)
            });
            if is_wanted && let Err(why) = self.sync(&server).await {
                tracing::warn!("server `{server}`: {why}");
            }
        }
    }
}
