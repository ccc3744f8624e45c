//! Granted folders: each is the one that was granted, whatever is put in its place, and none of
//! them contains files that decide about plugins.
#![cfg(unix)]

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::{artifacts, processes};

use super::*;

/// A home with folders in it, and servers that are granted some of them.
pub(crate) struct Granted {
    pub(crate) home: Home,
}

impl Granted {
    pub(crate) fn new(folders: &[&str]) -> Self {
        let home = Home::new().unwrap();
        for folder in folders {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        home.server("good", &artifacts::guest("echo").unwrap())
            .unwrap();
        Self { home }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(path)
    }

    /// Adds a server with these folders, each with its mode.
    pub(crate) fn server(&self, name: &str, folders: &[(&str, &str)]) -> &Self {
        let mut grants = format!("[servers.{name}.grants]\nfs = [");
        for (path, mode) in folders {
            let path = self.at(path);
            write!(
                grants,
                "{{ path = '{}', mode = '{mode}' }},",
                path.display()
            )
            .unwrap();
        }
        grants.push(']');
        let guest = artifacts::guest("folders").unwrap();
        self.home.server_with(name, &guest, &grants).unwrap();
        self
    }

    pub(crate) fn serve(&self) -> Client {
        self.home.serve().unwrap()
    }
}

/// Makes a server take some steps, and returns the outcome of each.
pub(crate) fn run(client: &mut Client, server: &str, steps: &[String]) -> Vec<String> {
    let result = client.call(&format!("{server}__run"), json!({ "steps": steps }));
    let result = result.unwrap();
    assert_ne!(result["isError"], true, "{result}");
    let said = result["structuredContent"]["result"].as_array().unwrap();
    said.iter()
        .map(|said| said.as_str().unwrap().to_owned())
        .collect()
}

fn refused(client: &mut Client, server: &str) -> String {
    let error = client.error(&format!("{server}__run"), json!({ "steps": ["granted"] }));
    let error = error.unwrap();
    stays_well(client);
    error
}

pub(crate) fn stays_well(client: &mut Client) {
    let text = client.text("good__echo", json!({ "text": "good" }));
    assert_eq!(text.unwrap(), "good");
}

pub(crate) fn step(verb: &str, paths: &[&Path]) -> String {
    let mut step = verb.to_owned();
    for path in paths {
        step.push('|');
        step.push_str(path.to_str().unwrap());
    }
    step
}

fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn a_server_writes_where_it_may_and_reads_where_it_may() {
    let place = Granted::new(&["notes", "docs"]);
    std::fs::write(place.at("docs/a"), "of the docs").unwrap();
    place.server("files", &[("notes", "rw"), ("docs", "ro")]);
    let mut client = place.serve();
    let (notes, docs) = (place.at("notes"), place.at("docs"));
    let said = run(
        &mut client,
        "files",
        &[
            "granted".to_owned(),
            step("write", &[&notes.join("b"), Path::new("new")]),
            step("read", &[&notes.join("b")]),
            step("read", &[&docs.join("a")]),
            step("write", &[&docs.join("a"), Path::new("changed")]),
            step("list", &[&docs]),
            step("touch", &[&notes.join("b")]),
            step("touch", &[&docs.join("a")]),
            step("read", &[&notes.join("../docs/a")]),
            step("read", &[&notes.join("none")]),
        ],
    );
    assert_eq!(said[0], format!("{},{}", notes.display(), docs.display()));
    assert_eq!(said[1..4], ["ok", "new", "of the docs"]);
    assert_eq!(said[4], "error: not-permitted");
    assert_eq!(said[5..7], ["a", "ok"]);
    assert_eq!(said[7..9], ["error: not-permitted", "error: not-permitted"]);
    assert_eq!(said[9], "error: no-entry");
    assert_eq!(std::fs::read(place.at("notes/b")).unwrap(), b"new");
}

#[test]
fn a_link_in_place_of_a_granted_folder_is_refused() {
    let place = Granted::new(&["work/archive", "secret"]);
    std::fs::write(place.at("secret/key"), "CANARY").unwrap();
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "rw")]);
    let mut client = place.serve();
    let (work, archive) = (place.at("work"), place.at("work/archive"));
    // Both are awake, and what they have is theirs.
    let key = step("read", &[&archive.join("key")]);
    assert_eq!(
        run(&mut client, "inner", std::slice::from_ref(&key)),
        ["error: no-entry"]
    );
    let swap = [
        step("rename", &[&work.join("./archive"), &work.join("old")]),
        step("symlink", &[Path::new("../secret"), &work.join("archive")]),
    ];
    // It may rename what is in its own folder, and can make no link that leads out.
    let said = run(&mut client, "outer", &swap);
    assert_eq!(said, ["ok", "error: not-permitted"]);
    // Whoever else may write there can.
    symlink("../secret", &archive).unwrap();
    for _ in 0..2 {
        let error = refused(&mut client, "inner");
        for part in [
            format!("`{}`", archive.display()),
            format!("`{}`", place.at("secret").display()),
            "dormouse grant inner".to_owned(),
        ] {
            assert!(error.contains(&part), "{error}");
        }
        assert!(!error.contains("CANARY"), "{error}");
        // Another host has only what is recorded.
        client.close(Duration::from_secs(10)).unwrap();
        client = place.serve();
    }
}

#[test]
fn a_link_in_a_path_leads_where_it_led_when_it_was_granted() {
    let place = Granted::new(&["real", "secret"]);
    std::fs::write(place.at("real/a"), "").unwrap();
    std::fs::write(place.at("secret/key"), "").unwrap();
    let link = place.at("link");
    symlink("real", &link).unwrap();
    place.server("files", &[("link", "ro")]);
    let list = step("list", &[&link]);
    let mut client = place.serve();
    // It is called what its user calls it.
    let said = run(&mut client, "files", &["granted".to_owned(), list.clone()]);
    assert_eq!(said, [link.to_str().unwrap(), "a"]);
    client.close(Duration::from_secs(10)).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink("secret", &link).unwrap();
    let mut client = place.serve();
    let error = refused(&mut client, "files");
    for path in ["link", "real", "secret"] {
        let path = format!("`{}`", place.at(path).display());
        assert!(error.contains(&path), "{error}");
    }
    // Nobody is asked without a terminal, and nothing is granted.
    let output = place.home.run(&["grant", "files"]).unwrap();
    assert!(!output.status.success());
    let shown = String::from_utf8(output.stdout).unwrap();
    for path in ["real", "secret"] {
        assert!(shown.contains(place.at(path).to_str().unwrap()), "{shown}");
    }
    refused(&mut client, "files");
    let decisions = place.at("cache/data/dormouse/decisions.jsonl");
    assert!(!decisions.exists(), "something was decided");
    let output = place.home.run(&["grant", "files", "--yes"]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let decisions = std::fs::read_to_string(decisions).unwrap();
    let line: Value = serde_json::from_str(decisions.trim()).unwrap();
    for (member, value) in [("what", "grant"), ("subject", "files"), ("by", "flag")] {
        assert_eq!(line[member], value, "{line}");
    }
    client.close(Duration::from_secs(10)).unwrap();
    let mut client = place.serve();
    assert_eq!(run(&mut client, "files", &[list]), ["key"]);
}

/// A user at a terminal is asked, and is shown the name of a folder with its odd characters
/// escaped.
#[test]
fn a_grant_is_asked_about_at_a_terminal() {
    let odd = "real\u{1b}[2K\u{202e}\r\n  is fine";
    let place = Granted::new(&["before", odd]);
    let link = place.at("link");
    symlink("before", &link).unwrap();
    place.server("files", &[("link", "ro")]);
    let mut client = place.serve();
    run(&mut client, "files", &["granted".to_owned()]);
    client.close(Duration::from_secs(10)).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink(odd, &link).unwrap();
    std::fs::write(place.at(odd).join("key"), "").unwrap();
    let typed = |answer: &str| {
        let script = artifacts::workspace().join("tests/clients/python/terminal.py");
        let mut command = Command::new("python3");
        command
            .arg(script)
            .arg(json!([["[y/N] ", answer]]).to_string());
        let grant = place.home.command(&["grant", "files"]);
        command.arg(grant.get_program()).args(grant.get_args());
        command.envs(place.home.environment());
        let output = command.output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(shown.contains("real\\u{1b}[2K\\u{202e}"), "{shown}");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
        assert!(!shown.contains("\n  is fine"), "{shown}");
        (output.status.success(), shown)
    };
    let list = step("list", &[&link]);
    for (answer, granted) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let (succeeded, shown) = typed(answer);
        assert_eq!(succeeded, granted, "{answer:?}: {shown}");
        let mut client = place.serve();
        if granted {
            assert_eq!(
                run(&mut client, "files", std::slice::from_ref(&list)),
                ["key"]
            );
        } else {
            refused(&mut client, "files");
        }
        client.close(Duration::from_secs(10)).unwrap();
    }
    let decisions = place.at("cache/data/dormouse/decisions.jsonl");
    let decisions = std::fs::read_to_string(decisions).unwrap();
    let line: Value = serde_json::from_str(decisions.trim()).unwrap();
    assert_eq!(line["by"], "terminal", "{line}");
}

#[test]
fn more_grants_of_a_projects_plugin_are_refused_before_anybody_is_asked() {
    let place = Granted::new(&["project/.git", "more"]);
    let project = place.at("project");
    let guest = artifacts::guest("folders").unwrap();
    let text = format!("[servers.files]\ncomponent = '{}'\n", guest.display());
    std::fs::write(project.join("dormouse.toml"), text).unwrap();
    let run = |words: &[&str]| {
        let mut command = place.home.command(words);
        let output = command.current_dir(&project).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        (output.status.success(), said.concat())
    };
    let (done, said) = run(&["trust", "--yes"]);
    assert!(done, "{said}");
    let more = place.at("more").display().to_string();
    let (done, said) = run(&["grant", "files", "--grant-fs", &more, "--yes"]);
    assert!(!done, "{said}");
    assert!(
        said.starts_with("error: server `files` is granted what the project's file says"),
        "{said}"
    );
    // What the hint says is heard.
    let line = format!("project = \"{}\"", project.display());
    assert!(said.contains(&line), "{said}");
    let table = format!("{line}\ngrants = {{ fs = [{{ path = '{more}', mode = 'ro' }}] }}");
    place.home.table("files", &table).unwrap();
    let (done, said) = run(&["grant", "files"]);
    assert!(done && said.contains(&more), "{said}");
}

#[test]
fn add_writes_and_shows_the_real_path_and_refuses_what_a_start_refuses() {
    let place = Granted::new(&["real/inner", "other"]);
    symlink("real", place.at("link")).unwrap();
    let guest = artifacts::guest("folders").unwrap();
    let guest = guest.to_str().unwrap();
    let add = |name: &str, path: &str| {
        let grant = format!("{}:rw", place.at(path).display());
        place
            .home
            .run(&["add", name, guest, "--yes", "--grant-fs", &grant])
            .unwrap()
    };
    let said = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = add("files", "link");
    assert!(output.status.success(), "{}", said(&output));
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let real = place.at("real").display().to_string();
    assert!(shown.contains(&real), "{shown}");
    let config = std::fs::read_to_string(place.home.config()).unwrap();
    assert!(
        config.contains(place.at("real").to_str().unwrap()),
        "{config}"
    );
    assert!(
        !config.contains(place.at("link").to_str().unwrap()),
        "{config}"
    );
    // Another server may have a folder in it, and that is said.
    let output = add("inner", "real/inner");
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("in reach of server `files`"),
        "{}",
        said(&output)
    );
    let before = std::fs::read_to_string(place.home.config()).unwrap();
    for path in ["", "config", "cache"] {
        let output = add("own", path);
        assert_eq!(output.status.code(), Some(1), "{path}");
        assert!(said(&output).contains("overlaps"), "{}", said(&output));
    }
    let after = std::fs::read_to_string(place.home.config()).unwrap();
    assert_eq!(before, after);
}

#[test]
fn doctor_tells_of_folders_that_are_shared_or_cannot_be_granted() {
    let place = Granted::new(&["work/archive", "notes"]);
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "ro")])
        .server("home", &[("", "ro")])
        .server("alone", &[("notes", "rw")]);
    let guest = std::fs::read(artifacts::guest("echo").unwrap()).unwrap();
    std::fs::write(place.at("notes/tool.wasm"), guest).unwrap();
    let tool = place.at("notes/tool.wasm");
    place.home.server("tool", &tool).unwrap();
    let output = place.home.run(&["doctor", "--json"]).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let of = |about: &str, words: &str| {
        let rows = rows.iter().filter(|row| row["about"] == about);
        let rows: Vec<_> = rows.collect();
        let found = rows
            .iter()
            .find(|row| row["message"].as_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("{about}: {rows:?}"))["verdict"].clone()
    };
    assert_eq!(of("grants", "server `outer`"), "warning");
    assert_eq!(of("grants", "of server `tool` lies in it"), "warning");
    assert_eq!(of("server home", "overlaps"), "error");
    assert_eq!(of("server alone", ""), "ok");
}

/// A client keeps the log of its servers, and each overlap is in it once, when it comes about.
#[test]
fn the_log_tells_of_folders_that_two_servers_reach() {
    let place = Granted::new(&["work/archive", "notes/tools"]);
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "ro")])
        .server("alone", &[("notes", "rw")]);
    let path = place.at("log");
    let log = std::fs::File::create(&path).unwrap();
    let mut client = Client::start(place.home.command(&["serve"]).stderr(log)).unwrap();
    stays_well(&mut client);
    let logged = || std::fs::read_to_string(&path).unwrap();
    let shared = |inner: &str, folder: &str, outer: &str| {
        format!(
            "the folder `{}` of server `{inner}` is in reach of server `{outer}` too",
            place.at(folder).display()
        )
    };
    let first = shared("inner", "work/archive", "outer");
    assert_eq!(logged().matches(&first).count(), 1, "{}", logged());
    assert!(!logged().contains("`alone`"), "{}", logged());
    // Grants that change while it runs are judged again, and what was told is not repeated.
    place.server("guest", &[("notes/tools", "rw")]);
    let second = shared("guest", "notes/tools", "alone");
    dormouse_tests::wait::until("the log tells", || {
        anyhow::ensure!(logged().contains(&second), "{}", logged());
        Ok(())
    })
    .unwrap();
    stays_well(&mut client);
    assert_eq!(
        logged().matches("is in reach of").count(),
        2,
        "{}",
        logged()
    );
}

#[test]
fn grants_of_one_server_that_contain_one_another_are_refused() {
    let place = Granted::new(&["notes/archive", "bound"]);
    place.server("files", &[("notes", "rw"), ("notes/archive", "ro")]);
    symlink(place.at("notes/archive"), place.at("bound/link")).unwrap();
    place.server("links", &[("notes", "rw"), ("bound/link", "ro")]);
    let mut client = place.serve();
    for (server, inner) in [("files", "notes/archive"), ("links", "bound/link")] {
        let error = refused(&mut client, server);
        for path in ["notes", inner] {
            let path = format!("`{}`", place.at(path).display());
            assert!(error.contains(&path), "{error}");
        }
        assert!(
            error.contains(&format!("[servers.{server}.grants]")),
            "{error}"
        );
    }
}

#[test]
fn nothing_that_decides_about_plugins_is_granted() {
    let place = Granted::new(&[
        "config/Code/User",
        ".cursor",
        ".claude",
        "cache/data/dormouse/tokens",
        "notes",
        "variables/there",
        "variables/later",
    ]);
    // What a server of the user's is started with may be in a file that is named elsewhere.
    let variables = |folder: &str| json!({ "command": "true", "envFile": place.at("variables").join(folder).join("env") });
    let servers = json!({ "one": variables("there"), "other": variables("later") });
    let servers = json!({ "mcpServers": servers });
    std::fs::write(place.at(".cursor/mcp.json"), servers.to_string()).unwrap();
    std::fs::write(place.at("variables/there/env"), "A=1").unwrap();
    let folders = [
        "",
        "config",
        "config/Code/User",
        ".cursor",
        ".claude",
        "cache",
        "cache/data",
        "cache/data/dormouse/tokens",
        "run",
        "variables",
        "variables/there",
        "variables/later",
    ];
    symlink(place.at("config"), place.at("notes/link")).unwrap();
    let with_link = folders.iter().chain(&["notes/link"]);
    for (index, folder) in with_link.clone().enumerate() {
        for mode in ["ro", "rw"] {
            place.server(&format!("{mode}{index}"), &[(folder, mode)]);
        }
    }
    place.server("notes", &[("notes", "rw")]);
    let mut client = place.serve();
    for (index, folder) in with_link.enumerate() {
        for mode in ["ro", "rw"] {
            let error = refused(&mut client, &format!("{mode}{index}"));
            assert!(error.contains("overlaps"), "{folder}: {error}");
        }
    }
    assert_eq!(
        run(&mut client, "notes", &[step("list", &[&place.at("notes")])]),
        ["link"]
    );
}

/// A process that has the token can call the tools of all servers, and one that writes the
/// configuration decides which servers there are.
#[test]
fn a_token_file_and_a_configuration_elsewhere_are_not_granted() {
    use dormouse_tests::http::Server;

    let place = Granted::new(&["keys/deep", "elsewhere", "notes", "linked"]);
    let folders = ["keys", "elsewhere", "linked"];
    for (index, folder) in folders.iter().enumerate() {
        for mode in ["ro", "rw"] {
            place.server(&format!("{mode}{index}"), &[(folder, mode)]);
        }
    }
    place.server("notes", &[("notes", "rw")]);
    // The token is where a link leads.
    let token = dormouse_tests::http::write_token(&place.at("keys/deep"), "s3cret").unwrap();
    symlink(&token, place.at("linked/token")).unwrap();
    let config = place.at("elsewhere/servers.toml");
    std::fs::copy(place.home.config(), &config).unwrap();
    let mut command = Command::new(artifacts::program("dormouse").unwrap());
    command
        .arg("--config")
        .arg(&config)
        .args(["serve", "--http", "127.0.0.1:0", "--token-file"])
        .arg(place.at("linked/token"))
        .envs(place.home.environment())
        .current_dir(place.home.path());
    let server = Server::start(&mut command).unwrap();
    let granted = |server_name: &str| {
        let call = json!({
            "name": format!("{server_name}__run"), "arguments": { "steps": ["granted"] }
        });
        server.stateless("tools/call", call).unwrap()
    };
    for (index, what) in ["token", "configuration", "token"].iter().enumerate() {
        for mode in ["ro", "rw"] {
            let result = granted(&format!("{mode}{index}"));
            let said = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(result["isError"], true, "{result}");
            assert!(said.contains("overlaps") && said.contains(what), "{said}");
        }
    }
    let fine = granted("notes");
    assert_eq!(fine["isError"], false, "{fine}");
    drop(server);
    // A host that reads neither of them has no reason to refuse them.
    let mut client = place.serve();
    for name in ["rw0", "rw1", "rw2"] {
        let said = run(&mut client, name, &["granted".to_owned()]);
        assert!(!said[0].contains("error"), "{said:?}");
    }
}

#[test]
fn a_folder_that_is_made_anew_is_opened_and_judged_anew() {
    let place = Granted::new(&["notes"]);
    place.server("files", &[("notes", "rw")]);
    let mut client = place.serve();
    let list = step("list", &[&place.at("notes")]);
    std::fs::write(place.at("notes/one"), "").unwrap();
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["one"]
    );
    std::fs::rename(place.at("notes"), place.at("before")).unwrap();
    let error = refused(&mut client, "files");
    assert!(error.contains("cannot be opened"), "{error}");
    std::fs::create_dir(place.at("notes")).unwrap();
    std::fs::write(place.at("notes/two"), "").unwrap();
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["two"]
    );
    // What is in its place now is Dormouse's own.
    std::fs::remove_dir_all(place.at("notes")).unwrap();
    std::fs::rename(place.at("cache/dormouse"), place.at("notes")).unwrap();
    symlink(place.at("notes"), place.at("cache/dormouse")).unwrap();
    let error = refused(&mut client, "files");
    assert!(error.contains("overlaps"), "{error}");
}

#[test]
fn pipes_and_devices_are_never_opened() {
    let place = Granted::new(&["pipes"]);
    place
        .server("one", &[("pipes", "rw")])
        .server("two", &[("pipes", "ro")]);
    let pipes = place.at("pipes");
    for index in 0..600 {
        make_fifo(&pipes.join(index.to_string()));
    }
    let _socket = std::os::unix::net::UnixListener::bind(pipes.join("socket")).unwrap();
    symlink("0", pipes.join("link")).unwrap();
    let mut client = place.serve();
    stays_well(&mut client);
    for server in ["one", "two"] {
        run(&mut client, server, &["granted".to_owned()]);
    }
    let before = threads(&client);
    let memory = processes::memory(client.pid()).unwrap();
    for chunk in 0..6 {
        let names = (chunk * 100..(chunk + 1) * 100).map(|index| index.to_string());
        let names: Vec<_> = names.chain(["socket", "link"].map(str::to_owned)).collect();
        for server in ["one", "two"] {
            let steps: Vec<_> = names
                .iter()
                .flat_map(|name| {
                    let path = pipes.join(name);
                    [
                        step("read", &[&path]),
                        step("write", &[&path, Path::new("x")]),
                        step("touch", &[&path]),
                    ]
                })
                .collect();
            let said = run(&mut client, server, &steps);
            assert!(
                said.iter().all(|said| said == "error: not-permitted"),
                "{said:?}"
            );
        }
        stays_well(&mut client);
    }
    let after = threads(&client);
    assert!(after < before + 64, "{before} threads became {after}");
    processes::gives_back(client.pid(), memory).unwrap();
}

/// Returns the number of threads of a host.
fn threads(client: &Client) -> usize {
    let tasks = format!("/proc/{}/task", client.pid());
    std::fs::read_dir(tasks).map_or(0, Iterator::count)
}

#[test]
fn links_that_lead_out_are_not_made() {
    let place = Granted::new(&["notes/deep", "secret"]);
    place.server("files", &[("notes", "rw")]);
    std::fs::write(place.at("notes/deep/a"), "of a").unwrap();
    let mut client = place.serve();
    let notes = place.at("notes");
    for target in [
        "..",
        "../secret",
        "deep/../../secret",
        "/etc",
        "deep/../deep",
    ] {
        let made = step("symlink", &[Path::new(target), &notes.join("link")]);
        let said = run(&mut client, "files", &[made]);
        assert_eq!(said, ["error: not-permitted"], "{target}");
    }
    let said = run(
        &mut client,
        "files",
        &[
            step("symlink", &[Path::new("deep/a"), &notes.join("link")]),
            step("read", &[&notes.join("link")]),
        ],
    );
    assert_eq!(said, ["ok", "of a"]);
}

/// Such a link may lead to a place within the folder, as it does not from anywhere else.
#[test]
fn links_that_would_lead_out_from_elsewhere_stay_where_they_are() {
    let place = Granted::new(&["notes/a/b", "secret"]);
    place.server("files", &[("notes", "rw")]);
    let notes = place.at("notes");
    std::fs::write(place.at("notes/x"), "of x").unwrap();
    let (up, rooted) = (notes.join("a/b/up"), notes.join("rooted"));
    symlink("../../x", &up).unwrap();
    symlink("/etc", &rooted).unwrap();
    symlink("x", notes.join("beside")).unwrap();
    let mut client = place.serve();
    let slashed = PathBuf::from(format!("{}/", up.display()));
    let said = run(
        &mut client,
        "files",
        &[
            step("read", &[&up]),
            step("rename", &[&up, &notes.join("moved")]),
            step("rename", &[&slashed, &notes.join("moved")]),
            step("link", &[&up, &notes.join("moved")]),
            step("rename", &[&rooted, &notes.join("moved")]),
            step("rename", &[&notes.join("beside"), &notes.join("moved")]),
            step("read", &[&notes.join("moved")]),
            step("link", &[&notes.join("x"), &notes.join("y")]),
            step("read", &[&notes.join("y")]),
        ],
    );
    assert_eq!(said[0], "of x");
    assert_eq!(said[1..5], ["error: not-permitted"; 4]);
    assert_eq!(said[5..], ["ok", "of x", "ok", "of x"]);
    assert!(up.is_symlink() && rooted.is_symlink());
}

#[test]
fn a_component_that_becomes_a_pipe_or_a_device_is_not_read() {
    let home = Home::new().unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let bytes = std::fs::read(artifacts::guest("counter").unwrap()).unwrap();
    let component = home.plugin_file("counter.wasm", &bytes).unwrap();
    home.server("swapped", &component).unwrap();
    let mut client = home.serve().unwrap();
    client.tools().unwrap();
    stays_well(&mut client);
    let before = memory(&client);
    for device in [false, true] {
        std::fs::remove_file(&component).unwrap();
        match device {
            true => symlink("/dev/zero", &component).unwrap(),
            false => make_fifo(&component),
        }
        let result = client.call("swapped__count", json!({}));
        assert!(result.is_err() || result.unwrap()["isError"] == true);
        stays_well(&mut client);
        let memory = memory(&client);
        assert!(memory.is_none_or(|kib| kib < 512 << 10), "{memory:?} KiB");
        if let Some(before) = before {
            processes::gives_back(client.pid(), before).unwrap();
        }
    }
}

#[test]
fn a_pipe_in_the_compile_cache_is_compiled_past() {
    let home = Home::new().unwrap();
    home.guests(&["counter"]).unwrap();
    let mut client = home.serve().unwrap();
    client.call("counter__count", json!({})).unwrap();
    client.close(Duration::from_secs(10)).unwrap();
    let components = home.path().join("cache/dormouse/components");
    let mut swapped = 0;
    for entry in std::fs::read_dir(&components).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        make_fifo(&path);
        swapped += 1;
    }
    assert!(swapped >= 3);
    let index = home.path().join("cache/dormouse/catalog.index");
    let _ = std::fs::remove_file(&index);
    make_fifo(&index);
    let mut client = home.serve().unwrap();
    let result = client.call("counter__count", json!({})).unwrap();
    assert_eq!(result["structuredContent"]["result"], 1, "{result}");
}

#[test]
fn a_key_that_others_can_read_or_replace_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new().unwrap();
    home.guests(&["counter"]).unwrap();
    let calls = |home: &Home| {
        let mut client = home.serve().unwrap();
        client.call("counter__count", json!({})).unwrap();
        let status = home.status().unwrap();
        let hits = status["cache_hits"].as_u64();
        client.close(Duration::from_secs(10)).unwrap();
        hits.unwrap_or_else(|| panic!("{status}"))
    };
    let dormouse = home.path().join("cache/dormouse");
    let set = |path: PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    calls(&home);
    assert_eq!(calls(&home), 1);
    for (path, bad, good) in [
        ("components/key", 0o666, 0o600),
        ("components/key", 0o640, 0o600),
        ("components", 0o777, 0o700),
        ("", 0o777, 0o700),
        ("..", 0o777, 0o755),
    ] {
        set(dormouse.join(path), bad);
        assert_eq!(calls(&home), 0, "{path} {bad:o}");
        set(dormouse.join(path), good);
        assert_eq!(calls(&home), 1, "{path} {good:o}");
    }
    // Whoever owns a folder above may put another one in its place. Only root can give one
    // to somebody else here.
    let above = dormouse.join("..");
    let me = std::os::unix::fs::MetadataExt::uid(&above.metadata().unwrap());
    if me == 0 {
        std::os::unix::fs::chown(&above, Some(12_345), None).unwrap();
        assert_eq!(calls(&home), 0);
        std::os::unix::fs::chown(&above, Some(me), None).unwrap();
        assert_eq!(calls(&home), 1);
    }
}

/// Returns the memory of a host, in KiB.
fn memory(client: &Client) -> Option<u64> {
    dormouse_tests::processes::Process::of(client.pid())?.memory()
}

/// Variables are granted one by one, and the guest sees no others of the host's environment.
#[test]
fn only_variables_that_are_granted_are_seen() {
    let granted = Granted::new(&[]);
    let guest = artifacts::guest("folders").unwrap();
    granted.home.server("none", &guest).unwrap();
    let grants = "[servers.one.grants]\nenv = [\"SEEN\", \"MISSING\"]";
    granted.home.server_with("one", &guest, grants).unwrap();
    let mut serve = granted.home.command(&["serve"]);
    serve.env("SEEN", "1").env("SECRET", "2");
    let mut client = Client::start(&mut serve).unwrap();
    let steps = ["environment".to_owned()];
    assert_eq!(run(&mut client, "none", &steps), [""]);
    assert_eq!(run(&mut client, "one", &steps), ["SEEN=1"]);
}
