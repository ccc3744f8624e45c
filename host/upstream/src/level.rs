//! The log level of an upstream of the era with sessions, which is told it for all
//! that it will say.

use std::sync::Arc;

use dormouse_protocol::LEVELS;
use serde_json::json;
use tokio::sync::Mutex;

use super::handshake::ServerIntroduction;
use super::message;
use super::peer::{Peer, SEND_TIMEOUT};

/// What an agent that has not said what it wants may hear, where another has: all that the
/// upstream would tell one that has not.
const UNSAID: &str = "debug";

/// The level that an upstream was told last.
#[derive(Default)]
pub(super) struct Level(Mutex<Option<&'static str>>);

impl Level {
    /// Tells the upstream the level that the sessions want whose connection it is, if it
    /// is another than before. An upstream that nobody has named a level for keeps its
    /// own.
    pub(super) async fn tell(&self, peer: &Arc<Peer>, hello: &ServerIntroduction) {
        // Since 2026-07-28 each request says which logs it wants.
        if peer.is_modern() || !hello.capabilities.contains_key("logging") {
            return;
        }
        // Held meanwhile, so that no call overtakes what was said before it.
        let mut told = self.0.lock().await;
        let Some(wanted) = wanted(peer).filter(|wanted| *told != Some(*wanted)) else {
            return;
        };
        let params = message::params([("level", json!(wanted))]);
        let asking = peer.request("logging/setLevel", &params, None);
        // What it says too much is not passed on, so that a refusal loses nothing.
        match tokio::time::timeout(SEND_TIMEOUT, asking).await {
            Ok(Ok(_)) => {}
            Ok(Err(failure)) => {
                tracing::debug!("server `{}` refuses a log level: {failure}", peer.server);
            }
            Err(_) => tracing::debug!("server `{}` takes no log level", peer.server),
        }
        *told = Some(wanted);
    }
}

/// The level of whoever wants to hear most.
fn wanted(peer: &Peer) -> Option<&'static str> {
    let clients = peer.clients();
    let said: Vec<_> = clients.iter().map(|client| client.level()).collect();
    if said.iter().all(Option::is_none) {
        return None;
    }
    let wants = |level: &&str| said.iter().any(|said| said.unwrap_or(UNSAID) == *level);
    LEVELS.into_iter().find(wants)
}
