//! Following the changes that an upstream announces, for as long as it is connected.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_jsonrpc::METHOD_NOT_FOUND;
use serde_json::json;

use super::listen::listen;
use super::lists;
use super::subscriptions::Follower;
use crate::messages::message;
use crate::messages::peer::Peer;
use crate::opening::handshake::ServerIntroduction;
use crate::{Failure, Refusal, UpstreamPolicy};

/// Time for which changes of lists are gathered before they are fetched, first and longest: it
/// doubles with each change that comes within `CALM` after the last fetch.
const GATHER: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
const CALM: Duration = Duration::from_secs(10);

/// Follows the changes until the connection has ended. Lists that have changed are fetched within
/// `patience`.
pub(crate) async fn follow(
    peer: Arc<Peer>,
    server_introduction: ServerIntroduction,
    policy: Arc<dyn UpstreamPolicy>,
    follower: Follower,
    patience: Duration,
) {
    let asking = async {
        if peer.is_modern() {
            listen(&peer, &server_introduction, follower).await;
        } else {
            subscribe(&peer, &server_introduction, follower).await;
        }
    };
    tokio::select! {
        () = peer.over.cancelled() => {}
        ((), ()) = futures::future::join(asking, fetch(&peer, &server_introduction, policy.as_ref(), patience)) => {}
    }
    policy.closed(peer.connection);
}

/// Fetches lists again when they are said to have changed.
async fn fetch(
    peer: &Arc<Peer>,
    server_introduction: &ServerIntroduction,
    policy: &dyn UpstreamPolicy,
    patience: Duration,
) {
    let mut pause = GATHER.0;
    let mut fetched = None::<Instant>;
    loop {
        peer.list_changes.next().await;
        pause = match fetched {
            Some(at) if at.elapsed() < CALM => (pause * 2).min(GATHER.1),
            _ => GATHER.0,
        };
        tokio::time::sleep(pause).await;
        let turn = peer.fetch_turns.again().await;
        fetched = Some(Instant::now());
        let told = peer.list_changes.told();
        match tokio::time::timeout(patience, lists::all(peer, server_introduction)).await {
            Ok(Ok(offered)) => policy.opened(offered),
            // Whoever has a call there is told, if anybody has.
            Ok(Err(_)) if peer.ended().is_some() => return,
            Ok(Err(failure)) => peer.warn(&format!(
                "says that its lists have changed, and does not tell how: {failure}"
            )),
            Err(_) => peer.warn(&format!(
                "says that its lists have changed, and does not tell how within {} s\n\
                 hint: `start_timeout` in its table says how long that may take",
                patience.as_secs_f64()
            )),
        }
        drop(turn);
        peer.list_changes.fetched(told);
    }
}

/// Subscribes to resources, one by one: before 2026-07-28, lists are announced anyway. Servers that
/// do not declare that they take subscriptions may take them, and tell else.
async fn subscribe(
    peer: &Arc<Peer>,
    server_introduction: &ServerIntroduction,
    mut follower: Follower,
) {
    if !server_introduction.capabilities.contains_key("resources") {
        return;
    }
    let ask = async |method: &str, uri: &str| {
        let params = message::params([("uri", json!(uri))]);
        let failure = peer.request(method, &params, None).await.err()?;
        tracing::debug!("server `{}` refuses `{method}`: {failure}", peer.server);
        match failure {
            Failure::Refused(refusal) => Some(refusal),
            Failure::Barred(_) | Failure::Lost(_) => None,
        }
    };
    let mut told: BTreeSet<Arc<str>> = BTreeSet::new();
    // One that has no subscriptions at all is not asked for each resource.
    let mut takes_none: Option<Refusal> = None;
    loop {
        let now = follower.wanted();
        for uri in now.uris.difference(&told) {
            let refusal = match &takes_none {
                Some(refusal) => Some(refusal.clone()),
                None => ask("resources/subscribe", uri).await,
            };
            takes_none = refusal
                .clone()
                .filter(|refusal| refusal.code == METHOD_NOT_FOUND);
            follower.answered(uri, refusal);
        }
        for uri in told.difference(&now.uris) {
            if !follower.forget(uri) {
                ask("resources/unsubscribe", uri).await;
            }
        }
        follower.told(&now);
        told = now.uris;
        if follower.changes.changed().await.is_err() {
            return;
        }
    }
}
