//! Checks of `dormouse doctor` on servers that have an upstream.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_config::{Bridge, ServerConfig};
use dormouse_launch::{Launch, Stdio};
use dormouse_text::visible::{visible_line, visible_path};
use dormouse_upstream::auth::Auth;

use super::Rows;
use crate::cli::sync::connect_all;
use crate::cli::{hosts, output};
use crate::roster::status::{lacks_login, span, wants_login};
use crate::roster::{Places, Roster};
use crate::store::Store;

impl Rows {
    /// Checks that an upstream can be started, without starting it. `data` is Dormouse's data
    /// folder, where logins are kept.
    pub(super) fn bridge(&mut self, server: &ServerConfig, bridge: &Bridge, data: &Path) {
        let about = format!("server {}", server.name);
        let before = self.0.len();
        for need in &bridge.needs {
            self.warning(&about, format!("{need}\n(from {})", server.origin));
        }
        if let Launch::Stdio(stdio) = &bridge.launch
            && bridge.needs.is_empty()
        {
            self.program(&about, server, stdio, &bridge.written);
        }
        if let Some(failed) = Store::of(data).failed_start(&bridge.fingerprint)
            && server.enabled
            && bridge.needs.is_empty()
        {
            let told = match failed.needs_login {
                true => wants_login(server),
                false => format!(
                    "its last start, {} ago, has failed: {}\nhint: `dormouse sync {}` tries again",
                    span(failed.seconds_ago()),
                    failed.why,
                    server.name
                ),
            };
            self.warning(&about, told);
        }
        if self.0.len() == before {
            let state = if server.enabled { "" } else { ", disabled" };
            let from = &server.origin;
            self.ok(&about, format!("{}{state} ({from})", bridge.written));
        }
        // Of one that is off, no client has anything.
        let rules = server.enabled.then(|| bridge.rules.told());
        for told in rules.unwrap_or_default() {
            self.ok(&about, told);
        }
        if let Launch::Http(http) = &bridge.launch
            && bridge.needs.is_empty()
            && !http.has_authorization()
        {
            match http.oauth.off {
                true => self.ok(&about, "nobody logs in to it (`oauth = false`)"),
                false => {
                    let login = Auth::new(&server.name, http, data);
                    let none = "no login is kept; it gets one once it asks for it";
                    self.login(&about, &server.name, &login, |rows| rows.ok(&about, none));
                }
            }
        }
    }

    /// Checks that a plugin's user is logged in where its requests need that.
    pub(super) fn provider_logins(&mut self, server: &ServerConfig, data: &Path) {
        let name = &server.name;
        for login in server.provider_logins() {
            let provider = &login.provider;
            let about = format!("server {name} at {}", visible_line(provider));
            let login = Auth::at_provider(name, server.project(), login, data);
            let none = lacks_login(name, provider);
            self.login(&about, name, &login, |rows| rows.warning(&about, none));
        }
    }

    /// Reports whether a login is kept, and the time for which it is valid. `none` reports that there
    /// is none.
    fn login(&mut self, about: &str, server: &str, login: &Auth, none: impl FnOnce(&mut Self)) {
        match login.kept() {
            Ok(None) => none(self),
            Ok(Some(kept)) => {
                let good = match kept.left {
                    None => "it does not say until when".to_owned(),
                    Some(left) if left.is_zero() && kept.renews => {
                        "its token has ended, and the next call renews it".to_owned()
                    }
                    Some(left) if left.is_zero() => {
                        self.warning(
                            about,
                            format!("the login that is kept has ended\nhint: `dormouse login {server}`, or call one of its tools"),
                        );
                        return;
                    }
                    Some(left) => {
                        let then = if kept.renews {
                            ", and is renewed then"
                        } else {
                            ""
                        };
                        format!(
                            "its token is good for another {}{then}",
                            span(left.as_secs())
                        )
                    }
                };
                self.ok(
                    about,
                    format!("a login is kept: {good} (`dormouse logout {server}` forgets it)"),
                );
            }
            Err(failure) => self.error(about, failure.to_string()),
        }
    }

    /// Checks that the program exists. It is printed as it is written, because filled-in values may
    /// be secrets.
    fn program(&mut self, about: &str, server: &ServerConfig, stdio: &Stdio, written: &Launch) {
        let Launch::Stdio(written) = written else {
            return;
        };
        if stdio.cwd.as_deref().is_some_and(|cwd| !cwd.is_dir()) {
            let cwd = written.cwd.as_deref().unwrap_or(Path::new("."));
            self.warning(
                about,
                format!(
                    "there is no folder `{}` to start it in ({})",
                    visible_path(cwd),
                    server.origin
                ),
            );
        }
        if find(stdio).is_none() {
            let advice = stdio.advice_on_blanks();
            self.warning(
                about,
                format!(
                    "there is no program `{}` ({})\nhint: {}",
                    written.shown(),
                    server.origin,
                    advice.unwrap_or("install it, or correct `command` there")
                ),
            );
        }
    }

    /// Connects every server that can be connected.
    pub(super) fn connect(&mut self, places: &Places) {
        let outcomes = hosts::block_on(async {
            let roster: Arc<Roster> = Roster::open(places.clone())?;
            let outcomes = connect_all(&roster, roster.bridged()).await;
            roster.close().await;
            anyhow::Ok(outcomes)
        });
        match outcomes.and_then(|outcomes| outcomes) {
            Err(error) => self.error("connecting", format!("{error:#}")),
            Ok(outcomes) => {
                for (server, outcome, _) in outcomes {
                    let about = format!("server {server}");
                    match outcome {
                        Ok(synced) => {
                            let tools = output::counted(synced.tools as u64, "tool");
                            self.ok(about, format!("connected: {tools}"));
                        }
                        Err(error) => self.error(about, format!("not connected: {error}")),
                    }
                }
            }
        }
    }
}

/// Returns the path of the program that would be run.
fn find(stdio: &Stdio) -> Option<PathBuf> {
    let command = Path::new(&stdio.command);
    if command.components().count() > 1 {
        let base = stdio.cwd.clone().unwrap_or_default();
        let path = base.join(command);
        return path.is_file().then_some(path);
    }
    let own = stdio.env.get("PATH").map(|path| path.expose().into());
    let path = own.or_else(|| std::env::var_os("PATH"))?;
    let endings = std::env::var("PATHEXT").unwrap_or_default();
    std::env::split_paths(&path).find_map(|folder| {
        let mut names = std::iter::once("").chain(endings.split(';'));
        names.find_map(|ending| {
            let file = folder.join(format!("{}{ending}", stdio.command));
            file.is_file().then_some(file)
        })
    })
}
