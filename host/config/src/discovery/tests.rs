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
mod in_project;
mod inputs;
mod itself;
mod kept_secrets;
mod many_servers;
mod merged;
mod name_taken;
#[cfg(unix)]
mod not_utf8;
mod oauth;
mod odd_denials;
mod overlays;
mod policy;
mod profiles;
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

fn describe_found(found: &Found) -> String {
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

#[test]
fn a_project_is_the_nearest_marked_folder_below_home() {
    let home = Home::empty();
    let folder = home.path("home/work/a/src/deep");
    fs::create_dir_all(&folder).unwrap();
    let user = home.path("home");
    assert_eq!(project_of(&folder, &user), None);
    fs::create_dir_all(home.path("home/.git")).unwrap();
    home.write("home/.mcp.json", "{}");
    assert_eq!(project_of(&folder, &user), None);
    assert_eq!(project_of(&user, &user), None);
    fs::create_dir_all(home.path("home/work/.git")).unwrap();
    assert_eq!(project_of(&folder, &user), Some(home.path("home/work")));
    home.write("home/work/a/.cursor/mcp.json", "{}");
    assert_eq!(project_of(&folder, &user), Some(home.path("home/work/a")));
    // Outside of the home folder, too; but nothing above it.
    home.write("project/.mcp.json", "{}");
    let inside = home.path("project/x");
    assert_eq!(project_of(&inside, &user), Some(home.path("project")));
    home.write(".mcp.json", "{}");
    assert_eq!(project_of(&home.path("home/other"), &user), None);
}

#[cfg(unix)]
#[test]
fn a_home_is_no_project_by_whatever_links_it_is_reached() {
    let home = Home::empty();
    home.write("real/.cursor/mcp.json", "{}");
    home.write("real/work/.mcp.json", "{}");
    for link in ["linked", "other"] {
        std::os::unix::fs::symlink(home.path("real"), home.path(link)).unwrap();
    }
    let links = ["real", "linked", "other"].map(|name| home.path(name));
    for user in &links {
        for folder in &links {
            assert_eq!(project_of(folder, user), None);
            assert_eq!(project_of(&folder.join("deep/er"), user), None);
            let work = folder.join("work");
            assert_eq!(project_of(&work, user), Some(work));
        }
    }
}

#[test]
fn what_marks_a_project_is_what_clients_keep_in_one() {
    let home = Home::empty();
    fs::create_dir_all(home.path("project/.continue/mcpServers")).unwrap();
    home.write("project/.continue/mcpServers/a.yaml", "");
    for client in Client::all() {
        for place in places::files(client, &home.around()) {
            let Ok(file) = place.file.strip_prefix(home.path("project")) else {
                continue;
            };
            let marks = places::PROJECT_MARKS;
            let marked = marks.iter().any(|mark| file.starts_with(mark));
            // Many a folder that is no project has settings of an editor.
            assert!(
                marked || file.ends_with("settings.json"),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn a_content_is_of_all_files_of_a_project() {
    let home = Home::of(&["vscode", "claude-code"]);
    let clients: Vec<_> = Client::all().collect();
    let content = || {
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        discovery.content_of(&home.path("project")).cloned()
    };
    let first = content().unwrap();
    assert_eq!(content(), Some(first.clone()));
    let mut seen = vec![first];
    for file in [
        ".mcp.json",
        ".vscode/mcp.json",
        // What servers are made of counts like the files that name them.
        ".env",
        ".claude/settings.json",
        ".cursor/mcp.json",
        ".continue/mcpServers/new.yaml",
    ] {
        let path = home.path("project").join(file);
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        text.push_str("\n\n");
        home.write(&format!("project/{file}"), text);
        let now = content().unwrap();
        assert!(!seen.contains(&now), "{file}");
        seen.push(now);
    }
    home.write("home/.claude.json", "{}");
    assert_eq!(content(), seen.last().cloned());
    let elsewhere = Home::of(&["vscode"]);
    let here = Home::of(&["vscode"]);
    let of = |home: &Home| {
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        discovery.content_of(&home.path("project")).cloned()
    };
    assert_eq!(of(&elsewhere), of(&here));
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    assert_eq!(discovery.content_of(&home.path("home")), None);
}

#[test]
fn servers_of_a_folder_without_a_project() {
    let home = Home::empty();
    let mut around = home.around();
    around.project = None;
    around.folder = Some(home.path("home"));
    let folder = home.path("home");
    home.write(
        "home/.claude.json",
        serde_json::json!({"projects": {folder.to_str().unwrap(): {
            "mcpServers": {"a": {"command": "b"}, "off": {"command": "c"}},
            "disabledMcpServers": ["off"],
        }}})
        .to_string(),
    );
    home.write("home/.claude/settings.json", "{}");
    let discovery = discover_all(&around, &[Client::ClaudeCode], &Inputs::new());
    let found = discovery.found.iter().map(|found| {
        let scope = found.server.origin.scope.clone();
        (scope, found.server.enabled)
    });
    let local = Scope::Local(folder);
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(local.clone(), true), (local, false)]
    );
    assert_eq!(discovery.projects().count(), 0);
}

/// Whoever takes a server over is told: their `dormouse.toml` has no switch for single folders.
#[test]
fn switches_of_claude_code_for_single_folders_are_told() {
    let home = Home::empty();
    home.write(
        "home/.claude.json",
        serde_json::json!({
            "mcpServers": {"hub": {"command": "hub"}, "other": {"command": "other"}},
            "projects": {
                "/a": {"disabledMcpServers": ["hub", "hub", 7]},
                "/b": {"disabledMcpServers": ["hub", "gone"]},
                "/c": {"disabledMcpServers": {"other": true}},
            },
        })
        .to_string(),
    );
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let notes = |name: &str| {
        let mut found = discovery.found.iter();
        let found = found.find(|found| found.written_name == name).unwrap();
        assert!(found.server.enabled, "{found:?}");
        found.own.notes.clone()
    };
    let expected = "Claude Code has it switched off in 2 folder(s), by `disabledMcpServers`; \
                    here it is on in all";
    assert_eq!(notes("hub"), [expected]);
    assert_eq!(notes("other"), [""; 0]);
}
