//! Connections, and the order in which they make room.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::endpoint::HttpEndpoint;
use crate::mcp::client::client_log;

/// Time that a client may take to read anything of what it is sent.
const UNREAD: Duration = Duration::from_secs(30);

/// Least time that a connection may be without a request before it has to make room for another. In
/// a flood of connections without requests, a client with a request has long sent it.
const MIN_IDLE: Duration = Duration::from_millis(5);

/// Longest head of a request, in bytes. It is also the size of the buffer of an answer for a client
/// that reads slowly.
const HEAD: usize = 64 << 10;

/// Response to a client that cannot get a connection.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
connection: close\r\ncontent-length: 0\r\n\r\n";

/// Open connections of the server.
#[derive(Clone)]
pub(super) struct Connections(Arc<HttpConnectionsState>);

struct HttpConnectionsState {
    open: Mutex<OpenHttpConnections>,
    most: usize,
    /// Time that the head of a request may take, and time that a connection may be without a
    /// request.
    head: Duration,
    tasks: TaskTracker,
    /// Cancelled when idle connections are to end, and others after their current request.
    closing: CancellationToken,
}

#[derive(Default)]
struct OpenHttpConnections {
    next: u64,
    seats: HashMap<u64, Arc<ConnectionSlot>>,
}

/// The place of one connection. Its requests come and go without a lock that other
/// connections take.
struct ConnectionSlot {
    usage: Mutex<ConnectionUsage>,
    /// Ends the connection, when cancelled.
    close: CancellationToken,
}

/// Use that is made of a connection.
struct ConnectionUsage {
    /// Requests that were received in full and are not answered in full.
    busy: usize,
    /// Number of these requests that only listen, and may do so for ever.
    listening: usize,
    /// Whether a request of it was let in: whoever has no token keeps nobody out who has one.
    is_let_in: bool,
    /// Time since which there are none, or none but listening ones, or since which one that was let
    /// in is being received.
    idle: Instant,
}

impl ConnectionSlot {
    fn new() -> Self {
        Self {
            usage: Mutex::new(ConnectionUsage {
                busy: 0,
                listening: 0,
                is_let_in: false,
                idle: Instant::now(),
            }),
            close: CancellationToken::new(),
        }
    }

    /// Returns whether the connection only listens, whether it was let in, and since when it is like
    /// that, if it has no other request: the least of these makes room.
    fn idle(&self) -> Option<(bool, bool, Instant)> {
        let used = self.usage.lock();
        let is_idle = used.busy == used.listening;
        // What takes no longer than a body may is protected from those who were never let in.
        let is_received = used.is_let_in && used.idle.elapsed() < MAX_RECEIVING;
        is_idle.then_some((used.busy > 0, is_received, used.idle))
    }
}

/// Time for which the request of a client that was let in is being received at most, by default.
const MAX_RECEIVING: Duration = Duration::from_secs(30);

/// Reason for which there is no seat.
#[derive(Debug, PartialEq, Eq)]
enum NoConnectionSlot {
    /// All connections are busy.
    OfBusy,
    /// Time in which one of them will have had its chance.
    ForNow(Duration),
}

/// Connection, as the code that answers its requests sees it.
pub(super) struct HttpConnection {
    seat: Arc<ConnectionSlot>,
    /// The address of this machine that it goes to.
    pub(super) local: IpAddr,
}

impl Connections {
    pub(super) fn new(most: usize, head: Duration) -> Self {
        Self(Arc::new(HttpConnectionsState {
            open: Mutex::default(),
            most,
            head,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Serves all clients, for ever.
    pub(super) async fn accept(&self, listener: TcpListener, endpoint: Arc<HttpEndpoint>) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => match self.seat().await {
                    Some(seat) => self.admit(stream, seat, &endpoint),
                    None => {
                        client_log::warn("a client was sent away: all connections are busy");
                        // It goes into the socket's buffer or nowhere.
                        let _ = stream.try_write(FULL);
                    }
                },
                Err(error) => {
                    // Mostly: too many open files. It passes when others leave.
                    client_log::warn(&format!("a connection was not accepted: {error}"));
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Returns a seat for one more connection, which may take a moment; none where all are busy.
    async fn seat(&self) -> Option<(u64, Arc<ConnectionSlot>)> {
        loop {
            let seat = self.0.open.lock().sit(self.0.most);
            match seat {
                Ok(seat) => return Some(seat),
                Err(NoConnectionSlot::ForNow(left)) => tokio::time::sleep(left).await,
                Err(NoConnectionSlot::OfBusy) => return None,
            }
        }
    }

    /// Ends all connections: idle ones at once, the others after their current answer, or after
    /// that time.
    pub(super) async fn close(&self, at_most: Duration) {
        self.0.closing.cancel();
        self.0.tasks.close();
        let _ = tokio::time::timeout(at_most, self.0.tasks.wait()).await;
    }

    fn admit(
        &self,
        stream: TcpStream,
        seat: (u64, Arc<ConnectionSlot>),
        endpoint: &Arc<HttpEndpoint>,
    ) {
        let (number, seat) = seat;
        let local = stream.local_addr();
        let local = local.map_or(Ipv4Addr::UNSPECIFIED.into(), |local| local.ip());
        let connection = HttpConnection {
            seat: seat.clone(),
            local,
        };
        let endpoint = endpoint.clone();
        let (closing, head) = (self.0.closing.child_token(), self.0.head);
        let all = self.clone();
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = serve(stream, endpoint, connection, head, closing) => {}
                () = seat.close.cancelled() => tracing::debug!("an idle connection has made room"),
            }
            all.0.open.lock().seats.remove(&number);
        });
    }
}

impl OpenHttpConnections {
    /// Takes a seat, if need be that of the connection which has been idle for longest, of those that
    /// were never let in if there are any; where none is idle, that of the one which has only listened
    /// for longest: its client will listen again.
    fn sit(&mut self, most: usize) -> Result<(u64, Arc<ConnectionSlot>), NoConnectionSlot> {
        if self.seats.len() >= most {
            let seats = self.seats.iter();
            let idle = seats.filter_map(|(number, seat)| Some((seat.idle()?, *number)));
            let ((.., since), number) = idle.min().ok_or(NoConnectionSlot::OfBusy)?;
            let left = MIN_IDLE.saturating_sub(since.elapsed());
            if !left.is_zero() {
                return Err(NoConnectionSlot::ForNow(left));
            }
            if let Some(seat) = self.seats.remove(&number) {
                seat.close.cancel();
            }
        }
        let number = self.next;
        self.next += 1;
        let seat = Arc::new(ConnectionSlot::new());
        self.seats.insert(number, seat.clone());
        Ok((number, seat))
    }
}

impl HttpConnection {
    /// Notes that a request has what lets it in, and is being received.
    pub(super) fn let_in(&self) {
        let mut usage = self.seat.usage.lock();
        usage.is_let_in = true;
        usage.idle = Instant::now();
    }

    /// Keeps the connection as long as the returned value is held. A client that has not yet sent a
    /// whole request has none.
    pub(super) fn busy(&self) -> RequestInProgress {
        self.seat.usage.lock().busy += 1;
        RequestInProgress {
            seat: self.seat.clone(),
            listens: false,
        }
    }
}

/// A request that is being answered.
pub(super) struct RequestInProgress {
    seat: Arc<ConnectionSlot>,
    listens: bool,
}

impl RequestInProgress {
    /// Notes that the request only listens from now on.
    pub(super) fn listens(&mut self) {
        let mut usage = self.seat.usage.lock();
        usage.listening += usize::from(!self.listens);
        usage.idle = Instant::now();
        self.listens = true;
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut usage = self.seat.usage.lock();
        usage.busy -= 1;
        usage.listening -= usize::from(self.listens);
        usage.idle = Instant::now();
    }
}

async fn serve(
    stream: TcpStream,
    endpoint: Arc<HttpEndpoint>,
    connection: HttpConnection,
    head: Duration,
    closing: CancellationToken,
) {
    // Answers are small and many, and each is awaited.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("a connection cannot be made quick: {error}");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(UNREAD));
    let (endpoint, connection) = (&endpoint, &connection);
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(HEAD)
            .serve_connection(
                TokioIo::new(Box::pin(stream)),
                service_fn(move |request| async move {
                    Ok::<_, Infallible>(endpoint.answer(connection, request).await)
                }),
            )
    );
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("a connection ended: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_longest_idle_makes_room() {
        let connections = Connections::new(2, Duration::from_secs(1));
        let sit = async || Some(connections.seat().await?.1);
        let connection = |seat: &Arc<ConnectionSlot>| HttpConnection {
            seat: seat.clone(),
            local: Ipv4Addr::LOCALHOST.into(),
        };
        let first = sit().await.unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
        let second = sit().await.unwrap();
        // The first has asked something since.
        drop(connection(&first).busy());
        assert!(matches!(
            connections.0.open.lock().sit(2),
            Err(NoConnectionSlot::ForNow(_))
        ));
        let third = sit().await.unwrap();
        assert!(second.close.is_cancelled() && !first.close.is_cancelled());
        // Who is busy stays.
        let busy = connection(&first).busy();
        let fourth = sit().await.unwrap();
        assert!(third.close.is_cancelled() && !first.close.is_cancelled());
        let also = connection(&fourth).busy();
        assert!(matches!(
            connections.0.open.lock().sit(2),
            Err(NoConnectionSlot::OfBusy)
        ));
        // One who has gone already is missed by nobody.
        drop((connection(&second).busy(), connection(&third).busy()));
        drop(also);
        assert!(sit().await.is_some() && fourth.close.is_cancelled());
        drop(busy);
    }

    /// Whoever has no token cannot have an upload of somebody who has one end.
    #[tokio::test]
    async fn who_was_never_let_in_makes_room_first() {
        let connections = Connections::new(2, Duration::from_secs(1));
        let sit = async || connections.seat().await.unwrap().1;
        let uploads = sit().await;
        let connection = HttpConnection {
            seat: uploads.clone(),
            local: Ipv4Addr::LOCALHOST.into(),
        };
        connection.let_in();
        let mut silent = sit().await;
        for _ in 0..5 {
            let next = sit().await;
            assert!(silent.close.is_cancelled() && !uploads.close.is_cancelled());
            silent = next;
        }
    }

    /// A request to listen is never answered in full: as many as there are connections would keep
    /// everybody else out.
    #[tokio::test]
    async fn who_only_listens_makes_room_where_nobody_is_idle() {
        let connections = Connections::new(2, Duration::from_secs(1));
        let sit = async || connections.seat().await.unwrap().1;
        let busy = |seat: &Arc<ConnectionSlot>| {
            let connection = HttpConnection {
                seat: seat.clone(),
                local: Ipv4Addr::LOCALHOST.into(),
            };
            connection.busy()
        };
        let (first, second) = (sit().await, sit().await);
        let mut listens = busy(&first);
        listens.listens();
        tokio::time::sleep(MIN_IDLE).await;
        let third = sit().await;
        assert!(second.close.is_cancelled() && !first.close.is_cancelled());
        let mut listens_since = busy(&third);
        listens_since.listens();
        tokio::time::sleep(MIN_IDLE).await;
        // What asks for something else, too, is busy.
        let also = busy(&first);
        let fourth = sit().await;
        assert!(third.close.is_cancelled() && !first.close.is_cancelled());
        drop((also, listens_since));
        let answered = busy(&fourth);
        tokio::time::sleep(MIN_IDLE).await;
        sit().await;
        assert!(first.close.is_cancelled() && !fourth.close.is_cancelled());
        drop((listens, answered));
    }
}
