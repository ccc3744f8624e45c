//! Room for another connection of an upstream, which is waited for.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Upstream;
use crate::connections::connection_room::{ConnectionPermit, ExceededConnectionLimit};
use crate::connections::idle_connections::{ConnectionOwner as _, end_one};
use crate::messages::channel::Lost;

/// Interval at which a caller checks for room for its connection.
const ROOM_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time that a connection that was ended may take to be gone, before another one is ended for the
/// same caller.
const MAX_ENDING: Duration = Duration::from_secs(10);

impl Upstream {
    /// Waits for room for another connection: each may be a process of its own. Where there are as
    /// many as there may be, an idle one is ended ([`end_one`]), and its end waited for.
    ///
    /// # Errors
    /// None has ended in the time that a start may take.
    pub(super) async fn room_for_one(&self) -> Result<Arc<ConnectionPermit>, Lost> {
        self.state.lock().may_connect()?;
        let end = Instant::now() + self.setup.start_timeout;
        let too_late =
            |full: ExceededConnectionLimit| Lost::Broken(full.message(&self.setup.server));
        let most = self.setup.limits.connections;
        // Whoever comes first is served first, in the server and in the host.
        let turn = tokio::time::timeout_at(end, self.room_queue.turn()).await;
        let _turn = turn.map_err(|_| too_late(ExceededConnectionLimit::Server(most)))?;
        let room = &self.connector.connection_room;
        let (mut waiting, mut turn_of_host) = (None, None);
        let mut ends_next = Instant::now();
        loop {
            self.state.lock().may_connect()?;
            let taken = match turn_of_host.is_none() && room.queue.has_waiting() {
                true => Err(ExceededConnectionLimit::Host(room.most())),
                false => room.take(&self.count, most),
            };
            let full = match taken {
                Ok(permit) => return Ok(permit),
                Err(full) => full,
            };
            waiting.get_or_insert_with(|| self.room_queue.wait());
            if matches!(full, ExceededConnectionLimit::Host(_)) && turn_of_host.is_none() {
                let turn = tokio::time::timeout_at(end, room.queue.turn()).await;
                let turn = turn.map_err(|_| too_late(full))?;
                turn_of_host = Some((turn, room.queue.wait()));
                continue;
            }
            let now = Instant::now();
            if now >= end {
                return Err(too_late(full));
            }
            // One that has been ended may take a while to be gone.
            if now >= ends_next {
                let idle = match full {
                    ExceededConnectionLimit::Server(_) => self.idle(),
                    ExceededConnectionLimit::Host(_) => self.connector.idle(),
                };
                if end_one(idle).await {
                    ends_next = now + MAX_ENDING;
                }
            }
            tokio::time::sleep(ROOM_POLL_INTERVAL).await;
        }
    }

    /// Whether somebody waits for the room of a connection that no call uses.
    pub(super) fn is_waited_for(&self) -> bool {
        self.room_queue.has_waiting() || self.connector.connection_room.queue.has_waiting()
    }
}
