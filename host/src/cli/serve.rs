//! `dormouse serve`: the MCP server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;

use crate::roster::{Places, Roster};
use crate::{control, mcp};

/// How long the threads of the process may take to end when all is done.
const LAST: Duration = Duration::from_millis(100);

/// Serves all configured plugins to one agent, over stdin and stdout.
#[derive(Debug, Args)]
pub struct Serve {
    /// How the tools are shown to the agent.
    #[arg(long, value_enum, default_value_t = Expose::Direct)]
    pub expose: Expose,
}

/// The ways to show tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Expose {
    /// Every tool is in the list.
    Direct,
}

impl Serve {
    /// Serves until the agent closes stdin, or a signal says to stop.
    ///
    /// # Errors
    /// The configuration cannot be read, or the agent does not speak MCP.
    pub fn run(self, places: Places) -> anyhow::Result<()> {
        let Expose::Direct = self.expose;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("dormouse")
            .build()
            .context("the host's threads could not be started")?;
        let outcome = runtime.block_on(serve(places));
        // A thread may still wait for a line on stdin that never comes.
        runtime.shutdown_timeout(LAST);
        outcome
    }
}

async fn serve(places: Places) -> anyhow::Result<()> {
    let streams = mcp::stdio::streams();
    let stop = CancellationToken::new();
    stop_on_signal(&stop)?;
    let roster = Roster::open(places)?;
    let ready = CancellationToken::new();
    let background = tokio::spawn(background(roster.clone(), ready.clone()));
    let outcome = mcp::serve(roster.clone(), streams, stop, ready).await;
    background.abort();
    // Dropping what it holds takes the control socket away.
    let _ = background.await;
    roster.stop().await;
    outcome
}

/// What a host does beside answering its agent, once the first answer is out.
async fn background(roster: Arc<Roster>, ready: CancellationToken) {
    ready.cancelled().await;
    roster.settle();
    let control = control::listen(roster);
    if let Err(error) = &control {
        tracing::warn!("`dormouse status` will not see this host: {error:#}");
    }
    std::future::pending::<()>().await;
}

/// Cancels `stop` on SIGTERM and SIGINT (elsewhere Ctrl-C).
fn stop_on_signal(stop: &CancellationToken) -> anyhow::Result<()> {
    let stop = stop.clone();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be heard")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be heard")?;
        tokio::spawn(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            stop.cancel();
        });
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    Ok(())
}
