//! Resources that clients have subscribed to.

use dormouse_upstream::Subscription;
use futures::FutureExt as _;
use futures::future::{self, BoxFuture};

use crate::roster::changes::WantedResource;

/// Resource whose changes a client is notified of, until this is dropped.
pub struct FollowedResource {
    pub(in super::super) _wanted: WantedResource,
    /// Subscription at its upstream, if it has one.
    pub(in super::super) subscription: Option<Subscription>,
}

impl FollowedResource {
    /// Checks whether its changes are notified. They are not if too many resources of its upstream
    /// are followed.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.subscription
            .as_ref()
            .is_none_or(Subscription::has_room)
    }

    /// Waits, but not for long, until its upstream has the subscription, if it is connected.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, ()> {
        match &self.subscription {
            Some(subscription) => subscription.known(),
            None => future::ready(()).boxed(),
        }
    }
}
