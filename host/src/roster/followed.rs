//! Resources that clients have subscribed to.

use dormouse_upstream::Subscription;
use futures::FutureExt as _;
use futures::future::{self, BoxFuture};

use super::changes::WantedResource;

/// A resource of whose changes a client is told, until this is dropped.
pub struct FollowedResource {
    pub(super) _wanted: WantedResource,
    /// Subscription at its upstream, if it has one.
    pub(super) subscription: Option<Subscription>,
}

impl FollowedResource {
    /// Whether its changes are told. They are not where too much is followed of its upstream.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.subscription
            .as_ref()
            .is_none_or(Subscription::has_room)
    }

    /// Waits, but not for long, until its upstream knows of it, if it is connected.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, ()> {
        match &self.subscription {
            Some(subscription) => subscription.known(),
            None => future::ready(()).boxed(),
        }
    }
}
