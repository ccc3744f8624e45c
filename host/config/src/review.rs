//! Reviews of projects before their user trusts them: everything that the files would have done,
//! and nothing of what is secret.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dormouse_files::paths;
use dormouse_launch::{Http, Launch, OAuth, Stdio};
use dormouse_policy::{FsGrant, FsMode, real_path};
use dormouse_text::visible::{shown_path, visible_line, visible_path};
use dormouse_wit::Instance;

use super::discovery::Skipped;
use super::{
    Adapter, Bridge, Client, ENV_FILE, FillSource, FilledIn, Filter, Need, Origin, Problem,
    RefusedServer, ServerConfig, ShownFolder, limits,
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
    /// Where the folders that servers would be granted are shown to be: their real paths by the
    /// written ones.
    pub folders: BTreeMap<PathBuf, PathBuf>,
}

/// A server of a project's files, and the name that it is written under.
pub(super) struct ReviewedServer<'a> {
    pub(super) config: &'a ServerConfig,
    pub(super) written_name: &'a str,
    /// Fate of the server where the user has one of that name already.
    pub(super) name_of_users: Option<NameOfUsers>,
    /// The server of the user's whose names begin with this one's `prefix`, which is ignored for
    /// that.
    pub(super) whose_prefix: Option<String>,
    /// Changes that the user's own file makes to the server.
    pub(super) said_of_it: Vec<String>,
}

/// Fate of a project's server that has a name of the user's.
pub(super) enum NameOfUsers {
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
pub(super) struct ReviewedProject<'a> {
    pub(super) folder: &'a Path,
    pub(super) content: &'a str,
    pub(super) servers: Vec<ReviewedServer<'a>>,
    /// The user's own servers that are made of files of the project.
    pub(super) users_servers: Vec<&'a ServerConfig>,
    pub(super) refused: Vec<&'a RefusedServer>,
    pub(super) skipped: Vec<&'a Skipped>,
    /// Other problems of the files.
    pub(super) problems: Vec<&'a Problem>,
}

impl ProjectReview {
    pub(super) fn new(project: &ReviewedProject<'_>) -> Self {
        let folder = project.folder;
        let names: BTreeSet<_> = project.servers.iter().map(|it| &it.config.name).collect();
        let grants = project.servers.iter().flat_map(|it| &it.config.grants.fs);
        // Once: what is shown is what is recorded, wherever links lead later.
        let folders: BTreeMap<_, _> = grants
            .map(|grant| (grant.path.clone(), real_path(&grant.path)))
            .collect();
        let mut text = Text::default();
        for server in &project.servers {
            let heading = heading(&server.config.name, server.written_name);
            text.add(
                heading,
                &server.config.origin,
                described(server, folder, &folders),
            );
        }
        for refused in &project.refused {
            let heading = quoted(&refused.written_name) + ", not used as it is";
            text.add(heading, &refused.origin, described_refused(refused, folder));
        }
        for skipped in &project.skipped {
            let heading = quoted(&skipped.written_name) + ", not used";
            let mut lines = Lines::default();
            lines.origin(&skipped.origin, folder);
            if let Some(unused) = &skipped.unused {
                lines.unused(Some(&unused.written), &unused.filled_in, &skipped.origin);
            }
            lines.add("because", plain(&skipped.why));
            text.add(heading, &skipped.origin, lines.0);
        }
        if !project.users_servers.is_empty() {
            text.section("Servers of your own that its files are filled into:");
        }
        for config in &project.users_servers {
            let mut lines = Lines::default();
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
            text.line(&plain(&problem.to_string()));
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
            folders,
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
struct Text {
    parts: Vec<Part>,
    /// Places of the descriptions among the parts, by heading and text.
    said: HashMap<(String, String), usize>,
}

enum Part {
    Lines(String),
    Server {
        heading: String,
        from: Vec<&'static str>,
        described: String,
    },
}

impl Text {
    fn add(&mut self, heading: String, origin: &Origin, described: String) {
        let name = origin.client.map_or("dormouse", Client::name);
        let next = self.parts.len();
        let said = (heading.clone(), described.clone());
        let place = *self.said.entry(said).or_insert(next);
        match self.parts.get_mut(place) {
            Some(Part::Server { from, .. }) if !from.contains(&name) => from.push(name),
            Some(_) => {}
            None => self.parts.push(Part::Server {
                heading,
                from: vec![name],
                described,
            }),
        }
    }

    fn section(&mut self, title: &str) {
        self.parts.push(Part::Lines(format!("\n{title}\n")));
    }

    fn line(&mut self, line: &str) {
        self.parts.push(Part::Lines(format!("  {line}\n")));
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            let _ = match part {
                Part::Lines(lines) => write!(text, "{lines}"),
                Part::Server {
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
    let mut lines = Lines::default();
    lines.origin(&refused.origin, folder);
    let written = refused.written.as_ref();
    lines.unused(written, &refused.filled_in, &refused.origin);
    for problem in &refused.problems {
        lines.add("wrong", plain(&problem.message));
    }
    lines.0
}

/// Describes one server but its client, a line for each thing.
fn described(
    server: &ReviewedServer<'_>,
    folder: &Path,
    folders: &BTreeMap<PathBuf, PathBuf>,
) -> String {
    let config = server.config;
    let mut lines = Lines::default();
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
        lines.grant(grant, folders.get(&grant.path));
    }
    lines.names("may see variables", config.grants.env.iter());
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

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, what: &str, text: String) {
        let _ = writeln!(self.0, "  {:<18} {text}", format!("{what}:"));
    }

    fn origin(&mut self, origin: &Origin, folder: &Path) {
        let file = origin.file.strip_prefix(folder).unwrap_or(&origin.file);
        let file = plain_path(file);
        self.add("written in", format!("{file}:{}", origin.line));
    }

    fn names<'a>(&mut self, what: &str, names: impl Iterator<Item = &'a String>) {
        let names: Vec<String> = names.map(|name| quoted(name)).collect();
        if !names.is_empty() {
            self.add(what, names.join(", "));
        }
    }

    /// Adds a path, and where it really leads if that is elsewhere.
    fn path(&mut self, what: &str, path: &Path) {
        let shown = plain_path(path);
        self.add(what, shown + &really(path));
    }

    /// Adds a granted folder, and its real path if that is another.
    fn grant(&mut self, grant: &FsGrant, real: Option<&PathBuf>) {
        let mode = match grant.mode {
            FsMode::ReadOnly => "may read folder",
            FsMode::ReadWrite => "may write folder",
        };
        let really = real.map(|real| leads_to(&grant.path, real, real.exists()));
        let shown = plain_path(&grant.path);
        self.add(mode, shown + &really.unwrap_or_default());
    }

    fn bridge(&mut self, bridge: &Bridge) {
        match (&bridge.written, &bridge.launch) {
            (Launch::Stdio(written), Launch::Stdio(filled)) => {
                self.program(written, filled, bridge);
                self.variables(written, filled);
            }
            (Launch::Http(written), Launch::Http(filled)) => {
                self.http(written);
                self.host(filled, &bridge.needs);
                self.login(written);
            }
            (Launch::Stdio(_), Launch::Http(_)) | (Launch::Http(_), Launch::Stdio(_)) => {}
        }
        self.given(&bridge.filled_in);
        let Filter {
            include,
            exclude,
            also,
        } = &bridge.filter;
        for list in include.iter().chain(also) {
            match list.is_empty() {
                true => self.add("shows only", "nothing".to_owned()),
                false => self.names("shows only", list.iter()),
            }
        }
        self.names("hides", exclude.iter());
        self.names("has tools", bridge.stubs.iter());
        if bridge.share {
            let text = "one for all sessions (`share`)";
            self.add("connections", text.to_owned());
        }
        if bridge.changes.clone().remove_acceptance() {
            self.add(
                "changes",
                "`on_change` is not heard of a project: changes and new tools wait for you"
                    .to_owned(),
            );
        }
    }

    /// Adds what is filled into a server of the user's own.
    fn filled_in(&mut self, bridge: &Bridge) {
        if let (Launch::Http(written), Launch::Http(filled)) = (&bridge.written, &bridge.launch) {
            self.http(written);
            self.host(filled, &bridge.needs);
            self.names("sends headers", written.headers.keys());
        }
        if let (Launch::Stdio(written), Launch::Stdio(filled)) = (&bridge.written, &bridge.launch) {
            if written.cwd != filled.cwd
                && let Some(folder) = &filled.cwd
            {
                self.path("in folder", folder);
            }
            if let Some(shown) = &bridge.shown
                && (&shown.command, &shown.args) != (&written.command, &written.args)
            {
                self.runs(&shown.command, &shown.args);
            }
            let names = filled.env.keys();
            let names = names.filter(|name| !written.env.contains_key(*name));
            self.names("sets variables", names);
        }
        self.given(&bridge.filled_in);
    }

    /// Adds a launch that nobody could start with the variables that are set now: with others set,
    /// it could be started.
    fn unused(
        &mut self,
        written: Option<&Launch>,
        filled_in: &BTreeSet<FilledIn>,
        origin: &Origin,
    ) {
        match written {
            Some(Launch::Stdio(written)) => {
                self.runs(&written.command, &written.args);
                let base = origin.file.parent().unwrap_or(Path::new(""));
                if written.cwd.is_none() && origin.client.is_none() {
                    self.folder(ShownFolder::Known(base.to_owned()));
                }
                if let Some(cwd) = &written.cwd {
                    let text = cwd.to_string_lossy();
                    let is_filled_in = filled_in.iter().any(|filled| filled.place == "cwd");
                    let is_text = is_filled_in && text.contains(['$', '{']);
                    let folder = match cwd.to_str() {
                        Some(text) => paths::expand(text, base).ok(),
                        // A text that a file has is UTF-8: this is the project's own folder.
                        None => Some(cwd.clone()),
                    };
                    self.folder(match folder {
                        Some(folder) if !is_text => ShownFolder::Known(folder),
                        _ => ShownFolder::Written(text.into_owned()),
                    });
                }
                self.variables(written, written);
            }
            Some(Launch::Http(written)) => {
                self.http(written);
                self.login(written);
            }
            None => {}
        }
        self.given(filled_in);
    }

    /// Adds what of the user's is filled in, whether it is there now or not: nobody asks again when
    /// it comes to be there.
    fn given(&mut self, filled_in: &BTreeSet<FilledIn>) {
        for filled in filled_in {
            let source = match &filled.source {
                FillSource::Variable(name) => format!("your environment's {}", quoted(name)),
                FillSource::File(file) => {
                    format!("the file {}{}", plain_path(file), really(file))
                }
                // Whether it is there now makes no difference.
                FillSource::VariableInFile { name, file } => format!(
                    "{} of your file {}, now or later",
                    quoted(name),
                    plain_path(file)
                ),
                FillSource::VariableInProjectFile { name, file } => format!(
                    "{} of the project's file {}{}",
                    quoted(name),
                    plain_path(file),
                    really(file)
                ),
                FillSource::Input(id) => {
                    format!("your answer to {}, now or later", quoted(id))
                }
            };
            self.add(
                "is given",
                format!("{source}, in {}", quoted(&filled.place)),
            );
        }
    }

    /// Adds a program with its arguments and its working directory: those that are used, and not
    /// the texts that they are made of, which may read like others.
    fn program(&mut self, written: &Stdio, filled: &Stdio, bridge: &Bridge) {
        if let Some(shown) = &bridge.shown {
            self.runs(&shown.command, &shown.args);
            if let Some(folder) = &shown.folder {
                self.folder(folder.clone());
            }
            return;
        }
        self.runs(&written.command, &written.args);
        let is_filled_in = bridge.filled_in.iter().any(|filled| filled.place == "cwd");
        match (&written.cwd, &filled.cwd) {
            (Some(written), _) if is_filled_in => {
                let text = written.to_string_lossy().into_owned();
                self.folder(ShownFolder::Written(text));
            }
            (_, Some(cwd)) => self.folder(ShownFolder::Known(cwd.clone())),
            (_, None) => {}
        }
    }

    fn runs(&mut self, command: &String, args: &[String]) {
        let words = std::iter::once(command).chain(args);
        let words: Vec<String> = words.map(|word| shell_word(word)).collect();
        self.add("runs", words.join(" "));
    }

    fn folder(&mut self, folder: ShownFolder) {
        match folder {
            ShownFolder::Known(folder) => self.path("in folder", &folder),
            ShownFolder::Written(text) => self.add(
                "in folder",
                format!("{}, whatever that is with what is filled in", quoted(&text)),
            ),
        }
    }

    fn variables(&mut self, written: &Stdio, filled: &Stdio) {
        // The filled in ones have those of a file of variables among them. Variables in the name
        // of that file lead to another one where they are others.
        if let Some(file) = written.env.get(ENV_FILE) {
            self.add("variables from", plain(file.expose()));
        }
        let names: BTreeSet<&String> = written.env.keys().chain(filled.env.keys()).collect();
        let names = names.into_iter().filter(|name| *name != ENV_FILE);
        self.names("sets variables", names);
        self.names("sees your variables", filled.pass_env.iter());
    }

    /// Adds a URL, whole: what is written in a project's files is no secret of the user's, and what
    /// is filled in is not in it.
    fn http(&mut self, http: &Http) {
        self.add("connects to", plain(&http.url));
    }

    /// Adds the host that a URL leads to, with its variables filled in: the text of the URL could
    /// be taken for another one. A host is no secret: name servers are asked for it, too.
    fn host(&mut self, filled: &Http, needs: &[Need]) {
        let host = filled.host().filter(|_| needs.is_empty());
        self.add(
            "its host is",
            host.map_or_else(
                || "not known before all that it needs is set".to_owned(),
                |host| quoted(&host),
            ),
        );
        if filled.names_user() {
            self.add(
                "user name",
                "there is one in the URL, before the `@`".to_owned(),
            );
        }
    }

    fn login(&mut self, http: &Http) {
        self.names("sends headers", http.headers.keys());
        self.oauth(&http.oauth);
    }

    fn oauth(&mut self, oauth: &OAuth) {
        for (key, value) in oauth.texts() {
            let value = match key {
                "client_secret" => "(not shown)".to_owned(),
                _ => plain(value),
            };
            self.add("login", format!("{key} {value}"));
        }
        if oauth.private_network {
            let text = "may be in your private network (`private_network`)";
            self.add("login", text.to_owned());
        }
        self.names("asks for scopes", oauth.scopes.iter());
    }
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

/// Returns a word of a command as a shell would read it, in quotes where it would not be seen to be
/// one: in `$'…'` where something in it is escaped, else in `'…'`, where nothing can be.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let simple = |c: char| c.is_alphanumeric() || "-_./:=@%+,~".contains(c);
    let is_simple = !word.is_empty() && word.chars().all(simple);
    let is_escaped = word.contains('`') || visible_line(word) != word;
    match (is_simple, is_escaped) {
        (_, true) => format!("$'{}'", plain(word).replace('\'', "\\'")),
        (true, false) => word.to_owned(),
        (false, false) => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_seen_as_what_they_are() {
        for (word, shown) in [
            ("a-b_c.d/e:f=1", "a-b_c.d/e:f=1"),
            ("", "''"),
            ("two words", "'two words'"),
            ("$(x)", "'$(x)'"),
            ("it's", "'it'\\''s'"),
            ("a\\nb", "'a\\nb'"),
            ("a\nb\\n'", "$'a\\nb\\\\n\\''"),
            ("a\nb\u{1b}[2K\u{202e}", "$'a\\nb\\u{1b}[2K\\u{202e}'"),
            ("`", "$'\\u{60}'"),
            ("\\u{60}", "'\\u{60}'"),
        ] {
            assert_eq!(shell_word(word), shown);
        }
        assert_eq!(quoted("x` (yours)"), "`x\\u{60} (yours)`");
        assert_eq!(quoted("a\\nb\n"), "`a\\\\nb\\n`");
    }

    #[test]
    fn a_review_takes_linear_time() {
        use crate::discovery::Surroundings;
        use crate::trusted::Trust;
        use crate::{Config, Configured};

        let one = |words: &dyn Fn(usize) -> String, size: usize| {
            let words: Vec<_> = (0..size).map(words).collect();
            words.join(",")
        };
        type Servers<'s> = &'s dyn Fn(usize) -> String;
        let cases: [(&str, Servers<'_>); 5] = [
            ("servers", &|size| {
                one(
                    &|n| format!(r#""s{n}": {{"command": "x", "args": ["{n}"]}}"#),
                    size,
                )
            }),
            ("servers of nearly one name", &|size| {
                one(
                    &|n| format!(r#""{}": {{"command": "x{n}"}}"#, "-".repeat(n % 90) + "s"),
                    size,
                )
            }),
            ("servers that cannot be used", &|size| {
                one(
                    &|n| format!(r#""s{n}": {{"command": {n}, "url": ["{n}"]}}"#),
                    size,
                )
            }),
            ("arguments", &|size| {
                let words = one(&|n| format!(r#""a`{n}\u0007""#), 10 * size);
                format!(r#""s": {{"command": "x", "args": [{words}]}}"#)
            }),
            ("variables", &|size| {
                let env = one(&|n| format!(r#""V{n}": "${{W{n}}}""#), size);
                format!(r#""s": {{"command": "x", "env": {{{env}}}}}"#)
            }),
        ];
        for (what, servers) in cases {
            let input = |size: usize| {
                let home = tempfile::tempdir().unwrap();
                let project = home.path().join("project");
                std::fs::create_dir_all(project.join(".cursor")).unwrap();
                std::fs::create_dir(project.join(".git")).unwrap();
                let text = format!(r#"{{"mcpServers": {{{}}}}}"#, servers(size));
                std::fs::write(project.join(".cursor/mcp.json"), &text).unwrap();
                std::fs::write(project.join(".mcp.json"), &text).unwrap();
                (home, project)
            };
            dormouse_tests::growth::is_linear(what, 60, input, |(home, project)| {
                let around =
                    Surroundings::new(home.path().to_owned(), [].into(), Some(project.as_path()));
                let trust = Trust::new(&home.path().join("data"));
                let all = Configured::for_review(Config::default(), Some(&around), &trust, project);
                let review = all.review(project).unwrap();
                assert!(review.text.len() > 100, "{}", review.text);
            });
        }
    }
}
