//! Availability of a server: whether it may be started, connected or called.

use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::Bridge;

use super::Server;
use crate::roster::NoSuchTool;

impl Server {
    /// Returns the state of a server that may not be started or connected by anyone, with the reason
    /// or a hint. None where it may.
    #[must_use]
    pub fn switched_off(&self) -> Option<String> {
        if let Some(why) = &self.config.denied {
            return Some(format!("disabled: a policy denies it: {why}"));
        }
        if self.config.enabled {
            return None;
        }
        let name = &self.config.name;
        Some(match self.config.off_in {
            Some(client) => format!(
                "disabled for the client `{client}`, and on for others\n\
                 hint: it is off in that client's own files, or in `clients` of `[servers.{name}]` \
                 in dormouse.toml"
            ),
            None => format!("disabled\nhint: `dormouse enable {name}` switches it on"),
        })
    }

    /// Returns its upstream, if that may be started or connected: every command that does so asks
    /// here.
    ///
    /// # Errors
    /// It has none, is switched off, or something has to be set first: a sentence for the user.
    pub fn reachable(&self) -> Result<&Bridge, String> {
        if let Some(refused) = self.config.refused() {
            return Err(refused.for_models());
        }
        let bridge = self.config.bridge();
        let bridge = bridge.ok_or("it is a plugin, whose tools are known from its file")?;
        if let Some(why) = self.switched_off() {
            return Err(format!("it is {why}"));
        }
        match bridge.needs.first() {
            Some(need) => Err(need.for_models(&self.config.origin.scope).to_owned()),
            None => Ok(bridge),
        }
    }

    /// Returns its declarations, if it may be called.
    pub(super) fn available(&self) -> Result<&Arc<Listing>, NoSuchTool> {
        let name = &self.config.name;
        let unavailable = |state: String| NoSuchTool::Unavailable {
            server: name.clone(),
            state,
        };
        if let Some(why) = self.switched_off() {
            return Err(unavailable(why));
        }
        self.listing.as_ref().ok_or_else(|| {
            let problem = self.problem.as_deref().unwrap_or("its file was never read");
            unavailable(format!("failed: {problem}"))
        })
    }
}
