//! What is asked of servers beside calling tools.

use dormouse_catalog::ListedItem;
use dormouse_wit::Function;
use serde_json::{Map, Value};

use super::{Context, Offer, Refusal, Roster};
use crate::runtime::{Answer, Arguments, Completion, Prompt, Resource, Wanted};
use crate::upstream::Subscription;

impl Roster {
    /// A prompt: an MCP `GetPromptResult`.
    ///
    /// # Errors
    /// Its server is gone, or its plugin refuses.
    pub async fn prompt(
        &self,
        offer: &Offer,
        arguments: Arguments,
        context: Context,
    ) -> Result<Answer, Refusal> {
        let (item, function) = declared(offer)?;
        let wanted = Wanted::Prompt(Prompt {
            name: item.key.clone(),
            function,
            description: member(item, "description"),
            arguments,
        });
        self.ask(offer.server(), wanted, context).await
    }

    /// A resource, as the roster's [`Snapshot`](super::Snapshot) has found it: an
    /// MCP `ReadResourceResult`.
    ///
    /// # Errors
    /// Its server is gone, or its plugin has no such resource or refuses.
    pub async fn read(
        &self,
        uri: &str,
        (offer, variables): (&Offer, Map<String, Value>),
        context: Context,
    ) -> Result<Answer, Refusal> {
        let (item, function) = declared(offer)?;
        let wanted = Wanted::Resource(Resource {
            uri: uri.to_owned(),
            function,
            mime_type: member(item, "mimeType"),
            variables,
        });
        self.ask(offer.server(), wanted, context).await
    }

    /// A resource that is in no list, of the server that [has](Self::unlisted) it: an
    /// MCP `ReadResourceResult`.
    ///
    /// # Errors
    /// Its server is gone, or its upstream has no such resource or refuses.
    pub async fn read_unlisted(
        &self,
        uri: &str,
        server: &str,
        context: Context,
    ) -> Result<Answer, Refusal> {
        let wanted = Wanted::Resource(Resource {
            uri: uri.to_owned(),
            function: None,
            mime_type: None,
            variables: Map::new(),
        });
        self.ask(server, wanted, context).await
    }

    /// What a plugin makes of what a user has begun to type: an MCP
    /// `CompleteResult`.
    ///
    /// # Errors
    /// The plugin refuses.
    pub async fn complete(
        &self,
        server: &str,
        completion: Completion,
        context: Context,
    ) -> Result<Answer, Refusal> {
        self.ask(server, Wanted::Completion(completion), context)
            .await
    }

    /// Has an upstream tell of the changes of a resource of its, for as long as what
    /// this returns is held. It wakes nobody: an upstream that sleeps is asked when it
    /// is connected. None where the resource is a plugin's.
    #[must_use]
    pub fn follow(&self, uri: &str) -> Option<Subscription> {
        let snapshot = self.snapshot();
        let server = match snapshot.resource(uri) {
            Some((offer, _)) => offer.server().to_owned(),
            None => self.unlisted(uri)?,
        };
        let server = self.server(&server).ok()?;
        server.config().bridge()?;
        Some(server.asleep(self)?.upstream()?.subscribe(uri))
    }

    async fn ask(&self, server: &str, wanted: Wanted, context: Context) -> Result<Answer, Refusal> {
        let found = self.server(server)?;
        let answer = found.ask(self, wanted, context).await?;
        self.note(&found, &answer);
        Ok(answer)
    }
}

/// What a plugin declares of an offer, and the function behind it.
fn declared(offer: &Offer) -> Result<(&ListedItem, Option<Function>), Refusal> {
    let gone = || Refusal::NotFound(format!("`{}` is gone", offer.key));
    let item = offer.declared().ok_or_else(gone)?;
    let function = item.function().map_err(|error| {
        let server = offer.server();
        Refusal::Failed(format!(
            "the declaration of server `{server}` cannot be read: {error}"
        ))
    })?;
    Ok((item, function))
}

/// A text in an MCP object.
fn member(item: &ListedItem, name: &str) -> Option<String> {
    let object: Map<String, Value> = serde_json::from_str(item.object.get()).ok()?;
    object.get(name)?.as_str().map(str::to_owned)
}
