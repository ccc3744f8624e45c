//! `subscriptions/listen`: notifications of changes for clients without a handshake.
//!
//! Changes are recorded before the request is acknowledged: the client counts on them from then on.

use std::sync::Arc;

use dormouse_protocol::{Answer, Era};
use futures::future::join_all;
use rmcp::model::{
    RequestId, SubscriptionFilter, SubscriptionsListenRequestParams, SubscriptionsListenResult,
};
use serde_json::{Map, Value};

use super::commands;
use super::resources::leave_allowed;
use crate::mcp::client::announce::{ChangeFeed, ChangeSink, ChangedLists, announce};
use crate::mcp::client::client_connection::{ClientConnection, Notification};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, unsupported_request};
use crate::roster::{FollowedResource, FollowedUri, Snapshot};

/// Name of the method.
pub(in crate::mcp) const METHOD: &str = "subscriptions/listen";

impl Host {
    /// Sends a client notifications of changes until it cancels the request, or the host ends.
    ///
    /// # Errors
    /// The parameters make no sense, or the client is gone.
    pub(in crate::mcp) async fn listen(
        &self,
        params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let params = serde_json::from_value(params.into());
        let params: SubscriptionsListenRequestParams =
            params.map_err(|_| unsupported_request(METHOD, Era::Stateless))?;
        let info = self.info();
        let mut accepted = params.notifications.supported_by(&info.capabilities);
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| !commands::is_status(uri));
            leave_allowed(uris);
        }
        let roster = &self.common.roster;
        let news = ChangeFeed::of(roster.changes(), self.profile.as_deref());
        let snapshot = self.snapshot();
        let mut followed = Vec::new();
        for uri in accepted.resource_subscriptions.take().into_iter().flatten() {
            let source = roster.resource_in(&snapshot, &uri).ok();
            // Of what a profile does not have, whoever has named it hears nothing.
            if source.is_some() || self.profile.is_none() {
                followed.push(roster.follow(&uri, source.as_ref()));
            }
            // Each may have to be held against many templates.
            tokio::task::yield_now().await;
        }
        if !followed.is_empty() {
            let uris = followed.iter().map(|one| one.followed().uri.to_string());
            accepted.resource_subscriptions = Some(uris.collect());
        }
        join_all(followed.iter().map(FollowedResource::known)).await;
        let stream = NotificationStream {
            connection: &*context.connection,
            id: &context.request.id,
            accepted: &accepted,
            followed: &followed,
            host: self,
        };
        if stream.acknowledge().await {
            tokio::select! {
                () = context.request.cancel.cancelled() => {}
                () = announce(news, stream, self.closed.clone()) => {}
            }
        }
        let mut result = SubscriptionsListenResult::complete(context.request.id.clone());
        result.meta.set_server_info(info.server_info);
        let result = serde_json::to_value(result);
        let result = result.map_err(|error| ErrorObject::internal_error(error.to_string()));
        Ok(Answer::Made(result?))
    }
}

/// Stream of the notifications of one subscription, which its client tells from others by the
/// request's id.
struct NotificationStream<'a> {
    connection: &'a dyn ClientConnection,
    id: &'a RequestId,
    /// Notifications that are sent: those that the client has asked for, as far as the host has
    /// them.
    accepted: &'a SubscriptionFilter,
    followed: &'a [FollowedResource],
    host: &'a Host,
}

impl NotificationStream<'_> {
    async fn acknowledge(&self) -> bool {
        self.send(Notification::acknowledged(self.accepted)).await
    }

    /// Sends a notification. Returns false when the client is gone.
    async fn send(&self, notification: Notification) -> bool {
        let notification = notification.of_subscription(self.id);
        self.connection.notify(notification).await.is_ok()
    }
}

impl ChangeSink for NotificationStream<'_> {
    async fn lists(&self, changed: ChangedLists) -> bool {
        let accepted = self.accepted;
        let wanted = |one: Option<bool>| one == Some(true);
        let changed = ChangedLists {
            tools: changed.tools && wanted(accepted.tools_list_changed),
            prompts: changed.prompts && wanted(accepted.prompts_list_changed),
            resources: changed.resources && wanted(accepted.resources_list_changed),
        };
        for notification in changed.notifications() {
            if !self.send(notification).await {
                return false;
            }
        }
        true
    }

    fn wanted(&self) -> Vec<FollowedUri> {
        let followed = self.followed.iter().map(FollowedResource::followed);
        followed.cloned().collect()
    }

    fn view(&self) -> Arc<Snapshot> {
        self.host.snapshot()
    }

    async fn resource(&self, uri: &str) -> bool {
        self.send(Notification::resource_updated(uri)).await
    }
}
