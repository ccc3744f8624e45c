//! `dormouse serve`: the MCP server.

mod http;
mod signals;

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use dormouse_config::{Client, units};
use dormouse_files::open_files;
use dormouse_policy::exposure::ExposureMode;
use dormouse_policy::processors;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::output;
use crate::roster::{ExposureChoice, Places, Roster};
use crate::{control, mcp};
use http::HttpArgs;

/// Time that the threads of the process may take to end at the end.
const LAST: Duration = Duration::from_millis(100);

/// Serves all of your servers to one agent over stdin and stdout, or to many over HTTP.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// How the tools are shown to the agent.
    #[arg(long, value_enum, value_name = "MODE")]
    pub expose: Option<Expose>,
    /// Serve only what this profile of dormouse.toml has (`[profiles.NAME]`).
    #[arg(long, value_name = "NAME", conflicts_with = "server")]
    pub profile: Option<String>,
    /// Serve only this server.
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// Show its tools by their own names, for a client that puts the server's before them itself.
    #[arg(long, requires = "server")]
    pub own_names: bool,
    /// The client that starts this: servers that it loads itself are not shown a second time,
    /// nor what its own file forbids it.
    #[arg(long, value_name = "CLIENT")]
    pub client: Option<Client>,
    /// Memory that all messages of clients together may take whose calls are on their way: four
    /// times their length, and more for many small values in them.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = units::size)]
    max_bodies: u64,
    #[command(flatten)]
    http: HttpArgs,
}

/// The ways to show tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Expose {
    /// Every tool is in the list.
    Direct,
    /// The list has a tool that loads others into it, and their names.
    Index,
    /// The list has tools that search for others and call them.
    Search,
    /// One of these, by what the tools cost and the agent's client can do.
    Auto,
}

impl From<Expose> for ExposureMode {
    fn from(expose: Expose) -> Self {
        match expose {
            Expose::Direct => Self::Direct,
            Expose::Index => Self::Index,
            Expose::Search => Self::Search,
            Expose::Auto => Self::Auto,
        }
    }
}

impl ServeArgs {
    /// Serves until the agent closes stdin, or a signal asks to stop. A second signal ends the
    /// process at once.
    ///
    /// # Errors
    /// The configuration cannot be read, the agent does not speak MCP, or the
    /// address cannot be listened at.
    pub fn run(self, mut places: Places) -> anyhow::Result<()> {
        places.client = self.client;
        places.exposure = ExposureChoice {
            mode: self.expose.map(Into::into),
            profile: self.profile,
            server: self.server,
            own_names: self.own_names,
        };
        open_files::raise_limit();
        let stop = CancellationToken::new();
        let signals = signals::stop_on_signal(&stop)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .worker_threads(processors())
            .thread_name("dormouse")
            .build()
            .context("the host's threads could not be started")?;
        let max_bodies = usize::try_from(self.max_bodies).unwrap_or(usize::MAX);
        signals.wait()?;
        let outcome = match self.http.http {
            Some(address) => {
                let options = self.http.options(address, max_bodies, &places.data)?;
                let token = options.guard.token.as_ref();
                places.token_file = token.and_then(|token| token.file().map(Path::to_owned));
                runtime.block_on(serve_http(places, options, stop))
            }
            None => runtime.block_on(serve_stdio(places, max_bodies, stop)),
        };
        // A thread may still wait for a line on stdin that never comes.
        runtime.shutdown_timeout(LAST);
        outcome
    }
}

async fn serve_stdio(
    places: Places,
    max_bodies: usize,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    if std::io::stdin().is_terminal() {
        output::say(
            "waiting for an MCP client on stdin, which is this terminal; Ctrl-C ends it\n\
             hint: clients start this themselves: `dormouse install CLIENT` tells one to",
        );
    }
    let (input, output) = mcp::streams();
    let (roster, socket) = opened(places, &stop, false)?;
    let reachable = socket.map(|socket| socket.answer(roster.clone()));
    let ready = CancellationToken::new();
    let settling = tokio::spawn(settle(roster.clone(), ready.clone()));
    let outcome = mcp::serve(roster.clone(), input, output, max_bodies, stop, ready).await;
    settling.abort();
    drop(reachable);
    finish(&roster).await;
    outcome
}

async fn serve_http(
    places: Places,
    options: mcp::http::Options,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let (roster, socket) = opened(places, &stop, true)?;
    let server = mcp::http::HttpServer::bind(roster.clone(), options).await?;
    let reachable = socket.map(|socket| socket.answer(roster.clone()));
    http::say_token(server.token());
    // There is no one agent that waits for its first answer.
    roster.settle();
    let counting = tokio::spawn(mcp::keep_counting(roster.clone(), true));
    output::say(&format!("listening on {}", server.url()));
    server.run(stop).await;
    counting.abort();
    drop(reachable);
    finish(&roster).await;
    Ok(())
}

/// Opens the roster of a host, and its control socket before that. Where the host is asked to stop
/// meanwhile, the process ends. Has to be called inside of a tokio runtime.
///
/// Reading what is new takes some seconds. It is done by the calling thread, which has nothing else to
/// do before: another one would take time and memory at each start.
fn opened(
    places: Places,
    stop: &CancellationToken,
    is_http: bool,
) -> anyhow::Result<(Arc<Roster>, Option<control::Socket>)> {
    // Over HTTP, each client may name one.
    let is_profile = is_http || places.exposure.profile.is_some();
    let socket = Arc::new(Mutex::new(control_socket()));
    let leaving = tokio::spawn({
        let (stop, socket) = (stop.clone(), Arc::clone(&socket));
        async move {
            stop.cancelled().await;
            // Its file is removed.
            drop(socket.lock().take());
            std::process::exit(0);
        }
    });
    let roster = Roster::open_for_clients(places)?;
    roster.check_exposure()?;
    if is_profile {
        for doubt in roster.doubtful_profiles() {
            tracing::warn!("{doubt}");
        }
    }
    leaving.abort();
    let socket = socket.lock().take();
    Ok((roster, socket))
}

/// Stops the servers, and writes the data that this host has read of them: an agent that only looks
/// at the list is gone before the background gets to it, and each start would read everything
/// again.
async fn finish(roster: &Roster) {
    roster.close().await;
    roster.save();
}

/// Opens the socket by which edits of the configuration reach this host. It is opened before
/// anything is read: otherwise a decision of the user's in between would be missed.
fn control_socket() -> Option<control::Socket> {
    control::Socket::bind()
        .inspect_err(|error| tracing::warn!("`dormouse status` will not see this host: {error:#}"))
        .ok()
}

/// Does the work that waits until the first answer is out.
async fn settle(roster: Arc<Roster>, ready: CancellationToken) {
    ready.cancelled().await;
    roster.settle();
    mcp::keep_counting(roster, false).await;
}
