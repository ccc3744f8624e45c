//! `dormouse login` and `dormouse logout`

use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, bail};
use clap::Args;

use super::output::GOOD;
use super::{hosts, output, stdin, tools};
use crate::roster::{Places, Roster};
use crate::upstream::auth::{Auth, Pending};
use crate::upstream::{Http, Launch};

/// Logs in to a server that asks for it (OAuth).
#[derive(Debug, Args)]
#[command(
    after_help = "Prints a link and waits until you have followed it, for ten minutes. Where your \
    browser runs on another machine (over SSH), it ends on a page that it cannot load: paste that \
    page's address here.\n\nHosts that run need not be restarted: the login counts for their next call."
)]
pub(super) struct Login {
    /// The server's name.
    server: String,
    /// Open the link in your browser.
    #[arg(long)]
    browser: bool,
}

/// Forgets the login at a server, and gives its tokens back where they are taken.
#[derive(Debug, Args)]
pub(super) struct Logout {
    /// The server's name.
    server: String,
}

impl Login {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let auth = auth(places, &self.server)?;
        hosts::block_on(async {
            let pending = auth.begin(None).await?;
            output::say("open this link in a browser, or paste here where it has led you:");
            output::print(&output::clean(pending.link()))?;
            if self.browser {
                open(pending.link());
            }
            wait(&pending).await
        })??;
        let server = &self.server;
        output::say(&format!(
            "{}: logged in to `{server}`",
            output::styled(GOOD, "ok")
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl Logout {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let auth = auth(places, &self.server)?;
        let server = &self.server;
        if hosts::block_on(auth.logout())?? {
            output::say(&format!("logged out of `{server}`"));
        } else {
            output::say(&format!("you were not logged in to `{server}`"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Waits for the redirect, or for its URL on stdin.
async fn wait(pending: &Pending) -> anyhow::Result<()> {
    let mut lines = stdin::lines();
    loop {
        tokio::select! {
            outcome = pending.finish() => return Ok(outcome?),
            // Without stdin there is still the redirect.
            Some(line) = lines.recv() => {
                if line.trim().is_empty() {
                    continue;
                }
                if let Err(why) = pending.paste(&line).await {
                    output::warn(&why);
                }
            }
        }
    }
}

/// Opens a link in the user's browser, as they have wished.
fn open(link: &str) {
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        // No shell, which would read the link's `&` as an end of command.
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    let Some((program, arguments)) = words.split_first() else {
        return;
    };
    let started = Command::new(program)
        .args(arguments)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        output::warn(&format!("no browser can be opened by `{program}`: {error}"));
    }
}

fn auth(places: &Places, server: &str) -> anyhow::Result<Auth> {
    let http = upstream(places, server)?;
    tracing::debug!("server `{server}` is at `{}`", http.shown());
    Ok(Auth::new(server, &http, &places.data))
}

/// Where a configured server is reached.
fn upstream(places: &Places, server: &str) -> anyhow::Result<Http> {
    let roster = Roster::open(places.clone())?;
    let snapshot = roster.snapshot();
    let bridge = tools::exists(&snapshot, server)?
        .config()
        .bridge()
        .with_context(|| format!("`{server}` is a plugin, which nobody logs in to"))?;
    if let Some(need) = bridge.needs.first() {
        bail!("`{server}` cannot be reached: {need}");
    }
    match &bridge.launch {
        Launch::Http(http) => Ok(http.clone()),
        Launch::Stdio(_) => bail!(
            "`{server}` is a program of this machine, which Dormouse does not log in to\nhint: its credentials go into `env` of the server, or it has a login of its own"
        ),
    }
}
