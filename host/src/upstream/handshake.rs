//! The first words with an upstream, in the eras that MCP has had.
//!
//! Since 2026-07-28 there is no handshake: a client asks what there is
//! (`server/discover`) and says in each request who it is. Before, it had to
//! `initialize`. Servers of then refuse the question, ignore it or die of it.

use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::METHOD_NOT_FOUND;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Failure;
use super::channel::Lost;
use super::http::excerpt;
use super::message;
use super::peer::Peer;
use super::self_description::{bounded_instructions, read_bounded_object};

/// The version without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";

/// The newest version with one.
const LEGACY: &str = "2025-11-25";

/// How long a server may leave `server/discover` unanswered before it is asked in
/// the old way as well. Both answers count: it may only be slow to start.
const PROBE: Duration = Duration::from_secs(5);

/// Most bytes of what a server says of the versions that it speaks.
const MAX_VERSIONS_BYTES: usize = 4096;

/// Which way to begin with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// The new way, then the old one.
    Either,
    /// The old way: the question of the new one might end it.
    Legacy,
}

/// Why a server has not introduced itself.
pub(super) struct Unmet {
    pub(super) failure: Failure,
    /// Whether it was lost while it had the question of the new way before it, which
    /// it may have died of.
    pub(super) probed: bool,
}

impl From<Failure> for Unmet {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            probed: false,
        }
    }
}

/// What a server says of itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Hello {
    pub(super) protocol: String,
    pub(super) server_info: Map<String, Value>,
    pub(super) capabilities: Map<String, Value>,
    pub(super) instructions: Option<String>,
}

/// Who asks (MCP `Implementation`).
pub(super) fn us() -> Value {
    json!({ "name": "dormouse", "version": env!("CARGO_PKG_VERSION") })
}

/// Greets a server.
pub(super) async fn greet(peer: &Arc<Peer>, manner: Manner) -> Result<Hello, Unmet> {
    if manner == Manner::Legacy {
        return Ok(match initialize(peer).await {
            // It may have learnt the new way since, and given up the old one.
            Err(Failure::Refused(legacy)) => {
                peer.speak(Some(MODERN));
                let found = discover(peer).await;
                found.map_err(|error| neither(error, &legacy))?
            }
            hello => hello?,
        });
    }
    peer.speak(Some(MODERN));
    let lost = |failure| Unmet {
        failure,
        probed: true,
    };
    let mut probe = std::pin::pin!(discover(peer));
    let refused = tokio::select! {
        answer = &mut probe => match answer {
            Ok(hello) => return Ok(hello),
            Err(Failure::Refused(refused)) => Some(refused),
            Err(failure) => return Err(lost(failure)),
        },
        () = tokio::time::sleep(PROBE) => None,
    };
    let mut initialize = std::pin::pin!(initialize(peer));
    if let Some(modern) = refused {
        return Ok(initialize.await.map_err(|error| match error {
            Failure::Refused(legacy) => neither(Failure::Refused(modern), &legacy),
            lost => lost,
        })?);
    }
    let first = tokio::select! {
        hello = &mut initialize => Err(hello),
        answer = &mut probe => Ok(answer),
    };
    match first {
        Ok(Ok(hello)) => {
            peer.speak(Some(MODERN));
            Ok(hello)
        }
        Ok(Err(_)) => initialize.await.map_err(lost),
        Err(Ok(hello)) => Ok(hello),
        // It knows no `initialize`, and is about to say what it knows instead.
        Err(Err(refused)) => match probe.await {
            Ok(hello) => {
                peer.speak(Some(MODERN));
                Ok(hello)
            }
            Err(_) => Err(lost(refused)),
        },
    }
}

/// It knows neither way.
fn neither(modern: Failure, legacy: &super::Refusal) -> Failure {
    match modern {
        Failure::Refused(modern) => Failure::Lost(Lost::Broken(format!(
            "it answers neither `server/discover` ({}) nor `initialize` ({})",
            excerpt(&modern.message),
            excerpt(&legacy.message)
        ))),
        lost => lost,
    }
}

async fn discover(peer: &Arc<Peer>) -> Result<Hello, Failure> {
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
    let answer = peer.request("server/discover", "{}", None).await?;
    let answer = peer.secrets.redact_learnt_json(answer.get());
    let none = |why: String| {
        Failure::Refused(super::Refusal {
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
    let meta = found.meta.map_or("{}", RawValue::get);
    let meta = message::object(meta).map_err(|error| none(error.to_string()))?;
    let server_info = meta.get("io.modelcontextprotocol/serverInfo");
    let server_info = server_info.and_then(|info| serde_json::from_str::<&RawValue>(info).ok());
    Ok(Hello {
        protocol: MODERN.to_owned(),
        server_info: read_bounded_object("serverInfo", server_info),
        capabilities: read_bounded_object("capabilities", found.capabilities),
        instructions: bounded_instructions(found.instructions),
    })
}

async fn initialize(peer: &Arc<Peer>) -> Result<Hello, Failure> {
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
    // It is told this once, and may rely on being told of other roots later, too.
    let caller = peer.callers.latest(|_| true);
    let tells_roots = caller.is_ok_and(|caller| caller.tells_roots());
    let params = message::params([
        ("protocolVersion", json!(LEGACY)),
        ("capabilities", peer.able.lasting(tells_roots)),
        ("clientInfo", us()),
    ]);
    let answer = peer.request("initialize", &params, None).await?;
    let answer = peer.secrets.redact_learnt_json(answer.get());
    let none = |error: &dyn std::fmt::Display| {
        Lost::Broken(format!(
            "its answer to `initialize` is none of MCP: {error}"
        ))
    };
    let found: Initialized<'_> = serde_json::from_str(&answer).map_err(|error| none(&error))?;
    if found.protocol_version.len() > MAX_VERSIONS_BYTES {
        return Err(none(&"no version of MCP has such a long name").into());
    }
    // Whatever it has chosen: the lists will show whether it can be spoken to.
    peer.speak(Some(&found.protocol_version));
    // Nothing may overtake this.
    peer.tell("notifications/initialized", "{}").await?;
    Ok(Hello {
        protocol: found.protocol_version,
        server_info: read_bounded_object("serverInfo", found.server_info),
        capabilities: read_bounded_object("capabilities", found.capabilities),
        instructions: bounded_instructions(found.instructions),
    })
}
