//! `subscriptions/listen`: notifications of changes for clients without a handshake.
//!
//! rmcp has a handler for it, which it calls when it has acknowledged the request already. Changes
//! in between would be lost, though the client counts on them from the acknowledgement on. So the
//! request comes here around rmcp's types, and changes are recorded before it is acknowledged.

use dormouse_protocol::Answer;
use futures::future::join_all;
use rmcp::model::{
    ErrorData, GetMeta as _, PromptListChangedNotification, RequestId,
    ResourceListChangedNotification, ResourceUpdatedNotification, ResourceUpdatedNotificationParam,
    ServerNotification, SubscriptionFilter, SubscriptionsAcknowledgedNotification,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult, ToolListChangedNotification,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler as _};
use serde_json::Value;

use super::announce::{ChangeFeed, ChangeSink, Changed, announce};
use super::commands;
use super::handler::{Host, misunderstood};
use super::resources::leave_allowed;
use crate::roster::FollowedResource;

/// Name of the method.
pub(super) const METHOD: &str = "subscriptions/listen";

impl Host {
    /// Sends a client notifications of changes until it cancels the request, or the host ends.
    ///
    /// # Errors
    /// The parameters make no sense, or the client is gone.
    pub(super) async fn listen(
        &self,
        params: Option<Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, ErrorData> {
        let params = serde_json::from_value(params.unwrap_or_default());
        let params: SubscriptionsListenRequestParams =
            params.map_err(|_| misunderstood(METHOD, true))?;
        let info = self.get_info();
        let mut accepted = params.notifications.supported_by(&info.capabilities);
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| !commands::is_status(uri));
            leave_allowed(uris);
        }
        accepted
            .resource_subscriptions
            .take_if(|uris| uris.is_empty());

        let news = ChangeFeed::of(self.common.roster.changes());
        let mut followed = Vec::new();
        for uri in accepted.resource_subscriptions.iter().flatten() {
            followed.push(self.common.roster.follow(uri));
            // Each may have to be held against many templates.
            tokio::task::yield_now().await;
        }
        join_all(followed.iter().map(FollowedResource::known)).await;
        let stream = Stream {
            peer: &context.peer,
            id: &context.id,
            accepted: &accepted,
        };
        if stream.acknowledge().await {
            tokio::select! {
                () = context.ct.cancelled() => {}
                () = announce(news, stream, self.closed.clone()) => {}
            }
        }
        let mut result = SubscriptionsListenResult::complete(context.id.clone());
        result.meta.set_server_info(info.server_info);
        let result = serde_json::to_value(result);
        let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None));
        Ok(Answer::Made(result?))
    }
}

/// Stream of the notifications of one subscription, which its client tells from others by the
/// request's id.
struct Stream<'a> {
    peer: &'a Peer<RoleServer>,
    id: &'a RequestId,
    /// Notifications that are sent: those that the client has asked for, as far as the host has
    /// them.
    accepted: &'a SubscriptionFilter,
}

impl Stream<'_> {
    async fn acknowledge(&self) -> bool {
        let params = SubscriptionsAcknowledgedNotificationParams::new(self.accepted.clone());
        let acknowledged = SubscriptionsAcknowledgedNotification::new(params);
        self.send(ServerNotification::SubscriptionsAcknowledgedNotification(
            acknowledged,
        ))
        .await
    }

    /// Sends a notification. Returns false when the client is gone.
    async fn send(&self, mut notification: ServerNotification) -> bool {
        let meta = notification.get_meta_mut();
        meta.set_subscription_id(self.id.clone());
        self.peer.send_notification(notification).await.is_ok()
    }
}

impl ChangeSink for Stream<'_> {
    async fn lists(&self, changed: Changed) -> bool {
        let wanted = |one: Option<bool>| one == Some(true);
        let accepted = self.accepted;
        let tools = changed.tools && wanted(accepted.tools_list_changed);
        let prompts = changed.prompts && wanted(accepted.prompts_list_changed);
        let resources = changed.resources && wanted(accepted.resources_list_changed);
        let told = [
            tools.then(|| {
                ServerNotification::ToolListChangedNotification(
                    ToolListChangedNotification::default(),
                )
            }),
            prompts.then(|| {
                ServerNotification::PromptListChangedNotification(
                    PromptListChangedNotification::default(),
                )
            }),
            resources.then(|| {
                ServerNotification::ResourceListChangedNotification(
                    ResourceListChangedNotification::default(),
                )
            }),
        ];
        for notification in told.into_iter().flatten() {
            if !self.send(notification).await {
                return false;
            }
        }
        true
    }

    fn wanted(&self) -> Vec<String> {
        let uris = self.accepted.resource_subscriptions.clone();
        uris.unwrap_or_default()
    }

    async fn resource(&self, uri: &str) -> bool {
        let update = ResourceUpdatedNotificationParam::new(uri);
        let update = ResourceUpdatedNotification::new(update);
        self.send(ServerNotification::ResourceUpdatedNotification(update))
            .await
    }
}
