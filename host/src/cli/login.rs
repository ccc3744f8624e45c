//! `dormouse login` and `dormouse logout`

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use dormouse_launch::Launch;
use dormouse_text::visible::visible_path;
use dormouse_upstream::auth::{Auth, LoginFailure, PendingLogin};

use super::output::GOOD;
use super::{hosts, output, stdin, tools};
use crate::roster::{Places, Roster, Server, requested_secrets};
use crate::store::Store;

/// Logs in to a server that asks for it, or at the provider of its plugin (OAuth).
#[derive(Debug, Args)]
#[command(
    after_help = "Prints a link and waits until you have followed it, for ten minutes. Where your \
    browser runs on another machine (over SSH), it ends on a page that it cannot load: paste that \
    page's address here.\n\nHosts that run need not be restarted: the login counts for their next call."
)]
pub(super) struct LoginArgs {
    /// The server's name.
    server: String,
    /// The provider, where the server needs logins at several.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Open the link in your browser.
    #[arg(long)]
    browser: bool,
}

/// Forgets the login at a server, and gives its tokens back where they are taken.
#[derive(Debug, Args)]
pub(super) struct LogoutArgs {
    /// The server's name.
    server: String,
    /// The provider, where the server has logins at several.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
}

/// Longest error of an upstream that is printed where it does not mention a login, in characters.
const MAX_WHY_CHARACTERS: usize = 200;

impl LoginArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let server = server(places, &self.server)?;
        let auth = auth(places, &server, self.provider.as_deref())?;
        check_reachable(&server)?;
        hosts::block_on(async {
            let pending = auth
                .begin(None)
                .await
                .map_err(|why| told(&self.server, why))?;
            output::say("open this link in a browser, or paste here where it has led you:");
            output::print(&output::clean(pending.link()))?;
            if let Some(host) = pending.host_elsewhere() {
                output::say(&format!("what you are given there goes to `{host}`"));
            }
            if self.browser {
                open(pending.link());
            }
            wait(&pending).await
        })??;
        if let Some(bridge) = server.config().bridge() {
            Store::of(&places.data).clear_failed_start(&bridge.fingerprint);
        }
        let server = &self.server;
        output::say(&format!(
            "{}: logged in to `{server}`",
            output::styled(GOOD, "ok")
        ));
        Ok(ExitCode::SUCCESS)
    }
}

impl LogoutArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        // A login at a server that is switched off is given back all the same.
        let provider = self.provider.as_deref();
        let auth = auth(places, &*server(places, &self.server)?, provider)?;
        let server = &self.server;
        if hosts::block_on(auth.logout())?? {
            output::say(&format!("logged out of `{server}`"));
        } else {
            output::say(&format!("you were not logged in to `{server}`"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the error of a login that could not be begun, where no request was refused for lack of
/// it.
fn told(server: &str, failure: LoginFailure) -> anyhow::Error {
    match failure {
        LoginFailure::Header { url } => anyhow!(
            "`{url}` is sent the `Authorization` header that is configured for it, so there is \
             nothing to log in to\nhint: remove it from `headers` of `{server}` to log in with OAuth"
        ),
        LoginFailure::NoOAuth { url, why } => anyhow!(
            "`{url}` does not say how to log in with OAuth ({})\n\
             hint: `dormouse sync {server}` shows whether it answers without a login; if it does not, \
             it takes a key, which belongs into `headers` of `{server}`",
            output::first_line(&why, MAX_WHY_CHARACTERS)
        ),
        failure => failure.into(),
    }
}

/// Waits for the redirect, or for its URL on stdin.
async fn wait(pending: &PendingLogin) -> anyhow::Result<()> {
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

/// Opens a link in the user's browser, because they have asked for it.
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

fn server(places: &Places, name: &str) -> anyhow::Result<Arc<Server>> {
    let roster = Roster::open(places.clone())?;
    tools::exists(&roster.snapshot(), name).cloned()
}

/// Checks that a server may be used at all, so that a login there is.
fn check_reachable(server: &Server) -> anyhow::Result<()> {
    let name = &server.config().name;
    let why = match server.config().bridge() {
        Some(_) => server.reachable().err(),
        None => server.switched_off().map(|why| format!("it is {why}")),
    };
    match why {
        Some(why) => bail!("`{name}` cannot be reached: {why}"),
        None => Ok(()),
    }
}

/// Returns the error of a plugin whose secrets are no logins: with what makes one of them one, if its
/// author has thought of that.
fn no_login(server: &Server, places: &Places) -> anyhow::Error {
    let name = &server.config().name;
    let requests = server.listing().map_or(&[][..], |listing| &listing.grants);
    let of_login =
        requested_secrets(requests).find_map(|secret| Some((&secret.name, secret.login.as_ref()?)));
    match of_login {
        Some((secret, provider)) => anyhow!(
            "`{name}` has no login yet: its secret `{secret}` may be one at `{provider}`\n\
             hint: write `[providers.{provider}]` with your `client_id` into {}; then \
             `dormouse grant {name} --secret {secret}=login`",
            visible_path(&places.config)
        ),
        None => anyhow!(
            "`{name}` is a plugin, which nobody logs in to\n\
             hint: `dormouse grants {name}` shows what it asks for"
        ),
    }
}

/// Returns the login at a server, or at a provider for its plugin: the only one where none is named.
fn auth(places: &Places, server: &Server, provider: Option<&str>) -> anyhow::Result<Auth> {
    let config = server.config();
    let name = &config.name;
    let logins: Vec<_> = config.provider_logins().collect();
    let names = || {
        let names: Vec<_> = logins.iter().map(|login| login.provider.as_str()).collect();
        names.join("`, `")
    };
    let named = |wanted: &str| logins.iter().find(|login| login.provider == wanted);
    let login = match (provider, logins.as_slice()) {
        (Some(wanted), []) => bail!("the plugin of `{name}` needs no login at `{wanted}`"),
        (Some(wanted), _) => Some(named(wanted).with_context(|| {
            format!(
                "`{name}` needs no login at `{wanted}`\nhint: it needs logins at `{}`",
                names()
            )
        })?),
        // That of its upstream needs no name.
        (None, _) if config.bridge().is_some() => None,
        (None, []) => return Err(no_login(server, places)),
        (None, [one]) => Some(one),
        (None, _) => bail!(
            "`{name}` needs logins at `{}`\nhint: say which one, as `--provider NAME`",
            names()
        ),
    };
    if let Some(login) = login {
        tracing::debug!("server `{name}` logs in at `{}`", login.url());
        return Ok(Auth::at_provider(
            name,
            config.project(),
            login,
            &places.data,
        ));
    }
    let bridge = config
        .bridge()
        .with_context(|| format!("`{name}` is a plugin, which nobody logs in to"))?;
    match &bridge.launch {
        Launch::Http(http) => {
            tracing::debug!("server `{name}` is at `{}`", http.shown());
            Ok(Auth::new(name, http, &places.data))
        }
        Launch::Stdio(_) => bail!(
            "`{name}` is a program of this machine, which Dormouse does not log in to\nhint: its credentials go into `env` of the server, or it has a login of its own"
        ),
    }
}
