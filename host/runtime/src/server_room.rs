//! Room of one server in what all servers have together.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use dormouse_egress::RequestRoom;
use parking_lot::Mutex;

use crate::call::Turns;
use crate::memory::{HostMemory, ServerMemory};

/// Room of one server, by its name: another table of its configuration makes another slot, whose calls
/// count together with those that go on in the slots of before.
pub(crate) struct ServerRoom {
    pub(crate) memory: Arc<ServerMemory>,
    pub(crate) turns: Turns,
    pub(crate) requests: RequestRoom,
}

/// Room of each server that has slots, by their names.
#[derive(Default)]
pub(crate) struct ServerRooms(Mutex<BTreeMap<String, Weak<ServerRoom>>>);

impl ServerRooms {
    /// Returns the room of a server of which so many calls run at once from now on.
    pub(crate) fn of(
        &self,
        server: &str,
        running: u32,
        memory: &Arc<HostMemory>,
    ) -> Arc<ServerRoom> {
        let mut all = self.0.lock();
        if let Some(room) = all.get(server).and_then(Weak::upgrade) {
            room.turns.set_running(running);
            return room;
        }
        all.retain(|_, room| room.strong_count() > 0);
        let room = Arc::new(ServerRoom {
            memory: ServerMemory::new(Arc::clone(memory)),
            turns: Turns::new(running),
            requests: RequestRoom::new(server),
        });
        all.insert(server.to_owned(), Arc::downgrade(&room));
        room
    }
}

#[cfg(test)]
mod tests {
    use dormouse_egress::GrantedHttp;
    use futures::FutureExt as _;
    use tokio::task::unconstrained;

    use super::*;

    #[tokio::test]
    async fn a_server_has_one_room_whatever_its_table_says_as_long_as_calls_go_on() {
        let host = HostMemory::new(100);
        let rooms = ServerRooms::default();
        let before = rooms.of("a", 2, &host);
        let held = before.memory.charge(50);
        assert!(held.is_some());
        let turns = [before.turns.take().await, before.turns.take().await];
        let after = rooms.of("a", 1, &host);
        assert!(after.memory.charge(1).is_none());
        let http = |room: &ServerRoom| GrantedHttp::default().in_room(room.requests.clone());
        let mut open = Vec::new();
        while let Some(one) = unconstrained(http(&before).open()).now_or_never() {
            open.push(one);
        }
        assert!(!open.is_empty());
        assert!(unconstrained(http(&after).open()).now_or_never().is_none());
        drop(open.pop());
        assert!(unconstrained(http(&after).open()).now_or_never().is_some());
        assert!(rooms.of("b", 1, &host).memory.charge(50).is_some());
        // One of two goes on, and one may.
        let [first, second] = turns;
        drop(first);
        assert!(after.turns.take().now_or_never().is_none());
        drop(second);
        assert!(after.turns.take().now_or_never().is_some());
        // More may, at once.
        let one = after.turns.take().await;
        assert!(before.turns.take().now_or_never().is_none());
        let more = rooms.of("a", 2, &host);
        assert!(more.turns.take().now_or_never().is_some());
        drop((one, held, before, after, more));
        // Nothing of it goes on.
        assert!(rooms.of("a", 1, &host).memory.charge(50).is_some());
    }
}
