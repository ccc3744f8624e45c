//! Log level of an upstream of the era with sessions, which is set once for all of its later logs.

use std::sync::Arc;

use dormouse_protocol::LEVELS;
use serde_json::json;
use tokio::sync::Mutex;

use super::message;
use super::peer::{Peer, SEND_TIMEOUT};
use crate::opening::handshake::ServerIntroduction;

/// Level of an agent that has named none, where another one has: the lowest, because an agent that
/// names none is sent all that the upstream has.
const UNSAID: &str = "debug";

/// The level that an upstream was told last.
#[derive(Default)]
pub(crate) struct ToldLogLevel(Mutex<Option<&'static str>>);

impl ToldLogLevel {
    /// Sends the upstream the level that the sessions of the connection want, if it differs from
    /// the last one. Where no session has named a level, the upstream keeps its own.
    pub(crate) async fn tell(&self, peer: &Arc<Peer>, server_introduction: &ServerIntroduction) {
        // Since 2026-07-28 each request says which logs it wants.
        if peer.is_modern() || !server_introduction.capabilities.contains_key("logging") {
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

/// Returns the most verbose level of the sessions; none where none of them has named one.
fn wanted(peer: &Peer) -> Option<&'static str> {
    let clients = peer.clients();
    let said: Vec<_> = clients.iter().map(|client| client.level()).collect();
    if said.iter().all(Option::is_none) {
        return None;
    }
    let wants = |level: &&str| said.iter().any(|said| said.unwrap_or(UNSAID) == *level);
    LEVELS.into_iter().find(wants)
}
