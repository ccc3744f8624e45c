//! First requests to an upstream, in the eras that MCP has had.
//!
//! Since 2026-07-28 there is no handshake: a client asks what there is (`server/discover`) and
//! names itself in each request. Before, it had to `initialize`. Servers refuse the first request
//! of an era that they do not know, ignore it or end at it.

use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::{METHOD_NOT_FOUND, Object};
use dormouse_protocol::{ClientEra, NEWEST_HANDSHAKE};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::first_request::{Beginning, FirstRequest, Reaction, Reactions};
use super::introduction::{Introduction, MODERN, us};
use super::self_description::{bounded_instructions, read_bounded_object};
use crate::Failure;
use crate::http::{excerpt, reading_error};
use crate::messages::channel::Lost;
use crate::messages::message;
use crate::messages::peer::Peer;

/// Most bytes of the list of versions that a server speaks.
const MAX_VERSIONS_BYTES: usize = 4096;

/// Reason for which a server has not introduced itself.
pub(crate) struct Unmet {
    pub(crate) failure: Failure,
    /// First requests that it had been sent when it was lost: it may have ended because of them.
    pub(crate) sent: Vec<FirstRequest>,
}

/// Introduction of a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerIntroduction {
    pub(crate) protocol: String,
    pub(crate) server_info: Map<String, Value>,
    pub(crate) capabilities: Map<String, Value>,
    pub(crate) instructions: Option<String>,
    /// Reactions to the first requests.
    pub(crate) reactions: Reactions,
}

/// Sends a server its first requests in the name of a client.
pub(crate) async fn greet(
    peer: &Arc<Peer>,
    beginning: Beginning,
    introduction: &Introduction,
) -> Result<ServerIntroduction, Unmet> {
    let Beginning { first, silence } = beginning;
    let second = first.other();
    let unmet = |failure: Failure, sent: &[FirstRequest]| Unmet {
        failure,
        sent: sent.to_vec(),
    };
    let mut answer_to_first = send(peer, first, introduction);
    let refused = tokio::select! {
        answer = &mut answer_to_first => match answer {
            Ok(server_introduction) => return Ok(server_introduction.after(first, None)),
            Err(Failure::Refused(refused)) => Some(refused),
            Err(failure) => return Err(unmet(failure, &[first])),
        },
        () = silent_for(silence) => None,
    };
    let both = [first, second];
    let mut answer_to_second = send(peer, second, introduction);
    if let Some(refusal) = refused {
        let refused = Some(first);
        return match answer_to_second.await {
            Ok(server_introduction) => Ok(server_introduction.after(second, refused)),
            Err(Failure::Refused(other)) => Err(unmet(neither(first, &refusal, &other), &[])),
            Err(failure) => Err(unmet(failure, &both)),
        };
    }
    // Whatever the other one is answered with has been overtaken, or comes yet.
    tokio::select! {
        // Where both are answered, it is what its client would have had.
        biased;
        answer = &mut answer_to_first => match answer {
            Ok(server_introduction) => {
                server_introduction.speaks(peer);
                Ok(server_introduction.after(first, None))
            }
            Err(_) => {
                let refused = Some(first);
                let server_introduction = answer_to_second.await;
                let server_introduction = server_introduction.map_err(|failure| unmet(failure, &both))?;
                Ok(server_introduction.after(second, refused))
            }
        },
        answer = &mut answer_to_second => match answer {
            // It may ignore the other one, or only be slow.
            Ok(server_introduction) => {
                let mut server_introduction = server_introduction.after(second, None);
                server_introduction.reactions.overtaken = Some(first);
                Ok(server_introduction)
            }
            // It may be about to answer the one that it knows.
            Err(failure) => match answer_to_first.await {
                Ok(server_introduction) => {
                    server_introduction.speaks(peer);
                    let refused = Some(second);
                    Ok(server_introduction.after(first, refused))
                }
                Err(_) => Err(unmet(failure, &both)),
            },
        },
    }
}

impl ServerIntroduction {
    /// Returns the same introduction, with the first requests that its server has answered and
    /// refused.
    fn after(mut self, answered: FirstRequest, refused: Option<FirstRequest>) -> Self {
        self.reactions.set(answered, Reaction::Answers);
        if let Some(refused) = refused {
            self.reactions.set(refused, Reaction::Refuses);
        }
        self
    }

    /// Whether the server has declared this capability of one of its lists.
    pub(crate) fn declares(&self, list: &str, what: &str) -> bool {
        let declared = self.capabilities.get(list);
        declared.and_then(|list| list.get(what)) == Some(&Value::Bool(true))
    }

    /// Sets its version as the spoken one, where another first request has been sent since.
    fn speaks(&self, peer: &Peer) {
        peer.speak(Some(&self.protocol));
    }
}

/// Returns after that much silence; never, if there is none.
async fn silent_for(silence: Option<Duration>) {
    match silence {
        Some(silence) => tokio::time::sleep(silence).await,
        None => std::future::pending().await,
    }
}

/// Returns the future of a first request and its answer, which is sent once polled.
fn send<'a>(
    peer: &'a Arc<Peer>,
    request: FirstRequest,
    introduction: &'a Introduction,
) -> BoxFuture<'a, Result<ServerIntroduction, Failure>> {
    match request {
        FirstRequest::Initialize => initialize(peer, introduction).boxed(),
        FirstRequest::Discover => discover(peer).boxed(),
    }
}

/// Returns the error of a server that refuses both first requests.
fn neither(first: FirstRequest, refusal: &crate::Refusal, other: &crate::Refusal) -> Failure {
    let (discover, initialize) = match first {
        FirstRequest::Discover => (refusal, other),
        FirstRequest::Initialize => (other, refusal),
    };
    Failure::Lost(Lost::Broken(format!(
        "it answers neither `initialize` ({}) nor `server/discover` ({})",
        excerpt(&initialize.message),
        excerpt(&discover.message)
    )))
}

async fn discover(peer: &Arc<Peer>) -> Result<ServerIntroduction, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered<'t> {
        #[serde(borrow)]
        supported_versions: &'t RawValue,
        #[serde(borrow, default)]
        capabilities: Option<&'t RawValue>,
        #[serde(default)]
        instructions: Option<String>,
        #[serde(borrow, default, rename = "_meta")]
        meta: Option<&'t RawValue>,
    }
    peer.speak(Some(MODERN));
    let answer = peer.request("server/discover", "{}", None).await?;
    let answer = peer.secrets.redact_learnt_json(answer.get());
    let none = |why: String| {
        Failure::Refused(crate::Refusal {
            code: METHOD_NOT_FOUND,
            message: why,
            data: None,
        })
    };
    let found: Discovered<'_> =
        serde_json::from_str(&answer).map_err(|error| none(error.to_string()))?;
    let versions = found.supported_versions.get();
    if versions.len() > MAX_VERSIONS_BYTES {
        let why = "it names more versions of MCP than there can be";
        return Err(none(why.to_owned()));
    }
    let versions: Vec<String> =
        serde_json::from_str(versions).map_err(|error| none(error.to_string()))?;
    if !versions.iter().any(|one| one == MODERN) {
        let versions = versions.join("`, `");
        return Err(none(format!("it speaks `{versions}`")));
    }
    // It may have been sent `initialize` meanwhile.
    peer.speak(Some(MODERN));
    let meta = found.meta.map_or("{}", RawValue::get);
    let meta = Object::read(meta).map_err(|error| none(error.to_string()))?;
    let server_info = meta.get("io.modelcontextprotocol/serverInfo");
    let server_info = server_info.and_then(|info| serde_json::from_str::<&RawValue>(info).ok());
    Ok(ServerIntroduction {
        protocol: MODERN.to_owned(),
        server_info: read_bounded_object("serverInfo", server_info, &peer.secrets),
        capabilities: read_bounded_object("capabilities", found.capabilities, &peer.secrets),
        instructions: bounded_instructions(found.instructions),
        reactions: Reactions::default(),
    })
}

/// Sends `initialize` in the revision that the client speaks, or in the newest one where that is
/// refused: a server should offer another one itself, and not all do.
async fn initialize(
    peer: &Arc<Peer>,
    introduction: &Introduction,
) -> Result<ServerIntroduction, Failure> {
    let ClientEra::Handshake(revision) = &introduction.era else {
        return initialize_in(NEWEST_HANDSHAKE, peer, introduction).await;
    };
    match initialize_in(revision, peer, introduction).await {
        Err(Failure::Refused(_)) if revision != NEWEST_HANDSHAKE => {
            initialize_in(NEWEST_HANDSHAKE, peer, introduction).await
        }
        server_introduction => server_introduction,
    }
}

async fn initialize_in(
    revision: &str,
    peer: &Arc<Peer>,
    introduction: &Introduction,
) -> Result<ServerIntroduction, Failure> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized<'t> {
        protocol_version: String,
        #[serde(borrow, default)]
        server_info: Option<&'t RawValue>,
        #[serde(borrow, default)]
        capabilities: Option<&'t RawValue>,
        #[serde(default)]
        instructions: Option<String>,
    }
    peer.speak(None);
    let params = message::params([
        ("protocolVersion", json!(revision)),
        ("capabilities", json!(introduction.capabilities)),
        ("clientInfo", us()),
    ]);
    let answer = peer.request("initialize", &params, None).await?;
    let answer = peer.secrets.redact_learnt_json(answer.get());
    let none = |error: &dyn std::fmt::Display| {
        let why = reading_error(&error.to_string());
        Lost::Broken(format!("its answer to `initialize` is none of MCP: {why}"))
    };
    let found: Initialized<'_> = serde_json::from_str(&answer).map_err(|error| none(&error))?;
    if found.protocol_version.len() > MAX_VERSIONS_BYTES {
        return Err(none(&"no version of MCP has such a long name").into());
    }
    // Whatever it has chosen: the lists will show whether it can be spoken to. One without a
    // handshake is none to choose in one, and whoever has shaken hands is of the era before.
    let protocol = match found.protocol_version == MODERN {
        true => NEWEST_HANDSHAKE.to_owned(),
        false => found.protocol_version,
    };
    peer.speak(Some(&protocol));
    // Nothing may overtake this.
    peer.tell("notifications/initialized", "{}").await?;
    Ok(ServerIntroduction {
        protocol,
        server_info: read_bounded_object("serverInfo", found.server_info, &peer.secrets),
        capabilities: read_bounded_object("capabilities", found.capabilities, &peer.secrets),
        instructions: bounded_instructions(found.instructions),
        reactions: Reactions::default(),
    })
}
