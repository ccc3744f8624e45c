//! Following a server of the stateless era: one long request names all that is wanted.

use std::sync::Arc;
use std::time::Duration;

use dormouse_policy::Backoff;
use futures::future::{BoxFuture, Fuse, FutureExt as _};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::subscriptions::{Follower, WantedResources};
use crate::Failure;
use crate::messages::message;
use crate::messages::peer::{Peer, SEND_TIMEOUT};
use crate::opening::handshake::ServerIntroduction;

/// Longest time before a request that was ended is made again: servers and proxies end them now and
/// then.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Time before a request that was ended is made again.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), MAX_PAUSE);

/// Long request. One that was never made does not end.
type PendingListenRequest<'a> = Fuse<BoxFuture<'a, Result<Box<RawValue>, Failure>>>;

/// Asks the server to announce changes of all that is wanted, and again when that differs.
pub(super) async fn listen(
    peer: &Arc<Peer>,
    server_introduction: &ServerIntroduction,
    mut follower: Follower,
) {
    let mut standing = Fuse::terminated();
    let mut ended_before = 0;
    let mut has_ended = false;
    loop {
        let wanted = follower.wanted();
        let filter = filter(server_introduction, &wanted);
        // What stands is heard until the next is acknowledged, so that nothing is missed
        // between the two.
        standing = match filter.is_empty() {
            true => Fuse::terminated(),
            false => ask(peer, filter, &mut standing, &mut has_ended).await,
        };
        follower.told(&wanted);
        // Nobody has heard of what has changed before it stands again.
        if std::mem::take(&mut has_ended) {
            peer.list_changes.note();
        }
        let since = Instant::now();
        loop {
            tokio::select! {
                changed = follower.changes.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                ended = &mut standing => {
                    tracing::debug!("server `{}` tells no more changes: {}", peer.server, told(&ended));
                    // What it was about to tell nobody will hear.
                    peer.list_changes.note();
                    if let Err(Failure::Refused(_)) = ended {
                        continue;
                    }
                    if since.elapsed() > MAX_PAUSE {
                        ended_before = 0;
                    }
                    has_ended = true;
                    tokio::time::sleep(BACKOFF.pause(ended_before)).await;
                    ended_before += 1;
                    break;
                }
            }
        }
    }
}

/// Makes a request, and returns it when it is acknowledged, or after a while: it may be heeded
/// without being acknowledged. Notes whether the one that stands has ended meanwhile.
async fn ask<'a>(
    peer: &'a Arc<Peer>,
    filter: Map<String, Value>,
    standing: &mut PendingListenRequest<'a>,
    has_ended: &mut bool,
) -> PendingListenRequest<'a> {
    let params = message::params([("notifications", Value::Object(filter))]);
    let asking = async move { peer.request("subscriptions/listen", &params, None).await };
    let mut asking = asking.boxed().fuse();
    let mut late = std::pin::pin!(tokio::time::sleep(SEND_TIMEOUT));
    // One that came too late for the request before is not this one's.
    let _ = peer.acknowledged.notified().now_or_never();
    loop {
        tokio::select! {
            () = peer.acknowledged.notified() => return asking,
            () = &mut late => return asking,
            ended = &mut asking => {
                tracing::debug!("server `{}` tells no changes: {}", peer.server, told(&ended));
                // A server that is made anew may be there again soon. One that answers has none to tell.
                return match ended {
                    Err(Failure::Lost(_)) => std::future::ready(ended).boxed().fuse(),
                    _ => asking,
                };
            }
            // Both are still to be heard of.
            _ = &mut *standing => *has_ended = true,
        }
    }
}

/// Returns how a request has ended, in words of ours: an upstream may have written anything.
fn told(ended: &Result<Box<RawValue>, Failure>) -> String {
    match ended {
        Ok(_) => "it has answered".to_owned(),
        Err(Failure::Refused(refusal)) => format!("it has refused that with `{}`", refusal.code),
        Err(Failure::Barred(_) | Failure::NotLoggedIn(_)) => "that is not allowed".to_owned(),
        Err(Failure::Lost(_)) => "the connection was lost".to_owned(),
    }
}

fn filter(
    server_introduction: &ServerIntroduction,
    wanted: &WantedResources,
) -> Map<String, Value> {
    let mut filter = Map::new();
    for (list, name) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if server_introduction.declares(list, "listChanged") {
            filter.insert(name.to_owned(), Value::Bool(true));
        }
    }
    if !wanted.uris.is_empty() && server_introduction.declares("resources", "subscribe") {
        let uris: Vec<&str> = wanted.uris.iter().map(AsRef::as_ref).collect();
        filter.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    filter
}
