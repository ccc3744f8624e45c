//! The connections of one server: made on first use, one for each session or one
//! for all of the same kind of client, and made again when they have ended.

mod connecting;
mod idle;
mod request;
mod room;
mod sessions;
mod state;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

pub(super) use idle::IdleConnection;
pub use idle::{StoppedIdle, whose_state};
pub use state::RETIRED;

use state::UpstreamState;

use super::connection_room::{ConnectionCount, RoomQueue};
use super::links::LinkStage;
use crate::Connector;
use crate::Setup;
use crate::listing::fetch_turns::FetchTurns;
use crate::listing::subscriptions::{Subscription, UpstreamSubscriptions};
use crate::messages::channel::Lost;
use crate::status::{Connected, UpstreamStatus};

/// Upstream of one server.
pub struct Upstream {
    me: Weak<Self>,
    connector: Arc<Connector>,
    setup: Setup,
    state: Mutex<UpstreamState>,
    subscriptions: Arc<UpstreamSubscriptions>,
    fetch_turns: FetchTurns,
    count: ConnectionCount,
    room_queue: RoomQueue,
}

impl Upstream {
    /// Creates an upstream that nothing is done with until something is asked of it.
    #[must_use]
    pub fn new(connector: Arc<Connector>, setup: Setup) -> Arc<Self> {
        let upstream = Arc::new_cyclic(|me| Self {
            me: me.clone(),
            connector,
            setup,
            state: Mutex::default(),
            subscriptions: Arc::default(),
            fetch_turns: FetchTurns::default(),
            count: ConnectionCount::default(),
            room_queue: RoomQueue::default(),
        });
        let owner = Arc::downgrade(&upstream);
        upstream.connector.add(owner);
        upstream
    }

    /// Waits until all changes of lists that the upstream has announced are known.
    pub async fn lists_settled(&self) {
        let open = self.state.lock().links.open();
        let settled = open
            .iter()
            .map(|(_, connection, _)| connection.lists_settled());
        futures::future::join_all(settled).await;
    }

    /// Makes the upstream policy hear of changes of a resource, while the upstream is connected.
    /// Nothing is started for that.
    #[must_use]
    pub fn subscribe(&self, uri: &str) -> Subscription {
        self.subscriptions.add(uri)
    }

    /// Makes no connections any more. Those that there are stay.
    pub fn retire(&self) {
        self.state.lock().is_retired = true;
    }

    /// Ends all connections, each once no call uses it any more, and forgets what
    /// has failed: the next request connects at once.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        let links = state.links.take_all();
        state.failures.forget();
        drop(state);
        drop(links);
    }

    /// Returns the status of the upstream.
    #[must_use]
    pub fn status(&self) -> UpstreamStatus {
        let state = self.state.lock();
        let mut status = UpstreamStatus {
            server_info: state.server_info.clone(),
            ..UpstreamStatus::default()
        };
        match state.failures.last() {
            Some(Lost::Auth { challenge }) => status.needs_auth = Some(challenge.clone()),
            error => status.error = error.map(ToString::to_string),
        }
        for link in state.links.iter() {
            match &link.stage {
                LinkStage::Connecting(..) => status.connecting = true,
                LinkStage::Open(connection) => match connection.ended() {
                    Some(why) => status.error = Some(why),
                    None => status.connections.push(Connected {
                        session: link.session,
                        pid: connection.pid(),
                        since: connection.since,
                        protocol: connection.server_introduction.protocol.clone(),
                    }),
                },
            }
        }
        status.connections.sort_by_key(|one| one.session);
        status
    }
}
