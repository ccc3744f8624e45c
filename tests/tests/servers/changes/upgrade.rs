//! Files that an older version has written (`tests/fixtures/7475b5f`), and this version in
//! their home: nothing is lost, and nothing is allowed that was not.

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_tests::{Client, Home, artifacts, oauth};
use serde_json::{Value, json};

use crate::scripted::{comes_to, tools};

/// Tools that an agent is shown in the project that was trusted.
const SHOWN: [&str; 7] = [
    "calendar__today",
    "files__run",
    "notes__admin",
    "notes__whoami",
    "post__fetch",
    "post__send",
    "project__build",
];

/// Home that an older version was used in.
struct Older {
    home: Home,
    notes: oauth::Server,
    port: String,
}

impl Older {
    fn new() -> Self {
        let client = ["--no-registration", "--client", "client-of-notes"];
        let login = ["--refresh-token", "refresh-token-of-notes"];
        let notes = oauth::Server::start(&[&client[..], &login[..]].concat()).unwrap();
        let port = notes.url().rsplit(':').next().unwrap();
        let port = port.strip_suffix("/mcp").unwrap().to_owned();

        let home = Home::new().unwrap();
        let path = home.path().canonicalize().unwrap();
        let fixture = artifacts::workspace().join("tests/fixtures/7475b5f/home");
        let replaced = [
            ("HOME-FOLDER", path.display().to_string()),
            ("NOTES-PORT", port.clone()),
        ];
        copy(&fixture, &path, &replaced);
        // The name of a login's file is a hash of its URL and its client, here none.
        let tokens = path.join("cache/data/dormouse/tokens");
        let hash = blake3::hash(format!("{}\0", notes.url()).as_bytes());
        let login = tokens.join(format!("{}.json", hash.to_hex()));
        fs::rename(tokens.join("notes.json"), &login).unwrap();
        let records = path.join("cache/data/dormouse/servers");
        let record = records.join(format!("{}.json", fingerprint(&path.join("project"))));
        fs::rename(records.join("project.json"), record).unwrap();
        for folder in ["notes", "project/.git", "other/.git"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        let script = artifacts::workspace().join("tests/servers/scripted.py");
        fs::copy(script, path.join("mcp/scripted.py")).unwrap();
        let component = artifacts::guest("folders").unwrap();
        fs::copy(component, path.join("plugins/folders.wasm")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let private = |path: &Path, mode| {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            };
            private(&path.join("cache/data/dormouse"), 0o700);
            private(&tokens, 0o700);
            private(&login, 0o600);
        }
        Self { home, notes, port }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn serve_in(&self, folder: &str) -> Client {
        let mut command = self.home.command(&["serve"]);
        command
            .env("NOTES_PORT", &self.port)
            .current_dir(self.path(folder));
        Client::start(&mut command).unwrap()
    }

    /// Runs a command that has to succeed, in a folder. Returns its output.
    #[track_caller]
    fn run_in(&self, folder: &str, words: &[&str]) -> String {
        let mut command = self.home.command(words);
        command
            .env("NOTES_PORT", &self.port)
            .current_dir(self.path(folder));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the number of starts of a server.
    fn starts(&self, server: &str) -> usize {
        let starts = fs::read_to_string(self.path(&format!("mcp/{server}.starts")));
        starts.unwrap_or_default().lines().count()
    }

    /// Returns the log of decisions in this version.
    fn decisions(&self) -> String {
        let log = self.path("cache/data/dormouse/decisions.jsonl");
        fs::read_to_string(log).unwrap_or_default()
    }
}

/// Returns the name of the record of `project`, by that version's rule: a hash of its launch, each
/// part with its length. A server of a project starts in the project's folder.
fn fingerprint(folder: &Path) -> String {
    let folder = folder.display().to_string();
    let files = ["scripted.py", "project.starts", "project.tools"];
    let files = files.map(|file| format!("${{HOME}}/mcp/{file}"));
    let [one, two, three] = &files;
    let variables = "0";
    let mut hasher = blake3::Hasher::new();
    for part in ["stdio", "python3", "3", one, two, three, variables, &folder] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Copies the files below a folder, with some texts in them replaced.
fn copy(from: &Path, to: &Path, replaced: &[(&str, String)]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            copy(&from, &to, replaced);
            continue;
        }
        let mut text = fs::read_to_string(&from).unwrap();
        for (old, new) in replaced {
            text = text.replace(old, new);
        }
        fs::write(to, text).unwrap();
    }
}

#[test]
fn what_an_older_version_has_written_is_taken_over() {
    let all = Older::new();
    let config = fs::read_to_string(all.home.config()).unwrap();
    let mut host = all.serve_in("project");
    // All is known that was, and nothing has to be started for it; what waited for its user
    // still does, and so does what was switched off.
    assert_eq!(tools(&mut host), SHOWN);
    for server in ["post", "calendar", "project", "other", "off"] {
        assert_eq!(all.starts(server), 0, "{server}");
    }
    let waits = |words: &str| {
        let shown = all.run_in("project", &["approve", "post", "--dry-run"]);
        assert!(shown.contains(words), "{shown}");
        shown
    };
    let shown = waits("+ Fetches letters, and forwards them.");
    assert!(shown.contains("- Fetches letters."), "{shown}");
    assert!(!shown.contains("Sends a letter."), "{shown}");
    let status = all.run_in("project", &["status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    let servers = status[0]["servers"].as_array().unwrap().iter();
    let states: Vec<_> = servers
        .map(|server| [&server["name"], &server["state"]].map(|text| text.as_str().unwrap()))
        .collect();
    assert!(states.contains(&["off", "disabled"]), "{states:?}");
    let post = status[0]["servers"].as_array().unwrap().iter();
    let mut post = post.filter(|server| server["name"] == "post");
    let waiting = &post.next().unwrap()["waiting"];
    assert_eq!(waiting["changed"], 1, "{waiting}");
    // It is shown in the words that its user has seen.
    let words = |host: &mut Client| {
        let fetch = host.tools().unwrap().into_iter();
        let mut fetch = fetch.filter(|tool| tool["name"] == "post__fetch");
        fetch.next().unwrap()["description"].clone()
    };
    assert_eq!(words(&mut host), "Fetches letters.");

    // What they offer now is compared with what was known.
    for (tool, answer) in [
        ("post__send", "send {}"),
        ("calendar__today", "today {}"),
        ("project__build", "build {}"),
    ] {
        assert_eq!(host.text(tool, json!({})).unwrap(), answer);
    }
    assert_eq!(tools(&mut host), SHOWN);
    waits("+ Fetches letters, and forwards them.");
    // The folder is the one that was granted, and so is the variable.
    let file = all.path("notes/a");
    let steps = json!({ "steps": ["granted", format!("write|{}|letter", file.display())] });
    let said = host.call("files__run", steps).unwrap();
    let said = &said["structuredContent"]["result"];
    assert_eq!(*said, json!([all.path("notes"), "ok"]));
    assert_eq!(fs::read_to_string(file).unwrap(), "letter");

    // The login is renewed, and nobody logs in.
    let said = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(
        said["structuredContent"]["client"], "client-of-notes",
        "{said}"
    );
    assert_eq!(tools(&mut host), SHOWN);
    for (what, times) in [
        ("refreshes", 1),
        ("refused refreshes", 0),
        ("registrations", 0),
        ("authorizations", 0),
    ] {
        assert_eq!(all.notes.count(what).unwrap(), times, "{what}");
    }

    // None of that was anybody's decision, or has changed what its user has written.
    assert_eq!(all.decisions(), "");
    assert_eq!(fs::read_to_string(all.home.config()).unwrap(), config);
    let folder = all.path("project").display().to_string();
    let trusted = |expected: &str| {
        assert_eq!(all.run_in("", &["trust", "--list"]).trim(), expected);
    };
    trusted(&folder);
    drop(host);
    let mut host = all.serve_in("project");
    assert_eq!(tools(&mut host), SHOWN);
    // Switched on, it has what was configured for it.
    all.run_in("", &["enable", "off"]);
    comes_to(
        &mut host,
        &[
            "calendar__today",
            "files__run",
            "notes__admin",
            "notes__whoami",
            "off__stub",
            "post__fetch",
            "post__send",
            "project__build",
        ],
    );
    all.run_in("project", &["approve", "post", "--yes"]);
    assert!(all.decisions().contains("\"post\""), "{}", all.decisions());
    assert_eq!(words(&mut host), "Fetches letters, and forwards them.");
}

#[test]
fn what_an_older_version_has_not_seen_is_not_allowed() {
    let all = Older::new();
    // Of the project that was never trusted there is nothing, nor of the other one here.
    let mut host = all.serve_in("other");
    assert_eq!(tools(&mut host), SHOWN[..6]);
    drop(host);
    // A tool that is new, and one that is back with the words that its user has seen.
    let tool = |name: &str, description: &str| {
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        json!({ "name": name, "description": description, "inputSchema": schema })
    };
    let offered = json!([
        tool("send", "Sends a letter."),
        tool("fetch", "Fetches letters."),
        tool("burn", "Burns letters."),
    ]);
    fs::write(all.path("mcp/post.tools"), offered.to_string()).unwrap();
    let mut host = all.serve_in("");
    assert_eq!(tools(&mut host), SHOWN[..6]);
    assert_eq!(host.text("post__send", json!({})).unwrap(), "send {}");
    let expected = SHOWN[..6].to_vec();
    let waits = all.run_in("", &["approve", "post", "--dry-run"]);
    assert!(waits.contains("Burns letters."), "{waits}");
    assert!(!waits.contains("Fetches"), "{waits}");
    drop(host);
    // What was trusted is what the project's files said.
    let file = all.path("project/.mcp.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("project.starts", "other.starts")).unwrap();
    let mut host = all.serve_in("project");
    assert_eq!(tools(&mut host), expected);
    let untrusted = &all.home.status().unwrap()["untrusted"];
    assert_eq!(untrusted["servers"], 1, "{untrusted}");
    for server in ["project", "other"] {
        assert_eq!(all.starts(server), 0, "{server}");
    }
    assert_eq!(all.decisions(), "");
}
