//! Subscriptions of sessions to resources.

use super::commands;
use super::instructions;
use super::resources::with_uri;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::server::Host;

impl Host {
    /// Has the client told when a resource changes.
    ///
    /// # Errors
    /// Nobody is told of its changes, or there is no such resource.
    pub(in crate::mcp) async fn subscribe(&self, uri: String) -> Result<(), ErrorObject> {
        let roster = &self.common.roster;
        if commands::is_status(&uri) || instructions::is_one(&uri) {
            let why = format!(
                "of changes of `{uri}` nobody is told\nhint: read it again to see how it is"
            );
            return Err(ErrorObject::invalid_params(why));
        }
        let source = roster.resource_in(&self.snapshot(), &uri);
        let source = source.map_err(|unresolved| with_uri(unresolved.refusal(&uri), &uri))?;
        self.subscriptions.add(uri, &source, roster)?.await;
        Ok(())
    }

    /// Ends a subscription.
    pub(in crate::mcp) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.remove(uri);
    }
}
