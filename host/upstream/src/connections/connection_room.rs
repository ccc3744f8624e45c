//! Room for connections of a server and of a host, with those that are being ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Connections that are there, are being made, or are being ended.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionCount(Arc<AtomicUsize>);

/// Place of a connection, which counts until this is dropped: when what is behind the connection is
/// gone.
#[derive(Debug)]
pub(crate) struct ConnectionPermit([ConnectionCount; 2]);

/// Limit that a new connection would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceededConnectionLimit {
    /// The server has as many connections as it may have.
    Server(usize),
    /// The servers together have as many as the host may have.
    Host(usize),
}

impl ExceededConnectionLimit {
    /// Returns the message for a caller that gets no connection to `server`.
    pub(super) fn message(self, server: &str) -> String {
        let (whose, most, table) = match self {
            Self::Server(most) => ("it", most, format!("[servers.{server}.limits]")),
            Self::Host(most) => ("the host", most, "[limits]".to_owned()),
        };
        format!(
            "{whose} has {most} connections, all of them in use, and no more are allowed\n\
             hint: end some sessions, or raise `connections` in `{table}`"
        )
    }
}

impl ConnectionCount {
    fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        for count in &self.0 {
            count.0.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Callers that wait for room, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct RoomQueue {
    turn: tokio::sync::Mutex<()>,
    waiting: AtomicUsize,
}

/// A caller that has its turn and finds no room. It counts as waiting until this is dropped.
#[derive(Debug)]
pub(super) struct WaitingForRoom<'q>(&'q RoomQueue);

impl RoomQueue {
    /// Waits for the turn of a caller: nobody else has one until the guard is dropped.
    pub(super) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Counts the caller whose turn it is as waiting.
    pub(super) fn wait(&self) -> WaitingForRoom<'_> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        WaitingForRoom(self)
    }

    /// Whether anybody waits.
    pub(super) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }
}

impl Drop for WaitingForRoom<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Room for the connections of all servers of a host.
#[derive(Debug)]
pub(super) struct ConnectionRoom {
    most: AtomicUsize,
    all: ConnectionCount,
    /// Held while a connection is counted in.
    counting: Mutex<()>,
    /// Callers that find room in their server, and none in the host.
    pub(super) queue: RoomQueue,
}

impl ConnectionRoom {
    /// Creates room for that many connections.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: AtomicUsize::new(most),
            all: ConnectionCount::default(),
            counting: Mutex::default(),
            queue: RoomQueue::default(),
        }
    }

    /// Most connections of all servers together.
    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Changes the most connections that there may be. Those that are there stay.
    pub(super) fn set_most(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Counts in a connection of a server, which has those of `count` and may have `most`.
    ///
    /// # Errors
    /// There is no room for it.
    pub(super) fn take(
        &self,
        count: &ConnectionCount,
        most: usize,
    ) -> Result<Arc<ConnectionPermit>, ExceededConnectionLimit> {
        let _counting = self.counting.lock();
        let most_of_host = self.most();
        if count.get() >= most {
            return Err(ExceededConnectionLimit::Server(most));
        }
        if self.all.get() >= most_of_host {
            return Err(ExceededConnectionLimit::Host(most_of_host));
        }
        let counts = [count.clone(), self.all.clone()];
        for count in &counts {
            count.0.fetch_add(1, Ordering::AcqRel);
        }
        Ok(Arc::new(ConnectionPermit(counts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_room_in_its_server_and_in_the_host() {
        let room = ConnectionRoom::new(3);
        let [one, other] = [(); 2].map(|()| ConnectionCount::default());
        let first = room.take(&one, 2).unwrap();
        let second = room.take(&one, 2).unwrap();
        assert_eq!(
            room.take(&one, 2).unwrap_err(),
            ExceededConnectionLimit::Server(2)
        );
        let third = room.take(&other, 2).unwrap();
        assert_eq!(
            room.take(&other, 2).unwrap_err(),
            ExceededConnectionLimit::Host(3)
        );
        drop(first);
        let fourth = room.take(&other, 2).unwrap();
        room.set_most(2);
        drop((second, third));
        assert_eq!(room.take(&one, 2).map(drop), Ok(()));
        drop(fourth);
        assert_eq!((one.get(), other.get(), room.all.get()), (0, 0, 0));
    }
}
