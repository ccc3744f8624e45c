//! Grants of folders: which are given, and who is asked about them.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use dormouse_tests::artifacts;

use super::*;
use crate::folders::{Granted, refused, run, stays_well, step};

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

/// Memory of the host holds what was written until its file has taken it.
#[test]
fn no_more_is_written_to_a_file_at_once_than_is_permitted() {
    let place = Granted::new(&["notes"]);
    place.server("files", &[("notes", "rw")]);
    let mut client = place.serve();
    let file = place.at("notes/a");
    let write = |bytes: &str| step("write-at-once", &[&file, Path::new(bytes)]);
    let said = run(&mut client, "files", &[write("65536")]);
    assert_eq!(said, ["65536"]);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 65536);
    let error = client.error("files__run", json!({ "steps": [write("65537")] }));
    let error = error.unwrap();
    assert!(error.contains("`check-write` permits 65536"), "{error}");
    stays_well(&mut client);
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

/// What has lost its name to another, is left out, or has a slip in it today may be started tomorrow, and
/// by its client at any time.
#[test]
fn nor_is_a_file_that_something_unused_takes_values_from() {
    let place = Granted::new(&[
        "config/Code/User",
        ".cursor",
        "lost",
        "wrong",
        "left-out",
        "secret",
        "notes",
    ]);
    let variables =
        |folder: &str| json!({ "command": "true", "envFile": place.at(folder).join("env") });
    let mut wrong = variables("wrong");
    wrong["env"] = json!(5);
    let servers = json!({ "servers": { "one": variables("lost"), "other": wrong } });
    std::fs::write(place.at("config/Code/User/mcp.json"), servers.to_string()).unwrap();
    let servers = json!({ "mcpServers": { "more": variables("left-out") } });
    std::fs::write(place.at(".cursor/mcp.json"), servers.to_string()).unwrap();
    let echo = artifacts::guest("echo").unwrap();
    place.home.server_with("one", &echo, "").unwrap();
    let key = place.at("secret/key");
    std::fs::write(&key, "s3cret").unwrap();
    let key = key.display();
    let slip = format!(
        "prefixx = 'x'\nsecrets.s = {{ file = '{key}', hosts = ['a.example'], query = 'q' }}\n\
         [discovery]\nclients = ['vscode']\n"
    );
    place.home.server_with("slip", &echo, &slip).unwrap();
    let folders = ["lost", "wrong", "left-out", "secret"];
    for (index, folder) in folders.iter().enumerate() {
        place.server(&format!("of{index}"), &[(folder, "rw")]);
    }
    place.server("notes", &[("notes", "rw")]);
    let mut client = place.serve();
    for (index, folder) in folders.iter().enumerate() {
        let error = refused(&mut client, &format!("of{index}"));
        assert!(error.contains("takes values from"), "{folder}: {error}");
    }
    let new = step("write", &[&place.at("notes/a"), Path::new("new")]);
    assert_eq!(run(&mut client, "notes", &[new]), ["ok"]);
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
