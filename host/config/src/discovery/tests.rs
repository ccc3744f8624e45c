//! Whole homes, as a user has them: what is found in them, and what is left of it
//! when they are broken.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use dormouse_launch::Launch;

use super::*;
use crate::{Inputs, MAX_FILLED_IN};

mod broken;
mod denied_tools;
mod filling;
mod given_back;
mod heard;
mod in_project;
mod inputs;
mod itself;
mod kept_secrets;
mod many_servers;
mod merged;
mod name_taken;
mod named_values;
#[cfg(unix)]
mod not_utf8;
mod oauth;
mod odd_denials;
#[cfg(unix)]
mod other_users;
mod overlays;
mod own_entries;
mod policy;
mod profiles;
mod projects;
mod read_once;
mod table;
mod taken_over;

/// The homes that are kept beside the tests.
fn homes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/homes")
}

/// Discovers servers where everything may be filled in.
fn discover_all(around: &Surroundings, clients: &[Client], inputs: &Inputs) -> Discovery {
    let policy = FillPolicy {
        inputs,
        may_fill: &|_, _| true,
        may_follow: &|_| true,
        max_bytes: MAX_FILLED_IN,
    };
    discover(around, clients, &policy)
}

/// A copy of a home, with the paths in its files made real.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inside in ["home", "project", "system"] {
            fs::create_dir(folder.path().join(inside)).unwrap();
        }
        Self { folder }
    }

    fn of(names: &[&str]) -> Self {
        let home = Self::empty();
        for name in names {
            home.add(&homes().join(name), &home.path(""));
        }
        home
    }

    fn add(&self, from: &Path, to: &Path) {
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                fs::create_dir_all(&target).unwrap();
                self.add(&entry.path(), &target);
            } else {
                let text = fs::read_to_string(entry.path()).unwrap();
                let text = text
                    .replace("@PROJECT@", self.path("project").to_str().unwrap())
                    .replace("@HOME@", self.path("home").to_str().unwrap());
                fs::write(target, text).unwrap();
            }
        }
    }

    fn path(&self, inside: &str) -> PathBuf {
        let folder = fs::canonicalize(self.folder.path()).unwrap();
        if inside.is_empty() {
            folder
        } else {
            folder.join(inside)
        }
    }

    fn write(&self, file: &str, bytes: impl AsRef<[u8]>) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }

    fn around(&self) -> Surroundings {
        let variables = [
            ("API_KEY", "SECRET-KEY"),
            ("HOME_FOLDER", "/a folder"),
            ("HOME", "/never"),
            ("FIGMA_OAUTH_TOKEN", "SECRET-FIGMA"),
        ];
        let env = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let home = self.path("home");
        Surroundings {
            config_home: home.join(".config"),
            app_data: home.join(".config"),
            home,
            system: self.path("system"),
            folder: Some(self.path("project")),
            project: Some(self.path("project")),
            left_out: None,
            configuration: None,
            env: HashMap::from(env),
        }
    }

    /// Returns what is found for some clients, as text.
    fn found(&self, clients: &[Client]) -> String {
        self.shown(&describe(&discover_all(
            &self.around(),
            clients,
            &Inputs::new(),
        )))
    }

    /// Returns a text without the temporary folder in it.
    fn shown(&self, text: &str) -> String {
        let folder = self.path("");
        text.replace(folder.to_str().unwrap(), "")
            .replace('\\', "/")
    }
}

/// Describes all that was found. Secrets are in it, because their values are checked here.
fn describe(discovery: &Discovery) -> String {
    let mut text = String::new();
    for source in &discovery.sources {
        if let SourceState::Read { servers, problems } = &source.state {
            let file = source.file.display();
            writeln!(text, "# {file}: {servers} servers, {:?}", source.scope).unwrap();
            for problem in problems {
                writeln!(text, "! {problem}").unwrap();
            }
        }
    }
    for found in &discovery.found {
        writeln!(text, "\n{}", describe_found(found)).unwrap();
    }
    for skipped in &discovery.skipped {
        let (origin, name, why) = (&skipped.origin, &skipped.written_name, &skipped.why);
        writeln!(text, "\n({name}) at {origin}: {why}").unwrap();
    }
    text
}

fn describe_found(found: &FoundServer) -> String {
    let server = &found.server;
    let bridge = server.bridge().unwrap();
    let mut text = format!("[{}] at {}", server.name, server.origin);
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            write!(text, "\n  {name}: {value}").unwrap();
        }
    };
    let on = |condition: bool, word: &str| {
        if condition {
            word.to_owned()
        } else {
            String::new()
        }
    };
    line("off", on(!server.enabled, "yes"));
    match &bridge.launch {
        Launch::Stdio(stdio) => {
            line("command", format!("{:?} {:?}", stdio.command, stdio.args));
            for (name, value) in &stdio.env {
                line("env", format!("{name}={:?}", value.expose()));
            }
            line(
                "cwd",
                stdio
                    .cwd
                    .as_ref()
                    .map_or(String::new(), |cwd| cwd.display().to_string()),
            );
        }
        Launch::Http(http) => {
            line("url", format!("{} {:?}", http.url, http.transport));
            for (name, value) in &http.headers {
                line("header", format!("{name}: {:?}", value.expose()));
            }
            line("login", on(http.oauth.off, "never"));
            for (key, text) in http.oauth.texts() {
                line("login", format!("{key} {text:?}"));
            }
            line("scopes", http.oauth.scopes.join(" "));
        }
    }
    if let Some(include) = &bridge.filter.include {
        line("only", format!("{include:?}"));
    }
    line("without", bridge.filter.exclude.join(" "));
    line("stubs", bridge.stubs.join(" "));
    if server.limits.timeout != dormouse_policy::Limits::default().timeout {
        line("call", format!("{:?}", server.limits.timeout));
    }
    line(
        "start",
        bridge
            .start_timeout
            .map_or(String::new(), |time| format!("{time:?}")),
    );
    for need in &bridge.needs {
        line("needs", need.to_string());
    }
    for note in &found.notes {
        line("note", note.clone());
    }
    if let Some(by) = &found.shadowed_by {
        line("shadowed by", by.to_string());
    }
    text
}

/// Compares with what is kept in a file. `BLESS=1` in the environment writes the
/// file instead, for its changes to be read before they are committed.
fn expect(file: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, text).unwrap();
        return;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    assert!(
        expected == text,
        "{} is not what was found (BLESS=1 writes it):\n{text}",
        file.display()
    );
}

/// The client whose home this is, by the name of its folder.
fn client_of(home: &str) -> Client {
    home.strip_suffix("-managed")
        .unwrap_or(home)
        .parse()
        .unwrap()
}

fn all_homes() -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(homes())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_dir())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn each_home_gives_what_it_gives_its_client() {
    for name in all_homes() {
        let home = Home::of(&[&name]);
        let found = home.found(&[client_of(&name)]);
        expect(&homes().join(format!("{name}.found.txt")), &found);
    }
}

#[test]
fn every_client_has_a_home() {
    let homes = all_homes();
    for client in Client::all() {
        assert!(homes.iter().any(|home| home == client.name()), "{client}");
    }
}

#[test]
fn no_message_has_a_secret_in_it() {
    for name in all_homes() {
        let home = Home::of(&[&name]);
        let discovery = discover_all(&home.around(), &[client_of(&name)], &Inputs::new());
        let skipped = discovery.skipped.iter().map(|skipped| skipped.why.clone());
        let problems = discovery.problems().map(ToString::to_string);
        let said = discovery.found.iter().flat_map(|found| {
            let needs = found.server.bridge().unwrap().needs.iter();
            let needs = needs.map(ToString::to_string);
            needs.chain(found.notes.iter().cloned())
        });
        for message in skipped.chain(problems).chain(said) {
            assert!(!message.contains("SECRET"), "{message}");
        }
        assert!(!format!("{discovery:?}").contains("SECRET"));
    }
}

#[test]
fn a_wrong_type_is_repeated_only_where_it_is_a_word() {
    for (kind, shown) in [("ws", true), ("websocket", true), ("sk-SECRET-1", false)] {
        let home = Home::empty();
        let servers = format!(r#"{{"mcpServers": {{"a": {{"type": "{kind}", "url": "x"}}}}}}"#);
        home.write("home/.cursor/mcp.json", &servers);
        let discovery = discover_all(&home.around(), &[Client::Cursor], &Inputs::new());
        let [skipped] = discovery.skipped.as_slice() else {
            panic!("{:?}", discovery.skipped);
        };
        assert_eq!(skipped.why.contains(kind), shown, "{}", skipped.why);
    }
}

#[test]
fn a_fingerprint_is_of_what_is_written() {
    let home = Home::of(&["claude-code", "codex", "vscode"]);
    let clients: Vec<_> = Client::all().collect();
    let fingerprints = |around: &Surroundings| {
        let found = discover_all(around, &clients, &Inputs::new()).found;
        let prints = found
            .iter()
            .map(|found| found.server.bridge().unwrap().fingerprint.clone());
        prints.collect::<Vec<_>>()
    };
    let mut around = home.around();
    let before = fingerprints(&around);
    around
        .env
        .insert("API_KEY".to_owned(), "renewed".to_owned());
    assert_eq!(fingerprints(&around), before);
    home.write(
        "project/.mcp.json",
        r#"{"mcpServers": {"a": {"command": "b"}}}"#,
    );
    assert_ne!(fingerprints(&around), before);
}
