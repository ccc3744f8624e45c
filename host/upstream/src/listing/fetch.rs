//! Fetching the lists of an upstream once more, and comparing them with what is known.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::lists;
use crate::messages::channel::Lost;
use crate::messages::peer::Peer;
use crate::opening::handshake::ServerIntroduction;
use crate::{Failure, Offered};

/// Has the upstream policy compare what was fetched with what is known: before that, no list counts
/// as known. Callers have a turn of the peer's fetch turns.
pub(crate) fn compare(peer: &Peer, offered: Offered) {
    let (changes, untold) = (offered.changes, offered.untold);
    if let Some(policy) = &peer.policy {
        policy.opened(offered);
    }
    peer.list_changes.compared(changes, untold);
}

/// Fetches all lists again, and compares them, where that is still needed by the time that the
/// connection has its turn: of many who want to know, few ask. `is_needed` is given the time at which
/// the last fetch was begun that was compared. A connection fetches its lists one time after the
/// other, so that none is replaced by an older one.
///
/// # Errors
/// They are not told, or not within the peer's patience.
pub(crate) async fn fetch_again(
    peer: &Arc<Peer>,
    server_introduction: &ServerIntroduction,
    is_needed: impl Fn(Option<Instant>) -> bool,
) -> Result<(), Failure> {
    let mut fetched = peer.fetched.lock().await;
    let _turn = peer.fetch_turns.again().await;
    if !is_needed(*fetched) {
        return Ok(());
    }
    let begun = Instant::now();
    let listing = lists::all(peer, server_introduction);
    let offered = tokio::time::timeout(peer.patience, listing).await;
    compare(peer, offered.unwrap_or_else(|_| Err(late(peer.patience)))?);
    *fetched = Some(begun);
    Ok(())
}

/// Returns the failure of an upstream that does not tell what it offers.
pub(crate) fn late(patience: Duration) -> Failure {
    let limit = patience.as_secs_f64();
    let why = format!(
        "it did not tell within {limit} s what it offers\n\
         hint: `start_timeout` in its table says how long that may take"
    );
    Lost::Broken(why).into()
}
