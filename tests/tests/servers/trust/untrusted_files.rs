//! Files that a project's files name: not opened before the project is trusted, whichever server
//! they would go into, and all of their names shown before that.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use dormouse_tests::Client;
use dormouse_tests::processes::most_memory;
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use serde_json::{Value, json};

use crate::scripted::{Scripted, asks, tools, write};

/// Files whose opening is noted.
pub(crate) struct WatchedFiles {
    events: OwnedFd,
    paths: HashMap<i32, PathBuf>,
    opened: BTreeSet<PathBuf>,
}

impl WatchedFiles {
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        let watched = paths.iter().map(|path| {
            write(path, "KEY=value\n");
            let watch = inotify::add_watch(&events, path, WatchFlags::OPEN).unwrap();
            (watch, path.clone())
        });
        Self {
            paths: watched.collect(),
            events,
            opened: BTreeSet::new(),
        }
    }

    /// Returns all files that were opened so far, however shortly.
    pub(crate) fn opened(&mut self) -> Vec<&PathBuf> {
        let mut room = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.events, &mut room);
        while let Ok(event) = events.next() {
            self.opened.insert(self.paths[&event.wd()].clone());
        }
        self.opened.iter().collect()
    }
}

/// Makes a project whose files name others in each way that there is, and returns those, too.
fn naming_files() -> (Scripted, WatchedFiles) {
    let all = Scripted::new();
    let (home, project) = (all.home.path().to_owned(), all.project());
    let outside = home.join("outside.file").display().to_string();
    let stdio = |more: Value| {
        let mut server = json!({ "command": "true", "args": [] });
        let members = server.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        server
    };
    for (file, text) in [
        (
            ".vscode/mcp.json",
            json!({ "servers": {
                "code": stdio(json!({ "type": "stdio", "envFile": "${workspaceFolder}/code.file" }))
            } }),
        ),
        (
            ".cursor/mcp.json",
            json!({ "mcpServers": { "cursor": stdio(json!({ "envFile": outside })) } }),
        ),
        (
            "opencode.json",
            json!({ "mcp": {
                "open": { "type": "local", "command": ["true", "{file:./open.file}"] },
                "far": {
                    "type": "remote", "url": "https://example.com/mcp",
                    "headers": { "X-Key": "{file:~/header.file}" }
                },
            } }),
        ),
        (
            ".continue/mcpServers/more.json",
            json!({ "mcpServers": { "continued": stdio(json!({ "args": ["${{ secrets.KEY }}"] })) } }),
        ),
    ] {
        write(&project.join(file), &text.to_string());
    }
    let files = WatchedFiles::new(&[
        project.join("code.file"),
        home.join("outside.file"),
        project.join("open.file"),
        home.join("header.file"),
        project.join(".continue/.env"),
        project.join(".env"),
    ]);
    (all, files)
}

#[test]
fn nothing_that_an_untrusted_project_names_is_opened() {
    let (all, mut files) = naming_files();
    let mut host = all.serve_project(asks());
    assert_eq!(tools(&mut host), ["dormouse__trust_project"]);
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["tools"],
        &["status"],
        &["doctor"],
        &["import", "--dry-run"],
        &["trust", "--list"],
        &["call", "open", "go", "{}"],
    ] {
        let (_, said) = all.run_in(&all.project(), words);
        let opened = files.opened();
        assert!(opened.is_empty(), "{words:?}: {opened:?}, {said}");
    }
    let (_, said) = all.run_in(&all.project(), &["list"]);
    assert!(said.contains("5 servers of a project"), "{said}");
    // Whoever wants to be shown what they would trust has all of it looked at.
    let (trusted, said) = all.run_in(&all.project(), &["trust"]);
    assert!(!trusted && said.contains("code.file"), "{said}");
    assert_eq!(files.opened().len(), 6, "{said}");
}

/// A project that was trusted, and has other files now, is not trusted any more.
#[test]
fn nothing_that_a_changed_project_names_is_opened() {
    let all = Scripted::new();
    let file = all.project().join("opencode.json");
    let naming = |name: &str| {
        let command = json!(["true", format!("{{file:{name}}}")]);
        json!({ "mcp": { "open": { "type": "local", "command": command } } }).to_string()
    };
    write(&all.project().join("plain"), "plain");
    write(&file, &naming("./plain"));
    all.run_in(&all.project(), &["trust", "--yes"]);
    let (_, said) = all.run_in(&all.project(), &["list"]);
    assert!(!said.contains("trusted"), "{said}");
    let mut files = WatchedFiles::new(&[all.project().join("next")]);
    write(&file, &naming("./next"));
    let (_, said) = all.run_in(&all.project(), &["list"]);
    assert!(said.contains("trusted no longer"), "{said}");
    let opened = files.opened();
    assert!(opened.is_empty(), "{opened:?}");
}

/// Returns the bytes that a host has read when it has listed its tools in a project of a thousand
/// servers, each of which has this reference fifteen times.
fn bytes_read(reference: &str) -> u64 {
    let all = Scripted::new();
    let servers: serde_json::Map<String, Value> = (0..1000)
        .map(|number| {
            let command = vec![reference; 15];
            let server = json!({ "type": "local", "command": command });
            (format!("s{number}"), server)
        })
        .collect();
    let text = json!({ "mcp": servers }).to_string();
    for file in ["opencode.json", ".opencode/opencode.json"] {
        write(&all.project().join(file), &text);
    }
    for folder in [all.project(), all.project().join(".opencode")] {
        write(&folder.join("value"), &"v".repeat(60_000));
    }
    let mut host: Client = all.serve_project(json!({}));
    assert_eq!(tools(&mut host), [""; 0]);
    let io = std::fs::read_to_string(format!("/proc/{}/io", host.pid())).unwrap();
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    read.unwrap().parse().unwrap()
}

#[test]
fn what_an_untrusted_project_names_is_not_read() {
    let plain = bytes_read("{fill:./value}");
    let named = bytes_read("{file:./value}");
    assert!(named < plain + (1 << 20), "{named} instead of {plain}");
}

/// Writes the file of VS Code's user, with one server that takes its variables from a file.
fn takes_variables_from(all: &Scripted, file: &str) {
    let words = all.words("mine");
    let server = json!({
        "type": "stdio", "command": words[0], "args": words[1..], "envFile": file
    });
    let text = json!({ "servers": { "mine": server } }).to_string();
    write(&all.home.path().join("config/Code/User/mcp.json"), &text);
}

/// A server of the user's own that takes its variables from the project that they are in.
#[test]
fn a_file_of_an_untrusted_project_is_filled_into_no_server_of_the_users() {
    let all = Scripted::new();
    let project = all.project();
    all.offers("mine", &[("go", "Goes.")]);
    write(&project.join(".env"), "LD_CANARY=CANARY-VALUE\n");
    takes_variables_from(&all, "${workspaceFolder}/.env");
    let sync = || all.run_in(&project, &["sync", "mine"]);
    let (synced, said) = sync();
    assert!(!synced && said.contains("dormouse trust"), "{said}");
    let (_, said) = all.run_in(&project, &["status"]);
    assert!(said.contains("dormouse trust"), "{said}");
    let host = all.serve_project(json!({}));
    let status = all.home.server_status("mine").unwrap();
    assert_eq!(status["state"], "needs-config", "{status}");
    drop(host);
    assert_eq!(all.starts("mine"), 0);

    let (_, shown) = all.run_in(&project, &["trust"]);
    for part in [
        "Servers of your own",
        "`mine`",
        "project/.env",
        "`LD_CANARY`",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.contains("CANARY-VALUE"), "{shown}");
    let (trusted, said) = all.run_in(&project, &["trust", "--yes"]);
    assert!(trusted, "{said}");
    let (synced, said) = sync();
    assert!(synced, "{said}");
    assert_eq!(all.starts("mine"), 1);

    // It is another project with another file, or with a link in its place.
    write(&project.join(".env"), "LD_CANARY=OTHER\n");
    assert!(!sync().0);
    std::fs::remove_file(project.join(".env")).unwrap();
    write(&all.home.path().join("elsewhere"), "LD_CANARY=OTHER\n");
    std::os::unix::fs::symlink(all.home.path().join("elsewhere"), project.join(".env")).unwrap();
    assert!(!sync().0);
    assert_eq!(all.starts("mine"), 1);

    // What is the user's own asks for nothing.
    let own = all.home.path().join("elsewhere");
    takes_variables_from(&all, &own.display().to_string());
    let (synced, said) = sync();
    assert!(synced, "{said}");
}

/// Every entry is shown, under its name as it is written, whatever it says.
#[test]
fn every_server_of_a_project_is_shown_before_it_is_trusted() {
    let all = Scripted::new();
    let project = all.project();
    // On one line, and but for their names alike.
    let text = json!({ "mcpServers": {
        "a": { "command": "npx", "args": ["x"] },
        "b c": { "command": "npx", "args": ["x"] },
        "b.c": { "command": "npx", "args": ["x"] },
        "backslash": { "type": "http", "url": "http://127.0.0.1\\@api.example.com/mcp" },
        "wrong": { "command": 7 },
        "number": 7,
        "odd name!": { "url": "ftp://x" },
        "query": { "type": "http", "url": "https://u:pw@mcp.example.com/mcp?project=THEIRS" },
    } });
    write(&project.join(".mcp.json"), &text.to_string());
    let own = "[servers.sly]\nurl = 'http://127.0.0.1\\@api.example.com/own'\n\
               [servers.neither]\nargs = ['x']\n[servers.'no name']\ncommand = ['x']\n";
    write(&project.join("dormouse.toml"), own);
    let (_, shown) = all.run_in(&project, &["trust"]);
    for part in [
        "`a` (claude-code)",
        "written `b c`",
        "written `b.c`",
        "`backslash`, not used as it is",
        "has a backslash in it",
        "http://127.0.0.1\\\\@api.example.com/mcp",
        "`wrong`, not used as it is",
        "`number`, not used as it is",
        "`odd name!`, not used as it is",
        "https://u:pw@mcp.example.com/mcp?project=THEIRS",
        "`sly`, not used as it is",
        "http://127.0.0.1\\\\@api.example.com/own",
        "`neither`, not used as it is",
        "`no name`, not used as it is",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
}

#[test]
fn a_project_without_a_server_that_could_be_used_is_not_trusted() {
    let all = Scripted::new();
    let text = r#"{"mcpServers": {"wrong": {"command": 7}}}"#;
    write(&all.project().join(".mcp.json"), text);
    let (trusted, said) = all.run_in(&all.project(), &["trust", "--yes"]);
    assert!(!trusted, "{said}");
    for part in ["`wrong`, not used as it is", "nothing to trust"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert_eq!(all.run(&["trust", "--list"]), "");
}

/// The author of a project does not decide how much memory the host takes: names are repeated with
/// each error about the items that have them.
#[test]
fn a_project_of_long_names_and_many_mistakes_takes_little_memory() {
    let mistakes: String = (0..12_000).map(|n| format!("k{n} = 1\n")).collect();
    let long = "n".repeat(150_000);
    let variables: String = (0..8000).map(|n| format!("${{a{n}}}")).collect();
    let own = [
        String::new(),
        format!("[servers.{long}]\ncommand = ['true']\n{mistakes}"),
        format!("[discovery.inputs.{long}]\n{mistakes}"),
        format!("[servers.a]\ncommand = ['true']\n[servers.a.env]\n{long} = '{variables}'\n"),
    ];
    let of_client = json!({ "mcpServers": {
        "a": { "command": "true", "env": { (long): variables } },
    } });
    let files = own
        .iter()
        .map(|text| ("dormouse.toml", text.clone()))
        .chain([(".mcp.json", of_client.to_string())]);
    let mut peaks = Vec::new();
    for (file, text) in files {
        let all = Scripted::new();
        write(&all.project().join(file), &text);
        let mut host = all.serve_project(asks());
        host.always_answers("elicitation/create", json!({ "action": "decline" }));
        tools(&mut host);
        // Where there is a server, what is to be trusted is read as a whole.
        let _ = host.outcome("tools/call", json!({ "name": "dormouse__trust_project" }));
        peaks.push(most_memory(host.pid()).unwrap() >> 10);
    }
    let (plain, hostile) = peaks.split_first().unwrap();
    assert!(
        hostile.iter().all(|peak| *peak < plain + 64),
        "{plain} MiB, and {hostile:?}"
    );
}
