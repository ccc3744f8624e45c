//! Requests to servers other than calls of tools.

use std::future::ready;
use std::sync::Arc;

use dormouse_catalog::ListedItem;
use dormouse_protocol::Answer;
use dormouse_runtime::{
    Arguments, CallCondition, Completion, ENDED, GuestRequest, PromptRequest, ResourceRequest,
};
use dormouse_wit::Function;
use futures::FutureExt as _;
use serde_json::{Map, Value};

use super::resources::RequestedUri;
use super::{
    CallContext, FollowedResource, FollowedUri, Offer, OfferRefusal, ResourceIdentity,
    ResourceSource, Roster,
};

impl Roster {
    /// Returns a prompt: an MCP `GetPromptResult`.
    ///
    /// # Errors
    /// Its server is gone, or its plugin refuses.
    pub async fn prompt(
        &self,
        offer: &Offer,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let (item, function) = declared(offer)?;
        let wanted = GuestRequest::Prompt(PromptRequest {
            name: item.key.clone(),
            function,
            description: member(item, "description"),
            arguments,
        });
        self.ask(offer.server(), wanted, None, context).await
    }

    /// Reads a resource where it [belongs](Self::resource): an MCP `ReadResourceResult`.
    ///
    /// # Errors
    /// Its server is gone, or its plugin has no such resource or refuses.
    pub async fn read(
        &self,
        uri: &str,
        source: &ResourceSource,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let (function, mime_type, variables) = match &source.listed {
            Some((offer, variables)) => {
                let (item, function) = declared(offer)?;
                (function, member(item, "mimeType"), variables.clone())
            }
            None => (None, None, Map::new()),
        };
        let wanted = GuestRequest::Resource(ResourceRequest {
            uri: source.uri.clone(),
            function,
            mime_type,
            variables,
        });
        let asked = Some(RequestedUri {
            own: &source.uri,
            shown: uri,
        });
        self.ask(&source.server, wanted, asked, context).await
    }

    /// Returns a plugin's completion of what a user has begun to type: an MCP `CompleteResult`.
    ///
    /// # Errors
    /// The plugin refuses.
    pub async fn complete(
        &self,
        server: &str,
        completion: Completion,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        self.ask(server, GuestRequest::Completion(completion), None, context)
            .await
    }

    /// Sends notifications of a resource's changes, also those of its upstream, if it has one, for
    /// as long as the returned value is held. A sleeping upstream is not woken up: it gets the
    /// subscription when it is connected. `source` is where the client's view of the servers has
    /// the resource; without one, updates count of whichever server turns out to have the URI.
    #[must_use]
    pub fn follow(&self, uri: &str, source: Option<&ResourceSource>) -> FollowedResource {
        let subscription = || {
            let source = source?;
            let server = self.server(&source.server).ok()?;
            server.config().bridge()?;
            Some(server.asleep(self)?.upstream()?.subscribe(&source.uri))
        };
        let followed = FollowedUri {
            uri: uri.into(),
            resource: source.map(|source| ResourceIdentity {
                server: source.server.as_str().into(),
                uri: source.uri.as_str().into(),
            }),
        };
        FollowedResource {
            _wanted: self.changes.want(&followed),
            subscription: subscription(),
            followed,
        }
    }

    /// Answers a request; `asked` is the URI that is read, if any.
    async fn ask(
        &self,
        server: &str,
        wanted: GuestRequest,
        asked: Option<RequestedUri<'_>>,
        context: CallContext,
    ) -> Result<Answer, OfferRefusal> {
        let found = self.server(server)?;
        let found = self.with_inputs(&found, &context).await;
        let found = found.map_err(OfferRefusal::Failed)?;
        // After all that a person may have been waited for.
        let profile = context.profile.as_deref();
        self.check_profile_has(server, profile)?;
        let condition = profile.map(|profile| self.while_profile_has(server, profile));
        let of_upstream = self.upstream_condition(&found, None, &context);
        let answer = found.ask(self, wanted, context, condition, of_upstream);
        let answer = answer.await?;
        Ok(self.with_shown_uris(&found, asked, answer))
    }

    /// Checks that a server is still there, and that a profile has it as that is now, where one is named.
    fn check_profile_has(&self, server: &str, profile: Option<&str>) -> Result<(), OfferRefusal> {
        self.server(server)?;
        match self.view(profile).servers().contains_key(server) {
            true => Ok(()),
            false => Err(OfferRefusal::Failed(format!(
                "server `{server}` was not asked: the profile that is served does not have it\n\
                 hint: `servers` of the profile in dormouse.toml says what it has"
            ))),
        }
    }

    /// Returns the condition on which a request goes on that is no call of a tool.
    fn while_profile_has(&self, server: &str, profile: &str) -> Arc<dyn CallCondition> {
        let (server, profile) = (server.to_owned(), profile.to_owned());
        let roster = self.me.clone();
        Arc::new(move || {
            // Where there is no roster any more, nothing is asked either.
            let roster = roster.upgrade();
            let checked = roster.map_or_else(
                || Err(ENDED.to_owned()),
                |roster| {
                    let checked = roster.check_profile_has(&server, Some(&profile));
                    checked.map_err(|why| why.to_string())
                },
            );
            ready(checked).boxed()
        })
    }
}

/// Returns a plugin's declaration of an offer, and the function behind it.
fn declared(offer: &Offer) -> Result<(&ListedItem, Option<Function>), OfferRefusal> {
    let gone = || OfferRefusal::NotFound(format!("`{}` is gone", offer.key));
    let item = offer.declared().ok_or_else(gone)?;
    let function = item.function().map_err(|error| {
        let server = offer.server();
        OfferRefusal::Failed(format!(
            "the declaration of server `{server}` cannot be read: {error}"
        ))
    })?;
    Ok((item, function))
}

/// Returns a string member of an MCP object.
fn member(item: &ListedItem, name: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(item.object.get()).ok()?;
    object.get(name)?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::roster::tests::{ADD, Home, component};

    #[tokio::test(flavor = "multi_thread")]
    async fn a_server_that_is_gone_is_not_said_to_be_left_out_by_a_profile() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let servers = "[servers.a]\ncomponent = 'a.wasm'\n";
        let with = format!("{servers}[profiles.work]\nservers = ['a']\n");
        let without = format!("{servers}[profiles.work]\nservers = ['b']\n");
        let gone = "[profiles.work]\nservers = ['a']\n".to_owned();
        let of_profile = "the profile that is served does not have it";
        for (config, profile, told) in [
            (&with, Some("work"), None),
            (&without, Some("work"), Some(of_profile)),
            (&without, None, None),
            (&gone, Some("work"), Some("no server is called `a`")),
            (&gone, None, Some("no server is called `a`")),
        ] {
            home.write("dormouse.toml", config.as_bytes());
            let checked = home.open().check_profile_has("a", profile);
            match (checked, told) {
                (Ok(()), None) => {}
                (Err(why), Some(told)) => assert!(why.to_string().contains(told), "{why}"),
                (checked, _) => panic!("{config} {profile:?}: {checked:?}"),
            }
        }
    }
}
