//! Servers that are taken over from the files of clients.

use std::fs;

use dormouse_tests::Home;

use crate::{FILES, files, home, read, run, said, write};

/// Values that clients keep in files of variables are written down nowhere: such servers stay where
/// they work, until their questions are answered.
#[test]
fn what_clients_keep_in_files_of_variables_stays_there() {
    let home = Home::new().unwrap();
    let write = |file: &str, text: &str| write(&home.path().join(file), text);
    write(".continue/.env", "K=CANARY-continue\n");
    write(
        ".continue/config.yaml",
        "name: mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: a\n    command: uvx\n    args:\n      - ${{ secrets.K }}\n",
    );
    write("some.env", "K=CANARY-file\n");
    write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"b": {"command": "uvx", "envFile": "${userHome}/some.env"}}}"#,
    );
    let files_before = files(&home);
    let mut said = run(&home, &["import", "--dry-run"]);
    said += &run(&home, &["import", "--replace", "--no-sync"]);
    assert_eq!(files(&home), files_before, "{said}");
    for server in ["`a` of", "`b` of"] {
        let told = said.lines().find(|line| line.contains(server));
        assert!(told.unwrap().contains("is not taken over"), "{said}");
    }
    assert!(said.contains("[discovery.inputs]"), "{said}");
    let inputs = "[discovery.inputs]\na_K = { env = \"A\" }\nb_K = { env = \"B\" }\n";
    fs::write(home.config(), inputs).unwrap();
    let import = |words: &[&str]| {
        let mut command = home.command(&[&["import", "--no-sync"], words].concat());
        command.env("A", "CANARY-continue").env("B", "CANARY-file");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", self::said(&output));
        self::said(&output)
    };
    said += &import(&["--dry-run"]);
    said += &import(&[]);
    for words in [&["list"][..], &["list", "--json"]] {
        said += &run(&home, words);
    }
    said += &self::said(&home.run(&["doctor"]).unwrap());
    said += &fs::read_to_string(home.config()).unwrap();
    assert!(!said.contains("CANARY"), "{said}");
    let config = fs::read_to_string(home.config()).unwrap();
    for part in [
        "args = [\"${input:a_K}\"]",
        // Each server's own, though they have one name.
        "K = \"${input:b_K}\"",
    ] {
        assert!(config.contains(part), "no {part} in {config}");
    }
}

/// A variable may have another value, or none, where another client starts.
#[test]
fn a_variable_and_its_value_are_two_servers() {
    let home = Home::new().unwrap();
    let write = |file: &str, text: &str| write(&home.path().join(file), text);
    write(
        ".claude.json",
        r#"{"mcpServers": {"every": {"type": "http", "url": "http://127.0.0.1:1/mcp",
            "headers": {"Authorization": "Bearer ${EVERY_TOKEN:-usual}"}}}}"#,
    );
    write(
        ".gemini/settings.json",
        r#"{"mcpServers": {"other": {"httpUrl": "http://127.0.0.1:1/mcp",
            "headers": {"Authorization": "Bearer usual"}}}}"#,
    );
    run(&home, &["import", "--no-sync"]);
    let config = fs::read_to_string(home.config()).unwrap();
    for kept in ["\"Bearer ${EVERY_TOKEN:-usual}\"", "\"Bearer usual\""] {
        assert!(config.contains(kept), "{config}");
    }
}

/// A server whose client asks for a value is one server before and after its import, whose value is
/// set in one place.
#[test]
fn a_server_that_asks_for_a_value_is_on_after_its_import() {
    let home = Home::new().unwrap();
    let file = home.path().join("config/Code/User/mcp.json");
    write(
        &file,
        r#"{"servers": {"fire": {"command": "npx", "args": ["-y", "fire"], "env": {"K": "${input:fire-key}"}}},
            "inputs": [{"id": "fire-key", "type": "promptString", "description": "Key", "password": true}]}"#,
    );
    run(&home, &["import", "--replace", "--no-sync"]);
    let config = fs::read_to_string(home.config()).unwrap_or_default();
    assert!(!config.contains("enabled = false"), "{config}");
    let inputs = "[discovery.inputs]\nfire-key = \"k\"\n";
    fs::write(home.config(), format!("{config}\n{inputs}")).unwrap();
    let doctor = said(&home.run(&["doctor"]).unwrap());
    assert!(!doctor.contains("input:"), "{doctor}");
    let listed = home.json(&["list", "--json"]).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["state"], "configured", "{listed}");
}

/// What is known and approved of a server is known after its variables are spelled in another way.
#[test]
fn what_is_known_of_a_server_is_known_after_its_import() {
    let home = Home::new().unwrap();
    let script = dormouse_tests::artifacts::workspace().join("tests/servers/scripted.py");
    let tools = home.path().join("notes.tools");
    fs::write(
        &tools,
        r#"[{"name": "add", "inputSchema": {"type": "object"}}]"#,
    )
    .unwrap();
    let servers = serde_json::json!({ "servers": { "notes": {
        "command": "python3",
        "args": [script, "${userHome}/notes.starts", "${env:HOME}/notes.tools"],
    } } });
    write(
        &home.path().join("config/Code/User/mcp.json"),
        &servers.to_string(),
    );
    run(&home, &["sync", "notes"]);
    let state = || {
        let listed = home.json(&["list", "--json"]).unwrap();
        (listed[0]["state"].clone(), listed[0]["tools"].clone())
    };
    let before = state();
    assert_eq!(before.0, "known");
    for words in [
        &["import", "--replace", "--no-sync"][..],
        &["import", "--undo"],
    ] {
        run(&home, words);
        assert_eq!(state(), before, "{words:?}");
    }
}

/// Else each of two commands would count on a server that the other one takes away.
#[test]
fn imports_and_edits_wait_for_each_other() {
    let home = Home::new().unwrap();
    let claude = home.path().join(".claude.json");
    write(&claude, r#"{"mcpServers": {"s": {"command": "s"}}}"#);
    run(&home, &["import", "--replace", "--no-sync"]);
    for arguments in [
        &["import", "--undo"][..],
        &["import", "--replace", "--no-sync"][..],
    ] {
        let lock = home.path().join("run/dormouse/edit.lock");
        let lock = fs::File::options().write(true).open(lock).unwrap();
        lock.lock().unwrap();
        let before = fs::read_to_string(&claude).unwrap();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| run(&home, arguments));
            std::thread::sleep(std::time::Duration::from_millis(700));
            assert!(!running.is_finished(), "{arguments:?}");
            assert_eq!(fs::read_to_string(&claude).unwrap(), before);
            lock.unlock().unwrap();
        });
        assert_ne!(
            fs::read_to_string(&claude).unwrap(),
            before,
            "{arguments:?}"
        );
    }
}

#[test]
fn servers_are_taken_over() {
    let home = home();
    fs::write(home.config(), "# mine\n").unwrap();
    let before = files(&home);

    let dry = run(&home, &["import", "--dry-run"]);
    assert_eq!(files(&home), before);
    assert!(dry.contains("+[servers.github]"), "{dry}");
    assert!(!dry.contains("secret"), "{dry}");

    let told = run(&home, &["import"]);
    assert!(!told.contains("secret"), "{told}");
    assert!(told.contains("dormouse sync"), "{told}");
    // What was not shown beside another one of its name is from now on.
    assert!(
        told.contains("it is another server than `github` of cursor, which was shown in its place")
            && told.contains("`dormouse disable github-codex`"),
        "{told}"
    );
    let config = fs::read_to_string(home.config()).unwrap();
    let home_folder = home.path().display();
    let expected = format!(
        r#"# mine

# `env.TOKEN` asks for `tok`: write it in dormouse.toml, below `[discovery.inputs]`: `tok = "…"`, or `tok = {{ env = "TOK" }}` for a variable of the environment
[servers.gh]
command = "npx"
from = ["vscode"]

[servers.gh.env]
TOKEN = "${{input:tok}}"

[servers.gh.limits]
timeout = "21600s"

[servers.time]
command = "uvx"
args = ["mcp-server-time"]
from = ["vscode", "codex"]

[servers.time.limits]
timeout = "21600s"

[servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
from = ["cursor"]

[servers.github.env]
HOME_DIR = "{home_folder}"
TOKEN = "ghp_secret"
V = "${{FOO}}"

[servers.remote]
url = "https://mcp.example.com/mcp"
from = ["cursor"]

[servers.remote.headers]
Authorization = "Bearer ${{TOK}}"

[servers.github-codex]
command = "other"
from = ["codex"]

[servers.github-codex.env]
KEY = "sk-secret"

[servers.sql]
command = "uvx"
args = ["mcp-sql"]
from = ["continue"]

[servers.sql.env]
KEY = "${{SQL_KEY}}"

[servers.fetch]
command = "uvx"
args = ["mcp-server-fetch"]
from = ["goose"]

[servers.fetch.env]
FETCH_KEY = "${{FETCH_KEY}}"

[servers.fetch.limits]
timeout = "90s"
"#
    );
    assert_eq!(config, expected);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(home.config()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // No other file has changed, and a second time nothing does.
    let mut others = files(&home);
    others.insert(home.config(), "# mine\n".to_owned());
    assert_eq!(others, before);
    let again = run(&home, &["import"]);
    assert!(
        again.contains("`github` from cursor is there already"),
        "{again}"
    );
    assert!(again.contains("nothing is to be changed"), "{again}");
    assert_eq!(fs::read_to_string(home.config()).unwrap(), expected);

    run(&home, &["import", "--undo"]);
    assert_eq!(files(&home), before);
    assert!(run(&home, &["import", "--undo"]).contains("nothing to undo"));
}

#[test]
fn a_malformed_file_is_told_of_and_left_alone() {
    let home = home();
    let broken = "{\n  \"mcpServers\": {\n    \"x\" {}\n";
    write(&home.path().join(".cursor/mcp.json"), broken);
    let told = run(&home, &["import", "--replace", "--no-sync"]);
    assert!(told.contains("mcp.json:3:9"), "{told}");
    assert_eq!(read(&home, ".cursor/mcp.json"), broken);
    let output = home.run(&["install", "cursor"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains("mcp.json:3:9: this is not JSON"), "{told}");
    assert!(told.contains("hint: mend the file first"), "{told}");
    assert_eq!(read(&home, ".cursor/mcp.json"), broken);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = home();
    let (link, real) = (
        home.path().join(".cursor/mcp.json"),
        home.path().join("dotfiles.json"),
    );
    fs::rename(&link, &real).unwrap();
    symlink("../dotfiles.json", &link).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    run(&home, &["import", "cursor", "--replace", "--no-sync"]);
    let is_link = || fs::symlink_metadata(&link).unwrap().is_symlink();
    let mode = || fs::metadata(&real).unwrap().permissions().mode() & 0o777;
    assert!(is_link() && read(&home, "dotfiles.json").contains("dormouse"));
    assert_eq!(mode(), 0o640);
    run(&home, &["import", "--undo"]);
    assert!(is_link());
    assert_eq!(
        (mode(), read(&home, "dotfiles.json").as_str()),
        (0o640, FILES[0].1)
    );
}
