//! Reviews of projects before their user trusts them: everything that the files would have done,
//! and nothing of what is secret.

mod http_secrets;
mod lines;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dormouse_files::paths;
use dormouse_launch::{Http, Launch, OAuth, Stdio};
use dormouse_policy::{FsGrant, FsMode, HttpSecret, real_path};
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::{shown_path, visible_line, visible_path};
use dormouse_wit::Instance;

use super::review::lines::ReviewLines;
use crate::discovery::Skipped;
use crate::servers::limits;
use crate::{
    Adapter, Bridge, Client, ConfigProblem, ENV_FILE, FillSource, FilledIn, Filter, Need, Origin,
    RefusedServer, ServerConfig, ShownFolder,
};

/// Review of a project, with the hash of the files that it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectReview {
    /// The project's folder.
    pub folder: PathBuf,
    /// Number of servers that trusting the project would allow: those of its files, and those of
    /// the user's own that are made of its files.
    pub servers: usize,
    /// Text for the user, ready to be shown: nothing in it moves a cursor or looks like something
    /// else, and no value of a variable or a header is in it, other than in the host of a URL, and
    /// than what files of the project itself have in them for a program, its arguments and its
    /// folder.
    pub text: String,
    /// The hash of the files, which trust is given to.
    pub content: String,
    /// Folders that servers would be granted, and files that their secrets are read from, as they are
    /// shown: their real paths by the written ones.
    pub real_paths: BTreeMap<PathBuf, PathBuf>,
}

/// A server of a project's files, and the name that it is written under.
pub(crate) struct ReviewedServer<'a> {
    pub(crate) config: &'a ServerConfig,
    pub(crate) written_name: &'a str,
    /// Fate of the server where the user has one of that name already.
    pub(crate) name_of_users: Option<NameOfUsers>,
    /// The server of the user's whose names begin with this one's `prefix`, which is ignored for
    /// that.
    pub(crate) whose_prefix: Option<String>,
    /// Changes that the user's own file makes to the server.
    pub(crate) said_of_it: Vec<String>,
}

/// Fate of a project's server that has a name of the user's.
pub(crate) enum NameOfUsers {
    /// The server is not shown: its name, or one that looks like it, is that of the user's server.
    Kept { name: String, origin: Origin },
    /// The server stands in the place of the user's, as it does for the client that has both.
    Overridden { origin: Origin },
}

impl NameOfUsers {
    fn told(&self) -> String {
        let (text, origin) = match self {
            Self::Kept { name, origin } => (
                format!(
                    "not shown, for your server {} has that name: ",
                    quoted(name)
                ),
                origin,
            ),
            Self::Overridden { origin } => (
                "it stands in the place of yours in this project: ".to_owned(),
                origin,
            ),
        };
        let file = plain_path(&origin.file);
        format!("{text}{file}:{}", origin.line)
    }
}

/// Parts of a review.
pub(crate) struct ReviewedProject<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) content: &'a str,
    pub(crate) servers: Vec<ReviewedServer<'a>>,
    /// The user's own servers that are made of files of the project.
    pub(crate) users_servers: Vec<&'a ServerConfig>,
    pub(crate) refused: Vec<&'a RefusedServer>,
    pub(crate) skipped: Vec<&'a Skipped>,
    /// Other problems of the files.
    pub(crate) problems: Vec<&'a ConfigProblem>,
}

impl ProjectReview {
    pub(crate) fn new(project: &ReviewedProject<'_>) -> Self {
        let folder = project.folder;
        let names: BTreeSet<_> = project.servers.iter().map(|it| &it.config.name).collect();
        let grants = project.servers.iter().flat_map(|it| &it.config.grants.fs);
        let secrets = project.servers.iter().flat_map(|it| &it.config.secrets);
        let files = secrets.filter_map(HttpSecret::file);
        let paths = grants.map(|grant| &grant.path);
        let paths = paths.chain(files.map(|file| &file.path));
        // Once: what is shown is what is recorded, wherever links lead later.
        let real_paths: BTreeMap<_, _> =
            paths.map(|path| (path.clone(), real_path(path))).collect();
        let mut text = ReviewText::default();
        for server in &project.servers {
            let heading = heading(&server.config.name, server.written_name);
            text.add(
                heading,
                &server.config.origin,
                described(server, folder, &real_paths),
            );
        }
        for refused in &project.refused {
            let heading = quoted(&refused.written_name) + ", not used as it is";
            text.add(heading, &refused.origin, described_refused(refused, folder));
        }
        for skipped in &project.skipped {
            let heading = quoted(&skipped.written_name) + ", not used";
            let mut lines = ReviewLines::default();
            lines.origin(&skipped.origin, folder);
            if let Some(unused) = &skipped.unused {
                lines.unused(Some(&unused.written), &unused.filled_in, &skipped.origin);
            }
            lines.add("because", visible_line(&skipped.why).into_owned());
            text.add(heading, &skipped.origin, lines.0);
        }
        if !project.users_servers.is_empty() {
            text.section("Servers of your own that its files are filled into:");
        }
        for config in &project.users_servers {
            let mut lines = ReviewLines::default();
            lines.origin(&config.origin, folder);
            if let Some(bridge) = config.bridge() {
                lines.filled_in(bridge);
            }
            text.add(quoted(&config.name), &config.origin, lines.0);
        }
        if !project.problems.is_empty() {
            text.section("What else is wrong in its files, and not used:");
        }
        for problem in &project.problems {
            text.line(&visible_line(&problem.to_string()));
        }
        let count = names.len();
        let plural = if count == 1 { "" } else { "s" };
        // Several clients may read one file, each in its own way.
        let entries = match project.servers.len() {
            entries if entries > count => {
                format!(" in {entries} entries, one for each client that reads them")
            }
            _ => String::new(),
        };
        let title = format!(
            "The files of the project `{}` have {count} server{plural}{entries}:\n",
            visible_path(folder)
        );
        Self {
            folder: folder.to_owned(),
            servers: count + project.users_servers.len(),
            text: title + &text.text(),
            content: project.content.to_owned(),
            real_paths,
        }
    }

    /// Checks that there is anything to trust.
    ///
    /// # Errors
    /// No server of the project can be used: one that nobody could start now could become another
    /// later, without its user being asked.
    pub fn check_usable(&self) -> anyhow::Result<()> {
        if self.servers == 0 {
            bail!(
                "no server in the files of this project can be used, so there is nothing to trust"
            );
        }
        Ok(())
    }
}

/// Text on all servers, each thing once with all clients that have it: some files are read by
/// several clients, and most of them read them in the same way.
#[derive(Default)]
struct ReviewText {
    parts: Vec<ReviewPart>,
    /// Places of the descriptions among the parts, by heading and text.
    said: HashMap<(String, String), usize>,
}

enum ReviewPart {
    Lines(String),
    Server {
        heading: String,
        from: Vec<&'static str>,
        described: String,
    },
}

impl ReviewText {
    fn add(&mut self, heading: String, origin: &Origin, described: String) {
        let name = origin.client.map_or("dormouse", Client::name);
        let next = self.parts.len();
        let said = (heading.clone(), described.clone());
        let place = *self.said.entry(said).or_insert(next);
        match self.parts.get_mut(place) {
            Some(ReviewPart::Server { from, .. }) if !from.contains(&name) => from.push(name),
            Some(_) => {}
            None => self.parts.push(ReviewPart::Server {
                heading,
                from: vec![name],
                described,
            }),
        }
    }

    fn section(&mut self, title: &str) {
        self.parts.push(ReviewPart::Lines(format!("\n{title}\n")));
    }

    fn line(&mut self, line: &str) {
        self.parts.push(ReviewPart::Lines(format!("  {line}\n")));
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            let _ = match part {
                ReviewPart::Lines(lines) => write!(text, "{lines}"),
                ReviewPart::Server {
                    heading,
                    from,
                    described,
                } => writeln!(text, "\n{heading} ({})\n{described}", from.join(", ")),
            };
        }
        text
    }
}

fn heading(name: &str, written: &str) -> String {
    match name == written {
        true => quoted(name),
        false => format!("{}, written {}", quoted(name), quoted(written)),
    }
}

/// Describes a refused server: its problems, and its launch.
fn described_refused(refused: &RefusedServer, folder: &Path) -> String {
    let mut lines = ReviewLines::default();
    lines.origin(&refused.origin, folder);
    let written = refused.written.as_ref();
    lines.unused(written, &refused.filled_in, &refused.origin);
    for problem in &refused.problems {
        // What it quotes of the file cannot end its quotes.
        lines.add("wrong", visible_line(&problem.message).into_owned());
    }
    lines.0
}

/// Describes one server but its client, a line for each thing.
fn described(
    server: &ReviewedServer<'_>,
    folder: &Path,
    real_paths: &BTreeMap<PathBuf, PathBuf>,
) -> String {
    let config = server.config;
    let mut lines = ReviewLines::default();
    lines.origin(&config.origin, folder);
    if !config.enabled {
        lines.add("state", "switched off".to_owned());
    }
    if let Some(name) = &server.name_of_users {
        lines.add("name", name.told());
    }
    match &config.adapter {
        Adapter::Plugin(file) => lines.path("plugin", file),
        Adapter::Adapted(file, bridge) => {
            lines.path("plugin", file);
            lines.bridge(bridge);
        }
        Adapter::Bridge(bridge) => lines.bridge(bridge),
        // One of the user's own file, which has no project's servers in it.
        Adapter::Refused(_) => {}
    }
    for grant in &config.grants.fs {
        lines.grant(grant, real_paths.get(&grant.path));
    }
    lines.names("may see variables", config.grants.env.iter());
    for grant in &config.grants.http {
        lines.add("may send", plain(&grant.in_words()));
    }
    for secret in &config.secrets {
        lines.http_secret(secret, real_paths);
    }
    lines.names("is told settings", config.settings.keys());
    if let Some(prefix) = &config.prefix {
        let whose = server.whose_prefix.as_ref().map(|name| {
            format!(
                " (not heard: names of what your server {} has begin with it)",
                quoted(name)
            )
        });
        lines.add("prefix", quoted(prefix) + &whose.unwrap_or_default());
    }
    let limits = limits::unusual(&config.limits, &config.adapter.usual_limits());
    if !limits.is_empty() {
        lines.add("limits", limits.join(", "));
    }
    lines.names("your file says", server.said_of_it.iter());
    match config.instance {
        Some(Instance::PerCall) => lines.add("instances", "a new one for each call".to_owned()),
        Some(Instance::PerSession) => lines.add("instances", "one for each session".to_owned()),
        None => {}
    }
    lines.0
}

/// Returns where a path leads by links, if that is elsewhere, or that nothing is there.
fn really(path: &Path) -> String {
    match path.canonicalize() {
        Ok(real) => leads_to(path, &real, true),
        Err(_) => leads_to(path, path, false),
    }
}

/// Returns a remark on the real path of a path, if it is another, and on whether anything is there.
fn leads_to(path: &Path, real: &Path, is_there: bool) -> String {
    match (real == path, is_there) {
        (true, true) => String::new(),
        (true, false) => " (which is not there)".to_owned(),
        (false, true) => format!(" (which is {})", plain_path(real)),
        (false, false) => format!(" (which is {}, and not there)", plain_path(real)),
    }
}

/// Puts a word of a project's in backticks, none within.
fn quoted(word: &str) -> String {
    format!("`{}`", plain(word))
}

/// Returns a text of a project's within a line, which cannot end the quotes around it, and in which
/// escapes are not to be mistaken for what is written so.
fn plain(text: &str) -> String {
    visible_line(&text.replace('\\', "\\\\")).replace('`', "\\u{60}")
}

/// Returns a path as [`plain`] does a text; bytes that are no text are escapes, too.
fn plain_path(path: &Path) -> String {
    shown_path(path, plain)
}

#[cfg(test)]
mod tests;
