//! Resources that clients have subscribed to.

use std::sync::Arc;

use dormouse_protocol::attribution;
use dormouse_upstream::Subscription;
use futures::FutureExt as _;
use futures::future::{self, BoxFuture};

use crate::roster::OfferRefusal;
use crate::roster::changes::WantedResource;

/// Resource of a server. URIs alone do not tell whose a resource is: several servers may have one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceIdentity {
    /// Its server's name.
    pub server: Arc<str>,
    /// URI as its server knows it.
    pub uri: Arc<str>,
}

/// Resource that its server says has changed.
#[derive(Debug, Clone)]
pub struct UpdatedResource {
    /// The resource.
    pub resource: ResourceIdentity,
    /// Whether no other server has one of that URI: clients that follow the URI without a server are
    /// told then.
    pub is_unique: bool,
}

/// Resource that a client follows.
#[derive(Debug, Clone)]
pub struct FollowedUri {
    /// URI as the client knows it.
    pub uri: Arc<str>,
    /// The resource; none where no server was known for it.
    pub resource: Option<ResourceIdentity>,
}

/// Resource whose changes a client is notified of, until this is dropped.
pub struct FollowedResource {
    /// The resource, as its client has named it.
    pub(in super::super) followed: FollowedUri,
    pub(in super::super) _wanted: WantedResource,
    /// Subscription at its upstream, if it has one.
    pub(in super::super) subscription: Option<Subscription>,
}

impl FollowedResource {
    /// Returns what is followed.
    #[must_use]
    pub fn followed(&self) -> &FollowedUri {
        &self.followed
    }

    /// Checks whether its changes are notified. They are not if too many resources of its upstream
    /// are followed.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.subscription
            .as_ref()
            .is_none_or(Subscription::has_room)
    }

    /// Waits, but not for long, until its upstream has the subscription, if it is connected.
    ///
    /// # Errors
    /// The upstream has refused it.
    #[must_use]
    pub fn known(&self) -> BoxFuture<'static, Result<(), OfferRefusal>> {
        let Some(subscription) = &self.subscription else {
            return future::ready(Ok(())).boxed();
        };
        let known = subscription.known();
        let known = known.map(|known| {
            known.map_err(|refusal| OfferRefusal::Upstream {
                code: refusal.code,
                message: attribution::error_message(&refusal.message),
                data: refusal.data,
            })
        });
        known.boxed()
    }
}
