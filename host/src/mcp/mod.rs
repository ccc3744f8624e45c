//! The MCP server that agents see.
//!
//! rmcp handles the protocol: framing of requests, the two eras (a handshake up to 2025-11-25, none
//! from 2026-07-28 on), cancellation. Its own types drop members that they do not know, so tools
//! and results must not pass through them: [`service`] sends requests for plugins around these
//! types, and results that are JSON text already go out unchanged ([`verbatim`]).

mod announce;
mod backlog;
mod batch;
mod call_listener;
mod caller;
mod client;
mod client_connection;
mod client_log;
mod commands;
mod common;
mod compatibility;
mod completion;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod handler;
pub mod http;
mod in_flight_call;
mod incoming;
mod instructions;
mod leased_sessions;
mod level;
mod listen;
mod message_room;
mod open;
mod original;
mod outgoing;
mod pages;
mod peer_connection;
mod pending_questions;
mod plugin_request;
mod prompts;
mod relay;
mod resources;
mod result;
mod service;
mod session;
mod stage;
pub mod stdio;
mod suspended_calls;
mod tools;
mod trust;
mod verbatim;
mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::roster::Roster;
use common::Common;
use handler::Host;
use message_room::MessageRoom;
use service::Lossless;
use session::Session;
use wire::{Link, Wire};

/// Time for which running calls may go on after the agent has closed its end: long enough for the
/// answers to piped input, short enough not to be noticed.
const GRACE: Duration = Duration::from_millis(500);

/// Time, after the grace, that cancelled calls may take to end by themselves, and unsent answers to
/// go out.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// Time for which an agent that has shaken hands may send no request before the host begins the
/// work that it had put off until the first answer.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_millis(250);

/// Serves one agent until it closes its end or `stop` is cancelled. Cancels `ready` when the first
/// tools have been listed or called, so that work which is not needed for that can wait until then.
/// The agent's messages take about `max_message_bytes` together while they are on their way.
///
/// # Errors
/// The other side does not speak MCP, or the connection breaks.
pub async fn serve<R, W>(
    roster: Arc<Roster>,
    (input, output): (R, W),
    max_message_bytes: usize,
    stop: CancellationToken,
    ready: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let common = Common::new(roster, common::IN_FLIGHT)?;
    let session = Session::begin(common.clone());
    let closed = CancellationToken::new();
    let room = MessageRoom::new(max_message_bytes, incoming::MAX_LINE_BYTES);
    let link = Link::new(input, output, room, closed.clone(), ready.clone());
    let mut first = None;
    loop {
        let over = closed.child_token();
        let wire = Wire::new(&link, first, over.clone());
        let ending = CancellationToken::new();
        let ends = (over.clone(), ending.clone());
        let host = Host::new(common.clone(), Some(session.id()), ends);
        let outcome = tokio::select! {
            outcome = service(host, wire, stop.child_token(), &ready) => outcome,
            // Whoever closed its end and does not read any more gets no more.
            () = end(&over, &ending, &closed) => Ok(()),
        };
        ending.cancel();
        first = link.next();
        if outcome.is_err() || first.is_none() {
            return outcome;
        }
    }
}

/// Serves an agent with one of rmcp's services.
async fn service<R, W>(
    host: Host,
    wire: Wire<R, W>,
    stop: CancellationToken,
    ready: &CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match Lossless(host).serve_with_ct(wire, stop).await {
        Ok(running) => running,
        // The agent left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            return Ok(());
        }
        Err(error) => return Err(error).context("the agent's first messages were not understood"),
    };
    let patience = async {
        tokio::time::sleep(FIRST_REQUEST_TIMEOUT).await;
        ready.cancel();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        quit = running.waiting() => match quit.context("the connection's task failed")? {
            QuitReason::JoinError(error) => Err(error).context("sending to the agent failed"),
            _ => Ok(()),
        },
        () = patience => Ok(()),
    }
}

/// Ends the calls of a service that is over, by and by. Returns when the agent reads their answers
/// no longer.
async fn end(over: &CancellationToken, ending: &CancellationToken, closed: &CancellationToken) {
    over.cancelled().await;
    tokio::time::sleep(GRACE).await;
    ending.cancel();
    closed.cancelled().await;
    tokio::time::sleep(FLUSH_TIMEOUT).await;
}
