//! State of an upstream: its connections, and the failures of late.

use serde_json::{Map, Value};

use crate::connections::links::{LinkStage, Links};
use crate::connections::recent_failures::RecentFailures;
use crate::messages::channel::Lost;

/// Error of a connection that is to be made and is not configured so any more.
pub const RETIRED: &str = "its configuration has changed since the call began\nhint: call it again";

/// State of an upstream.
#[derive(Default)]
pub(super) struct UpstreamState {
    pub(super) links: Links,
    pub(super) failures: RecentFailures,
    pub(super) server_info: Map<String, Value>,
    /// Whether nothing is to be connected any more.
    pub(super) is_retired: bool,
}

impl UpstreamState {
    /// Checks whether something may be connected now.
    ///
    /// # Errors
    /// It may not, or not yet.
    pub(super) fn may_connect(&self) -> Result<(), Lost> {
        match self.is_retired {
            true => Err(Lost::Broken(RETIRED.to_owned())),
            false => self.failures.may_try(),
        }
    }

    /// Forgets connections that have ended by themselves.
    pub(super) fn forget_ended(&mut self, server: &str) {
        let Self {
            links, failures, ..
        } = self;
        links.retain(|link| {
            let LinkStage::Open(connection) = &link.stage else {
                return true;
            };
            let Some(why) = connection.ended() else {
                return true;
            };
            tracing::info!("server `{server}` has ended: {why}");
            failures.ended(why, connection.opened.elapsed());
            false
        });
    }
}
