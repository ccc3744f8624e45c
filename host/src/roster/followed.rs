//! Resources that clients have subscribed to.

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};

use super::changes::WantedResource;
use crate::upstream::Subscription;

/// A resource of whose changes a client is told, until this is dropped.
pub struct FollowedResource {
    pub(super) _wanted: WantedResource,
    /// Subscription at its upstream, if it has one.
    pub(super) subscription: Option<Subscription>,
}

impl FollowedResource {
    /// Waits, but not for long, until its upstream knows of it, if it is connected.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, ()> {
        match &self.subscription {
            Some(subscription) => subscription.known(),
            None => future::ready(()).boxed(),
        }
    }
}
