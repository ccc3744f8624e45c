//! `resources/*`.

use std::collections::HashMap;

use dormouse_protocol::Answer;
use dormouse_runtime::Arguments;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::commands;
use super::instructions;
use super::result::{list, read};
use crate::mcp::calls::plugin_request::{Continuation, PluginRequest};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::{Host, refusal};
use crate::roster::{
    FollowedResource, FollowedUri, MAX_FOLLOWED_URI_BYTES, OfferRefusal, ResourceSource, Roster,
};

/// Most resources that one client may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 1024;

/// Most bytes of all URIs together that one client subscribes to.
const MAX_SUBSCRIBED_BYTES: usize = 256 << 10;

/// Resources whose changes a client of the era with sessions subscribes to.
#[derive(Default)]
pub(in crate::mcp) struct ClientSubscriptions(Mutex<HashMap<String, FollowedResource>>);

/// Removes the URIs that are beyond a client's limits.
pub(in crate::mcp) fn leave_allowed(uris: &mut Vec<String>) {
    let mut bytes = 0;
    uris.retain(|uri| {
        let has_room =
            uri.len() <= MAX_FOLLOWED_URI_BYTES && bytes + uri.len() <= MAX_SUBSCRIBED_BYTES;
        bytes += if has_room { uri.len() } else { 0 };
        has_room
    });
    uris.truncate(MAX_SUBSCRIPTIONS);
}

impl ClientSubscriptions {
    pub(in crate::mcp) fn list(&self) -> Vec<FollowedUri> {
        let all = self.0.lock();
        all.values().map(|one| one.followed().clone()).collect()
    }

    /// Adds a subscription. It is in force when the returned future has ended, unless that fails
    /// because its server refuses it.
    ///
    /// # Errors
    /// There are too many already.
    pub(in crate::mcp) fn add(
        &self,
        uri: String,
        source: &ResourceSource,
        roster: &Roster,
    ) -> Result<impl Future<Output = Result<(), OfferRefusal>> + use<>, ErrorObject> {
        if uri.len() > MAX_FOLLOWED_URI_BYTES {
            let why = format!(
                "a URI of {} bytes cannot be subscribed to: {MAX_FOLLOWED_URI_BYTES} are allowed",
                uri.len()
            );
            return Err(ErrorObject::invalid_params(why));
        }
        let mut all = self.0.lock();
        if all.len() >= MAX_SUBSCRIPTIONS && !all.contains_key(&uri) {
            return Err(ErrorObject::invalid_params(format!(
                "`{uri}` is one subscription more than the {MAX_SUBSCRIPTIONS} allowed"
            )));
        }
        let bytes: usize = all.keys().map(String::len).sum();
        if bytes + uri.len() > MAX_SUBSCRIBED_BYTES && !all.contains_key(&uri) {
            return Err(ErrorObject::invalid_params(format!(
                "the URIs that are subscribed to may have {MAX_SUBSCRIBED_BYTES} bytes \
                     together, and would have {}",
                bytes + uri.len()
            )));
        }
        let followed = roster.follow(&uri, Some(source));
        if !followed.has_room() {
            let why = format!(
                "`{uri}` cannot be subscribed to: too many resources of its server are already, by \
                 all clients together"
            );
            return Err(ErrorObject::invalid_params(why));
        }
        let known = followed.known();
        all.insert(uri, followed);
        Ok(known)
    }

    pub(in crate::mcp) fn remove(&self, uri: &str) {
        self.0.lock().remove(uri);
    }
}

/// Returns the MCP error of a resource's refusal. MCP wants to be told the URI where there is no
/// such resource (SEP-2164).
pub(in crate::mcp) fn with_uri(refused: OfferRefusal, uri: &str) -> ErrorObject {
    let unknown = matches!(refused, OfferRefusal::NotFound(_));
    let error = refusal(refused);
    match unknown {
        true => error.with_value(&json!({ "uri": uri })),
        false => error,
    }
}

impl Host {
    pub(in crate::mcp) fn list_resources(
        &self,
        params: &Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let snapshot = self.snapshot();
        list("resources", params, context, |text| {
            snapshot.resources().write_list(text);
            commands::append_status(text);
            instructions::append(&snapshot, text);
        })
    }

    pub(in crate::mcp) fn list_templates(
        &self,
        params: &Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let snapshot = self.snapshot();
        list("resourceTemplates", params, context, |text| {
            snapshot.templates().write_list(text);
        })
    }

    pub(in crate::mcp) async fn read_resource(
        &self,
        mut params: Map<String, Value>,
        context: &RequestContext<'_>,
    ) -> Result<Answer, ErrorObject> {
        let Some(Value::String(uri)) = params.remove("uri") else {
            let why = "`resources/read` needs the `uri` of a resource";
            return Err(ErrorObject::invalid_params(why));
        };
        let continued = Continuation::take(&mut params, &context.request.original)?;
        let snapshot = self.snapshot();
        let profile = self.profile.as_deref();
        if let Some(status) = commands::read_status(&self.common.roster, &snapshot, profile, &uri) {
            return Ok(read(status.into(), context.era()));
        }
        if let Some(said) = instructions::read(&snapshot, &uri) {
            return Ok(read(said.into(), context.era()));
        }
        let source = self.common.roster.resource_in(&snapshot, &uri);
        let source = source.map_err(|unresolved| with_uri(unresolved.refusal(&uri), &uri))?;
        let (of_server, own_uri) = (source.server.clone(), source.uri.clone());
        let order = PluginRequest {
            method: "resources/read",
            key: uri,
            server: source.server.clone(),
            arguments: Arguments::default(),
        };
        let result = self
            .carry_out(
                order,
                continued,
                context,
                |roster, order, call| async move {
                    let uri = &order.key;
                    let read = roster.read(uri, &source, call).await;
                    read.map_err(|refused| with_uri(refused, uri))
                },
            )
            .await?;
        self.pages.note(&of_server, &own_uri);
        Ok(read(result, context.era()))
    }

    /// Has the client told when a resource changes.
    ///
    /// # Errors
    /// Nobody is told of its changes, its server refuses that, or there is no such resource.
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
        let known = self.subscriptions.add(uri.clone(), &source, roster)?;
        known.await.map_err(|refused| {
            self.subscriptions.remove(&uri);
            refusal(refused)
        })
    }

    /// Ends a subscription.
    pub(in crate::mcp) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.remove(uri);
    }
}
