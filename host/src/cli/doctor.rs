//! `dormouse doctor`

mod bridge;
mod sources;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use clap::builder::styling::Style;
use dormouse_config::{Config, Configured, ServerConfig, TrustedFolders as _};
use dormouse_files::paths;
use dormouse_policy::FsMode;
use serde::Serialize;
use serde_json::Value;

use super::output::{BAD, DOUBTFUL, GOOD};
use super::{Format, component, describe, hosts, output};
use crate::control;
use crate::roster::{Gone, PendingApprovals, Places, Roster, Status, folders};
use crate::store::Trust;

/// Finds out what is wrong, and says what to do about it.
#[derive(Debug, Args)]
#[command(
    after_help = "Looks at the configuration and the files of your clients, each server, \
    Dormouse's own folders and the running hosts. Nothing is changed, no plugin is run and no \
    server is started, unless `--connect` says so. Exit code 1 where something is wrong."
)]
pub(super) struct Doctor {
    /// Connect every server that has an upstream, and say which do not answer.
    #[arg(long)]
    connect: bool,
    #[command(flatten)]
    format: Format,
}

/// Finding about a thing that was looked at.
#[derive(Debug, Serialize)]
struct Row {
    /// Thing that was looked at: `configuration`, `server NAME`, …
    about: String,
    verdict: Verdict,
    /// Text on what was found; a hint is a line of its own.
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Ok,
    Warning,
    Error,
}

impl Verdict {
    fn shown(self) -> (Style, &'static str) {
        match self {
            Self::Ok => (GOOD, "ok"),
            Self::Warning => (DOUBTFUL, "warning"),
            Self::Error => (BAD, "error"),
        }
    }
}

impl Doctor {
    pub(super) fn run(self, places: anyhow::Result<Places>) -> anyhow::Result<ExitCode> {
        let mut rows = Rows::default();
        match places {
            Ok(places) => rows.all(&places, self.connect),
            Err(error) => rows.error("configuration", format!("{error:#}")),
        }
        let failed = rows.0.iter().any(|row| row.verdict == Verdict::Error);
        if self.format.json {
            output::print_json(&rows.0)?;
        } else {
            output::print(&rows.text())?;
        }
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

#[derive(Debug, Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, about: impl Into<String>, verdict: Verdict, message: impl Into<String>) {
        self.0.push(Row {
            about: about.into(),
            verdict,
            message: message.into(),
        });
    }

    fn ok(&mut self, about: impl Into<String>, message: impl Into<String>) {
        self.add(about, Verdict::Ok, message);
    }

    fn warning(&mut self, about: impl Into<String>, message: impl Into<String>) {
        self.add(about, Verdict::Warning, message);
    }

    fn error(&mut self, about: impl Into<String>, message: impl Into<String>) {
        self.add(about, Verdict::Error, message);
    }

    fn text(&self) -> String {
        let width = self.0.iter().map(|row| row.about.chars().count()).max();
        let width = width.unwrap_or_default();
        let mut text = String::new();
        for row in &self.0 {
            let (style, verdict) = row.verdict.shown();
            let message = output::clean(&row.message);
            let mut lines = message.lines();
            text.push_str(&format!(
                "{}{}  {:width$}  {}\n",
                output::styled(style, verdict),
                " ".repeat("warning".len() - verdict.len()),
                row.about,
                lines.next().unwrap_or_default()
            ));
            for line in lines {
                text.push_str(&format!("{:indent$}{line}\n", "", indent = width + 11));
            }
        }
        text
    }

    fn all(&mut self, places: &Places, connect: bool) {
        let config = self.configuration(places);
        let is_readable = config.is_some();
        let trust = Trust::new(&places.data);
        if let Err(error) = trust.folders() {
            self.error("trust", format!("{error:#}"));
        }
        let config = config.unwrap_or_default();
        let mut all = Configured::new(config, places.around.as_ref(), &trust);
        folders::recall(&places.data, &mut all);
        places.note_filled_in(&all);
        for problem in &all.own_problems {
            self.error("configuration", problem.to_string());
        }
        self.sources(&all);
        if let Some(project) = &all.untrusted {
            self.warning("project", project.to_string());
        }
        for server in all.servers.values() {
            self.server(server, places);
        }
        for (_, doubt) in folders::doubts(&all) {
            self.warning("grants", doubt);
        }
        if connect {
            self.connect(places);
        }
        if is_readable {
            self.shown(places);
        }
        self.folder("cache", &places.cache);
        self.folder("data", &places.data);
        match paths::runtime_dir() {
            Ok(folder) => self.folder("control", &folder),
            Err(error) => self.error("control", format!("{error:#}")),
        }
        self.hosts(places);
    }

    /// The configuration, if it can be read.
    fn configuration(&mut self, places: &Places) -> Option<Config> {
        const ABOUT: &str = "configuration";
        let path = &places.config;
        // Of what cannot be looked at, whoever reads it words it better.
        if let Ok(false) = path.try_exists() {
            self.warning(
                ABOUT,
                format!(
                    "{} does not exist yet\nhint: `dormouse add NAME FILE` or `dormouse import` makes it",
                    path.display()
                ),
            );
            return None;
        }
        match dormouse_config::load(path) {
            Ok(config) => {
                let servers = config.servers.len() + config.refused.len();
                let servers = output::counted(servers as u64, "server");
                self.ok(ABOUT, format!("{}: {servers}", path.display()));
                Some(config)
            }
            Err(error) => {
                self.error(ABOUT, format!("{error:#}"));
                None
            }
        }
    }

    fn server(&mut self, server: &ServerConfig, places: &Places) {
        let about = format!("server {}", server.name);
        if let Some(refused) = server.refused() {
            self.error(&about, refused.to_string());
        }
        if let Some(bridge) = server.bridge() {
            self.bridge(server, bridge, &places.data);
        }
        let Some(file) = server.component() else {
            return;
        };
        let before = self.0.len();
        match component::bytes(file) {
            Err(error) => self.error(&about, format!("{error:#}")),
            Ok(bytes) => {
                for finding in component::errors(&bytes) {
                    let hint = finding.hint.map(|hint| format!("\nhint: {hint}"));
                    let message = format!("{}: {}", finding.item, finding.message);
                    self.error(&about, message + &hint.unwrap_or_default());
                }
            }
        }
        if let Ok(entry) = component::entry(file) {
            for skipped in &entry.listing.skipped {
                self.warning(&about, skipped.trim_start_matches("warning: "));
            }
            match describe::missing(
                &server.name,
                &entry.listing.grants,
                (&server.grants, server.bridge().is_some()),
            ) {
                Ok(missing) if missing.is_empty() => {}
                Ok(missing) => self.warning(&about, missing.trim_end()),
                Err(error) => self.error(&about, format!("{error:#}")),
            }
        }
        if let Err(error) = folders::check(places, &server.name, &server.grants) {
            self.error(&about, error.to_string());
        }
        for grant in &server.grants.fs {
            if grant.mode == FsMode::ReadWrite && read_only(grant.real_path()) {
                self.warning(
                    &about,
                    format!(
                        "the folder `{}` is granted to be written to and is read-only\n\
                         hint: see `grants.fs` of `[servers.{}]`",
                        grant.path.display(),
                        server.name
                    ),
                );
            }
        }
        for name in &server.grants.env {
            if std::env::var_os(name).is_none() {
                self.warning(
                    &about,
                    format!("the granted environment variable `{name}` is not set here\nhint: it counts what it is where your agent starts `dormouse serve`"),
                );
            }
        }
        // What is switched off and wrong is no trouble yet.
        if !server.enabled {
            for row in self.0.iter_mut().skip(before) {
                row.verdict = Verdict::Warning;
            }
        }
        if self.0.len() == before {
            let state = if server.enabled { "" } else { ", disabled" };
            self.ok(about, format!("{}{state}", file.display()));
        }
    }

    /// Checks what agents see: items that they would not understand, and names that two items have.
    fn shown(&mut self, places: &Places) {
        match Roster::open(places.clone()) {
            Err(error) => self.error("tools", format!("{error:#}")),
            Ok(roster) => {
                let snapshot = roster.snapshot();
                for (name, server) in snapshot.servers() {
                    if let Some(waiting) = PendingApprovals::of(server) {
                        self.warning(format!("server {name}"), waiting.to_string());
                    }
                    if let Some(gone) = Gone::of(server) {
                        self.warning(format!("server {name}"), gone.to_string());
                    }
                    for odd in server.odd() {
                        self.warning(format!("server {name}"), odd.to_string());
                    }
                }
                for collision in snapshot.collisions() {
                    self.error("tools", collision.to_string());
                }
                if snapshot.collisions().is_empty() {
                    self.ok(
                        "tools",
                        format!("{}, no two of one name", snapshot.tools().len()),
                    );
                }
            }
        }
    }

    /// Checks that one of Dormouse's own folders is private, and ours.
    fn folder(&mut self, about: &str, folder: &Path) {
        let shown = folder.display();
        let metadata = match std::fs::metadata(folder) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.ok(about, format!("{shown}: not made yet"));
                return;
            }
            Err(error) => {
                self.error(about, format!("{shown}: {error}"));
                return;
            }
        };
        if !metadata.is_dir() {
            self.error(
                about,
                format!("{shown} is no folder\nhint: remove it; it is made anew"),
            );
            return;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                self.error(
                    about,
                    format!(
                        "{shown} is open to others (mode {mode:o})\nhint: `chmod 700 '{shown}'`"
                    ),
                );
                return;
            }
        }
        // That a file can be made in it, says more than any bits.
        match tempfile::tempfile_in(folder) {
            Ok(_) => self.ok(about, shown.to_string()),
            Err(error) => self.error(
                about,
                format!("{shown} cannot be written to: {error}\nhint: is it yours, and is there room on the disk?"),
            ),
        }
    }

    fn hosts(&mut self, places: &Places) {
        let answers = match hosts::block_on(control::ask_all("status", Value::Null)) {
            Ok(answers) => answers,
            Err(error) => {
                self.error("hosts", format!("{error:#}"));
                return;
            }
        };
        if answers.is_empty() {
            self.ok("hosts", "none is running");
        }
        for answer in answers {
            let about = format!("host {}", answer.pid);
            let status = answer
                .outcome
                .and_then(|value| Ok(serde_json::from_value::<Status>(value)?));
            match status {
                Err(error) => self.error(
                    about,
                    format!(
                        "{error}\nhint: end the process {}; its agent starts another",
                        answer.pid
                    ),
                ),
                Ok(status) if status.version != env!("CARGO_PKG_VERSION") => self.warning(
                    about,
                    format!(
                        "it is version {}, and this is {}\nhint: restart the agent that started it",
                        status.version,
                        env!("CARGO_PKG_VERSION")
                    ),
                ),
                Ok(status) => {
                    let other = if status.config == places.config {
                        String::new()
                    } else {
                        format!(" of another configuration, {}", status.config.display())
                    };
                    self.ok(about, format!("running{other}"));
                }
            }
        }
    }
}

/// Whether a folder can be seen not to be writable.
fn read_only(folder: &Path) -> bool {
    folder
        .metadata()
        .is_ok_and(|metadata| metadata.permissions().readonly())
}
