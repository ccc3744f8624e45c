//! Following the changes that an upstream announces, for as long as it is connected.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dormouse_jsonrpc::METHOD_NOT_FOUND;
use serde_json::json;
use tokio::time::Instant;

use super::fetch::fetch_again;
use super::list_changes::MIN_GATHER;
use super::listen::listen;
use super::subscriptions::Follower;
use crate::messages::message;
use crate::messages::peer::Peer;
use crate::opening::handshake::ServerIntroduction;
use crate::{Failure, Refusal, UpstreamPolicy};

/// Longest time since the last fetch for which changes of lists are gathered before they are fetched:
/// that doubles with each change that comes within `CALM` after it, and ends once somebody waits for
/// the lists.
const MAX_GATHER: Duration = Duration::from_secs(5);
const CALM: Duration = Duration::from_secs(10);

/// Follows the changes until the connection has ended.
pub(crate) async fn follow(
    peer: Arc<Peer>,
    server_introduction: ServerIntroduction,
    policy: Arc<dyn UpstreamPolicy>,
    follower: Follower,
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
        ((), ()) = futures::future::join(asking, fetch(&peer, &server_introduction)) => {}
    }
    policy.closed(peer.connection);
}

/// Fetches lists again when they are said to have changed.
async fn fetch(peer: &Arc<Peer>, server_introduction: &ServerIntroduction) {
    let mut pause = MIN_GATHER;
    let mut fetched = None::<Instant>;
    loop {
        peer.list_changes.next().await;
        let now = Instant::now();
        let earliest = now + MIN_GATHER;
        let mut begin = earliest;
        pause = match fetched {
            Some(at) if now - at < CALM => {
                let pause = (pause * 2).min(MAX_GATHER);
                begin = begin.max(at + pause);
                pause
            }
            _ => MIN_GATHER,
        };
        tokio::time::sleep_until(earliest).await;
        tokio::select! {
            () = tokio::time::sleep_until(begin) => {}
            () = peer.list_changes.needed() => {}
        }
        let told = peer.list_changes.told();
        let fetching = fetch_again(peer, server_introduction, |_| true).await;
        fetched = Some(Instant::now());
        if let Err(failure) = fetching {
            peer.list_changes.tried(told);
            // Whoever has a call there is told, if anybody has.
            if peer.ended().is_some() {
                return;
            }
            peer.warn(&format!(
                "says that its lists have changed, and does not tell how: {failure}"
            ));
        }
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
            Failure::Barred(_) | Failure::NotLoggedIn(_) | Failure::Lost(_) => None,
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
