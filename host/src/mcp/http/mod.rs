//! MCP over streamable HTTP, for many agents at once.
//!
//! From the outside in: the [`connections`], whose number is limited; the [`guard`], which checks
//! the head of a request; and the [`endpoint`], where a client has [`post`]ed a message or wants a
//! stream. The headers and metadata of a request say of which [`era`] it is: complete by itself
//! ([`stateless`]), or of one of the [`sessions`] ([`in_session`]). Either is answered by the same
//! host as over stdio: one for each session, and one for all requests of the stateless era. Its
//! path says what its client sees: all that is served, or what a profile has.

mod answers;
mod batch;
mod bodies;
mod connections;
mod cors;
mod endpoint;
mod era;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
pub mod guard;
mod header;
mod in_session;
mod post;
mod repeated_headers;
mod sessions;
mod stateless;
pub mod token;

#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::common::Common;
use super::server::Host;
use crate::roster::Roster;
use answers::answer_room::AnswerRoom;
use connections::Connections;
use endpoint::{HttpEndpoint, PATH};
use guard::RequestGuard;
use sessions::HttpSessions;
use token::Token;

/// Time that answers may take to go out when everything has ended.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Settings of the server.
#[derive(Debug)]
pub struct Options {
    /// Address to listen at; with port 0, at any port that is free.
    pub address: SocketAddr,
    /// Checks of which requests are let in.
    pub guard: RequestGuard,
    /// The longest body of a request, in bytes.
    pub max_body: usize,
    /// Most bytes of all bodies together that are on their way.
    pub max_bodies: usize,
    /// Time that a body may take to arrive.
    pub body_time: Duration,
    /// Time that the head of a request may take to arrive.
    pub header_time: Duration,
    /// Most connections.
    pub max_connections: usize,
    /// Most legacy sessions.
    pub max_sessions: usize,
    /// Time for which a legacy session may be silent.
    pub session_idle: Duration,
    /// Most calls that may be on their way, those that wait for a place included.
    pub max_calls: usize,
    /// Time for which calls that run may go on when the server is to stop.
    pub stop_timeout: Duration,
}

/// The error of a port that cannot be had. Clients send their token to whoever has it.
#[must_use]
pub fn cannot_listen(address: SocketAddr, error: io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "if it is no host of yours that has the port, whoever has it may have been sent the \
             token by your clients: end it, make another token with `dormouse serve --http \
             {address} --new-token`, and give it to each client with `dormouse install CLIENT \
             --http {address}`; port 0 is any that is free"
        ),
        _ => "port 0 is any that is free".to_owned(),
    };
    anyhow::Error::new(error).context(format!("cannot listen at `{address}`\nhint: {hint}"))
}

/// Server that has its port.
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    connections: Connections,
    endpoint: Arc<HttpEndpoint>,
    stop_timeout: Duration,
}

impl HttpServer {
    /// Takes the port. Requests are answered from [`run`](Self::run) on. Has to be called inside of
    /// a tokio runtime.
    ///
    /// # Errors
    /// The address is taken, or not one of this machine.
    pub async fn bind(roster: Arc<Roster>, options: Options) -> anyhow::Result<Self> {
        let wanted = options.address;
        let listener = TcpListener::bind(wanted).await;
        let listener = listener.map_err(|error| cannot_listen(wanted, error))?;
        let address = listener.local_addr()?;
        let answers = Arc::<AnswerRoom>::default();
        let sessions =
            HttpSessions::new(options.max_sessions, options.session_idle, answers.clone());
        let common = Common::new(roster, options.max_calls)?;
        let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
        let stateless = Host::over_http(common.clone(), None, None, closed.clone(), ending.clone());
        Ok(Self {
            listener,
            address,
            connections: Connections::new(options.max_connections, options.header_time),
            endpoint: Arc::new(HttpEndpoint {
                guard: options.guard,
                common,
                stateless_host: Arc::new(stateless),
                sessions,
                answers,
                bodies: bodies::Bodies::new(
                    options.max_body,
                    options.body_time,
                    options.max_bodies,
                ),
                stopping: CancellationToken::new(),
                running: TaskTracker::new(),
                listening: TaskTracker::new(),
                ending,
                closed,
            }),
            stop_timeout: options.stop_timeout,
        })
    }

    /// Returns the URL at which clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The token that clients have to send, if they have to.
    #[must_use]
    pub fn token(&self) -> Option<&Token> {
        self.endpoint.guard.token.as_ref()
    }

    /// Serves until `stop` is cancelled. Then nothing new is begun; what runs may
    /// finish in its time, and is cancelled after that. Until then there are
    /// still answers: what is asked is refused, and `/ready` says so.
    pub async fn run(self, stop: CancellationToken) {
        let endpoint = self.endpoint;
        let sessions = &endpoint.sessions;
        let stopped = async {
            stop.cancelled().await;
            endpoint.stopping.cancel();
            endpoint.running.close();
            endpoint.listening.close();
            if timeout(self.stop_timeout, endpoint.running.wait())
                .await
                .is_err()
            {
                let count = endpoint.running.len();
                tracing::warn!("{count} requests are cancelled: they took too long to finish");
                endpoint.ending.cancel();
                let _ = timeout(
                    dormouse_runtime::GRACE + FLUSH_TIMEOUT,
                    endpoint.running.wait(),
                )
                .await;
            }
            endpoint.closed.cancel();
            let _ = timeout(FLUSH_TIMEOUT, endpoint.listening.wait()).await;
        };
        tokio::select! {
            () = self.connections.accept(self.listener, endpoint.clone()) => {}
            () = sessions.sweep() => {}
            () = stopped => {}
        }
        sessions.end_all();
        self.connections.close(FLUSH_TIMEOUT).await;
    }
}
