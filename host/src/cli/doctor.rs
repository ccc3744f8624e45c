//! `dormouse doctor`

mod bridge;
mod exposure;
mod own_entries;
mod own_folder;
mod requests;
mod running;
mod sources;

use std::process::ExitCode;

use clap::Args;
use clap::builder::styling::Style;
use dormouse_config::{Config, Configured, ServerConfig, TrustedFolders as _};
use dormouse_files::paths;
use dormouse_policy::FsMode;
use dormouse_text::visible::{short_name, visible_path};
use serde::Serialize;

use own_folder::{cannot_be_made, read_only};

use super::output::{BAD, DOUBTFUL, GOOD};
use super::{Format, component, install, output};
use crate::roster::{Gone, OfferKind, PendingApprovals, Places, Roster, folders};
use crate::store::Trust;

/// Finds out what is wrong, and says what to do about it.
#[derive(Debug, Args)]
#[command(
    after_help = "Looks at the configuration and the files of your clients, each server, \
    Dormouse's own folders and the running hosts. Nothing is changed, no plugin is run and no \
    server is started, unless `--connect` says so. Exit code 1 where something is wrong."
)]
pub(super) struct DoctorArgs {
    /// Connect every server that has an upstream, and say which do not answer.
    #[arg(long)]
    connect: bool,
    #[command(flatten)]
    format: Format,
}

/// Finding about a checked subject.
#[derive(Debug, Serialize)]
struct DoctorRow {
    /// Subject: `configuration`, `server NAME`, …
    about: String,
    verdict: Verdict,
    /// Text of the finding; a hint is a line of its own.
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

impl DoctorArgs {
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
struct Rows(Vec<DoctorRow>);

impl Rows {
    fn add(&mut self, about: impl Into<String>, verdict: Verdict, message: impl Into<String>) {
        self.0.push(DoctorRow {
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
        for missing in install::not_passed(all.servers.values(), places) {
            self.warning("variables", missing);
        }
        if connect {
            self.connect(places);
        }
        if is_readable {
            self.shown(places);
            self.own_entries(&all, places);
        }
        self.folder("cache", &places.cache);
        self.folder("data", &places.data);
        match paths::runtime_dir() {
            Ok(folder) => self.folder("control", &folder),
            Err(error) => self.error("control", format!("{error:#}")),
        }
        self.hosts(places);
    }

    /// Returns the configuration, if it can be read.
    fn configuration(&mut self, places: &Places) -> Option<Config> {
        const ABOUT: &str = "configuration";
        let path = &places.config;
        // Of what cannot be looked at, whoever reads it words it better.
        if let Ok(false) = path.try_exists() {
            self.warning(
                ABOUT,
                format!(
                    "{} does not exist yet\nhint: `dormouse add NAME FILE` or `dormouse import` makes it",
                    visible_path(path)
                ),
            );
            if let Some(why) = path.parent().and_then(cannot_be_made) {
                self.error(ABOUT, why);
            }
            return None;
        }
        match dormouse_config::load(path) {
            Ok(config) => {
                let servers = config.servers.len() + config.refused.len();
                let servers = output::counted(servers as u64, "server");
                self.ok(ABOUT, format!("{}: {servers}", visible_path(path)));
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
        // What is wrong in a client's file is told with that.
        let refused = server.refused();
        if let Some(refused) = refused.filter(|refused| refused.origin.client.is_none()) {
            self.error(&about, refused.to_string());
        }
        if let Some(bridge) = server.bridge() {
            self.bridge(server, bridge, &places.data);
        }
        self.provider_logins(server, &places.data);
        let Some(file) = server.component() else {
            return;
        };
        let before = self.0.len();
        match component::errors(file) {
            Err(error) => self.error(&about, format!("{error:#}")),
            Ok(findings) => {
                for finding in findings {
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
            self.requests(server, &entry.listing.grants, &places.data);
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
                        visible_path(&grant.path),
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
            self.ok(about, format!("{}{state}", visible_path(file)));
        }
    }

    /// Checks the items that agents see: for faults that they would not understand, and names that
    /// two items have.
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
                let templates = snapshot.offers(OfferKind::Template).iter();
                for template in templates.filter(|template| template.claims_nothing()) {
                    let (server, key) = (template.server(), short_name(&template.key));
                    let why = format!(
                        "resource template `{key}` has nothing in front of its first variable, so \
                         its resources are read only while no other server has any\n\
                         hint: whoever wrote the server has to begin it with a scheme, like \
                         `notes://`"
                    );
                    self.warning(format!("server {server}"), why);
                }
                for collision in snapshot.collisions() {
                    self.error("tools", collision.to_string());
                }
                self.exposure(&roster);
            }
        }
    }
}
