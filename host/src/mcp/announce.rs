//! Telling a client what has changed.

use std::time::Duration;

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use crate::roster::{Changes, Numbers};

/// The least time between two announcements. A plugin that says all the time that
/// something has changed is heard twice a second at most.
const PAUSE: Duration = Duration::from_millis(500);

/// Somebody to tell.
pub(super) trait Audience {
    /// Tells which lists have changed. False when nobody hears any more.
    async fn lists(&self, changed: Changed) -> bool;
    /// Tells that a resource has changed, if it is one of theirs.
    async fn resource(&self, uri: &str) -> bool;
}

/// Which lists have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl Changed {
    fn between(old: Numbers, new: Numbers) -> Self {
        Self {
            tools: old.tools != new.tools,
            prompts: old.prompts != new.prompts,
            resources: old.resources != new.resources,
        }
    }
}

/// Tells of changes until there is nobody to tell, or `end` is cancelled.
pub(super) async fn announce(changes: &Changes, audience: impl Audience, end: CancellationToken) {
    let mut lists = changes.lists();
    let mut resources = changes.resources();
    let mut told = *lists.borrow_and_update();
    loop {
        let heard = tokio::select! {
            () = end.cancelled() => return,
            changed = lists.changed() => {
                if changed.is_err() {
                    return;
                }
                let now = *lists.borrow_and_update();
                let heard = audience.lists(Changed::between(told, now)).await;
                told = now;
                tokio::time::sleep(PAUSE).await;
                heard
            }
            updated = resources.recv() => match updated {
                Ok(uri) => audience.resource(&uri).await,
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            },
        };
        if !heard {
            return;
        }
    }
}

/// A client of the era with sessions, which hears of every list.
pub(super) struct Legacy<F> {
    pub(super) peer: Peer<RoleServer>,
    /// Whether it has subscribed to a resource.
    pub(super) subscribed: F,
}

impl<F: Fn(&str) -> bool> Audience for Legacy<F> {
    async fn lists(&self, changed: Changed) -> bool {
        let peer = &self.peer;
        (!changed.tools || peer.notify_tool_list_changed().await.is_ok())
            && (!changed.prompts || peer.notify_prompt_list_changed().await.is_ok())
            && (!changed.resources || peer.notify_resource_list_changed().await.is_ok())
    }

    async fn resource(&self, uri: &str) -> bool {
        if !(self.subscribed)(uri) {
            return true;
        }
        let update = ResourceUpdatedNotificationParam::new(uri);
        self.peer.notify_resource_updated(update).await.is_ok()
    }
}

/// A subscription of the stateless era, which passes on what was asked for only.
pub(super) struct Subscribed<'a> {
    pub(super) sink: &'a SubscriptionSink,
    pub(super) wanted: Wanted,
}

/// What a subscription has asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) uris: Vec<String>,
}

impl Audience for Subscribed<'_> {
    async fn lists(&self, changed: Changed) -> bool {
        let (sink, wanted) = (self.sink, &self.wanted);
        (!(changed.tools && wanted.tools) || sink.notify_tool_list_changed().await.is_ok())
            && (!(changed.prompts && wanted.prompts)
                || sink.notify_prompt_list_changed().await.is_ok())
            && (!(changed.resources && wanted.resources)
                || sink.notify_resource_list_changed().await.is_ok())
    }

    async fn resource(&self, uri: &str) -> bool {
        !self.wanted.uris.iter().any(|wanted| wanted == uri)
            || self.sink.notify_resource_updated(uri).await.is_ok()
    }
}
