//! Plugin as it was when its user was asked about it.

use std::path::PathBuf;

use dormouse_catalog::Stamp;
use dormouse_wit::GrantRequest;

use crate::roster::{Roster, Server};

/// Plugin as it was when its user was asked about it: what they answer is for that one alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::roster) struct AskedPlugin {
    pub(super) component: PathBuf,
    /// Stamp of the component's file.
    pub(super) stamp: Stamp,
    /// Requests of its author.
    pub(super) requests: Vec<GrantRequest>,
}

impl AskedPlugin {
    /// Returns the plugin of a server; none where the server has no component, or one that is not
    /// read.
    pub(in crate::roster) fn of(server: &Server) -> Option<Self> {
        let requests = server.listing().map(|listing| listing.grants.clone());
        Some(Self {
            component: server.config().component()?.to_owned(),
            stamp: *server.stamp()?,
            requests: requests.unwrap_or_default(),
        })
    }

    /// Whether it is the plugin of a server, as the server is known and its file is now.
    pub(in crate::roster) fn is_of(&self, server: &Server) -> bool {
        server.is_current() && Self::of(server).as_ref() == Some(self)
    }
}

impl Roster {
    /// Whether a server is there, is switched on and has that plugin now.
    pub(in crate::roster) fn has_plugin(&self, server: &str, plugin: &AskedPlugin) -> bool {
        let found = self.server(server);
        found.is_ok_and(|found| plugin.is_of(&found))
    }
}
