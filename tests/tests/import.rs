//! Servers are taken over from clients' files, Dormouse is put into them, and both
//! are undone: the real program in homes made for it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use dormouse_tests::Home;

/// Files of some clients, by their paths in the home.
const FILES: [(&str, &str); 5] = [
    (
        ".cursor/mcp.json",
        r#"{
  // my servers
  "mcpServers": {
    "github": {
      "command": "npx", // the usual
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "TOKEN": "ghp_secret", "HOME_DIR": "${userHome}", "V": "${env:FOO}" }
    },
    // the other one
    "remote": {
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer ${env:TOK}" }
    },
  },
}
"#,
    ),
    (
        "config/Code/User/mcp.json",
        "{\r\n\t\"servers\": {\r\n\t\t\"gh\": { \"type\": \"stdio\", \"command\": \"npx\", \"env\": { \"TOKEN\": \"${input:tok}\" } },\r\n\t\t\"time\": { \"type\": \"stdio\", \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] }\r\n\t},\r\n\t\"inputs\": [{ \"id\": \"tok\", \"type\": \"promptString\", \"description\": \"Token\" }]\r\n}",
    ),
    (
        ".codex/config.toml",
        "model = \"gpt-5\" # mine\n\n[mcp_servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\n\n[mcp_servers.github]\ncommand = \"other\"\n[mcp_servers.github.env]\nKEY = \"sk-secret\"\n\n[tui]\ntheme = \"x\"\n",
    ),
    (
        "config/goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n    name: developer\n  fetch: # fetches\n    type: stdio\n    cmd: uvx\n    args: [mcp-server-fetch]\n    env_keys: [FETCH_KEY]\n    enabled: true\n    timeout: 90\n    name: fetch\n# end\n",
    ),
    (
        ".continue/config.yaml",
        "name: mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: sql\n    command: uvx\n    args:\n      - mcp-sql\n    env:\n      KEY: ${{ secrets.SQL_KEY }}\n",
    ),
];

fn home() -> Home {
    let home = Home::new().unwrap();
    for (file, text) in FILES {
        write(&home.path().join(file), text);
    }
    home
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).unwrap()
}

/// Runs a command that has to succeed. Returns its output on both streams.
fn run(home: &Home, words: &[&str]) -> String {
    let output = home.run(words).unwrap();
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    said(&output)
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Returns all files that a user would call their own.
fn files(home: &Home) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let own = ["cache", "run"].map(|name| home.path().join(name));
            if path.is_dir() && !own.contains(&path) {
                folders.push(path);
            } else if path.is_file() {
                found.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

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
fn dormouse_takes_the_place_of_servers() {
    let home = home();
    let before = files(&home);
    let dry = run(&home, &["import", "--replace", "--dry-run"]);
    assert_eq!(files(&home), before);
    assert!(dry.contains("-    \"github\": {"), "{dry}");
    assert!(!dry.contains("secret"), "{dry}");

    let told = run(&home, &["import", "--replace", "--no-sync"]);
    assert!(!told.contains("secret"), "{told}");
    assert!(told.contains("`gh` stays in"), "{told}");
    let words = home.launch();
    let (program, config) = (&words[0], &words[2]);
    let entry = |client: &str, indent: &str, newline: &str| {
        [
            "\"dormouse\": {".to_owned(),
            "+\"type\": \"stdio\",".to_owned(),
            format!("+\"command\": \"{program}\","),
            format!(
                "+\"args\": [\"--config\", \"{config}\", \"serve\", \"--client\", \"{client}\"]"
            ),
            "}".to_owned(),
        ]
        .map(|line| format!("{indent}{indent}{}", line.replace('+', indent)))
        .join(newline)
    };
    assert_eq!(
        read(&home, ".cursor/mcp.json"),
        format!(
            "{{\n  // my servers\n  \"mcpServers\": {{\n    // the other one\n{},\n  }},\n}}\n",
            entry("cursor", "  ", "\n")
        )
    );
    assert_eq!(
        read(&home, "config/Code/User/mcp.json"),
        format!(
            "{{\r\n\t\"servers\": {{\r\n\t\t\"gh\": {{ \"type\": \"stdio\", \"command\": \"npx\", \"env\": {{ \"TOKEN\": \"${{input:tok}}\" }} }},\r\n{}\r\n\t}},\r\n\t\"inputs\": [{{ \"id\": \"tok\", \"type\": \"promptString\", \"description\": \"Token\" }}]\r\n}}",
            entry("vscode", "\t", "\r\n")
        )
    );
    // It passes the variables that it is told to, which are those that servers need.
    let codex = read(&home, ".codex/config.toml");
    let (entry_of_codex, rest) = codex.split_once("env_vars = [").unwrap();
    assert_eq!(
        entry_of_codex,
        format!(
            "model = \"gpt-5\" # mine\n\n[tui]\ntheme = \"x\"\n\n[mcp_servers.dormouse]\ncommand = \"{program}\"\nargs = [\"--config\", \"{config}\", \"serve\", \"--client\", \"codex\"]\n"
        )
    );
    let (variables, rest) = rest.split_once("]\n").unwrap();
    assert_eq!(rest, "tool_timeout_sec = 21660\n");
    for name in ["FOO", "TOK", "FETCH_KEY"] {
        let name = format!("\"{name}\"");
        assert!(variables.contains(&name), "{variables}");
    }
    assert!(!variables.contains("\"HOME\""), "{variables}");
    let goose = read(&home, "config/goose/config.yaml");
    assert!(
        goose.contains("  dormouse:\n    name: dormouse\n"),
        "{goose}"
    );
    assert!(goose.ends_with("    timeout: 21660\n# end\n"), "{goose}");
    assert!(!goose.contains("mcp-server-fetch"), "{goose}");
    let block = read(&home, ".continue/config.yaml");
    assert!(
        block.contains("mcpServers:\n  - name: dormouse\n    type: stdio\n"),
        "{block}"
    );
    assert!(!block.contains("mcp-sql"), "{block}");
    // Only what is still in a client's file is loaded by it.
    let config = fs::read_to_string(home.config()).unwrap();
    let from: Vec<_> = config
        .lines()
        .filter(|line| line.starts_with("from"))
        .collect();
    assert_eq!(from, ["from = [\"vscode\"]"]);

    // What is edited afterwards is not lost by undoing, and its servers come back.
    let continues = home.path().join(".continue/config.yaml");
    fs::write(&continues, format!("{block}# more\n")).unwrap();
    let told = run(&home, &["import", "--undo"]);
    let stays = "config.yaml had; what has been written into it since stays";
    assert!(told.contains(stays), "{told}");
    let merged = read(&home, ".continue/config.yaml");
    assert!(merged.ends_with("# more\n"), "{merged}");
    assert!(merged.contains("mcp-sql"), "{merged}");
    assert!(!merged.contains("name: dormouse"), "{merged}");
    let mut expected = before.clone();
    expected.insert(continues.clone(), merged);
    assert_eq!(files(&home), expected);

    // Where it cannot be edited, Dormouse keeps its servers, until it is put back by force.
    run(&home, &["import", "--replace", "--no-sync"]);
    let config = fs::read_to_string(home.config()).unwrap();
    let broken = format!("{}: [\n", read(&home, ".continue/config.yaml"));
    fs::write(&continues, &broken).unwrap();
    let output = home.run(&["import", "--undo"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains("has been edited since"), "{told}");
    assert!(told.contains("dormouse.toml` stays"), "{told}");
    let mut left = expected.clone();
    left.insert(continues, broken);
    left.insert(home.config(), config);
    assert_eq!(files(&home), left);
    run(&home, &["import", "--undo", "--force"]);
    assert_eq!(files(&home), expected);
}

#[test]
fn one_client_at_a_time() {
    let home = home();
    run(&home, &["import", "codex"]);
    let config = fs::read_to_string(home.config()).unwrap();
    // VS Code loads it, too, and is not to be shown it twice.
    assert!(config.contains("[servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\nfrom = [\"vscode\", \"codex\"]\n"), "{config}");
    assert!(
        config.contains("[servers.github]\ncommand = \"other\"\n"),
        "{config}"
    );
    assert!(!config.contains("servers.gh]"), "{config}");
    // The name is taken by another server now, unless that one is to go.
    run(&home, &["import", "cursor"]);
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.github-cursor]\ncommand = \"npx\"\n"),
        "{config}"
    );
    run(&home, &["import", "--undo"]);
    run(&home, &["import", "cursor", "--force"]);
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.github]\ncommand = \"npx\"\n"),
        "{config}"
    );
    assert!(!config.contains("github-cursor"), "{config}");
    let output = home.run(&["import", "clippy"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("`claude-code`"), "{}", said(&output));
}

#[test]
fn dormouse_is_installed_into_every_client() {
    let home = Home::new().unwrap();
    // Each in its own words, in a file that was not there.
    for (client, file, part) in [
        ("claude-code", ".claude.json", r#""type": "stdio","#),
        (
            "claude-desktop",
            "config/Claude/claude_desktop_config.json",
            r#""mcpServers": {"#,
        ),
        ("copilot", ".copilot/mcp-config.json", r#""tools": ["*"]"#),
        ("vscode", "config/Code/User/mcp.json", r#""servers": {"#),
        ("cursor", ".cursor/mcp.json", r#""mcpServers": {"#),
        (
            "opencode",
            "config/opencode/opencode.json",
            r#""enabled": true"#,
        ),
        ("codex", ".codex/config.toml", "[mcp_servers.dormouse]"),
        ("gemini", ".gemini/settings.json", r#""mcpServers": {"#),
        ("zed", "config/zed/settings.json", r#""context_servers": {"#),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#""mcpServers": {"#,
        ),
        (
            "continue",
            ".continue/config.yaml",
            "schema: v1\nmcpServers:\n  - name: dormouse\n",
        ),
        ("amp", "config/amp/settings.json", r#""amp.mcpServers": {"#),
        ("forge", "forge/.mcp.json", r#""mcpServers": {"#),
        (
            "chatmd",
            "config/Code/User/settings.json",
            r#""chatmd.mcpServers": {"#,
        ),
        (
            "goose",
            "config/goose/config.yaml",
            "extensions:\n  dormouse:\n",
        ),
    ] {
        let before = files(&home);
        let dry = run(&home, &["install", client, "--dry-run"]);
        assert!(dry.contains("+++ "), "{dry}");
        assert_eq!(files(&home), before, "{client}");
        run(&home, &["install", client, "--no-sync"]);
        let text = read(&home, file);
        assert!(text.contains(part), "{client}: {text}");
        assert!(
            text.contains("serve") && text.contains(client),
            "{client}: {text}"
        );
        let again = run(&home, &["install", client]);
        assert!(again.contains("already"), "{client}: {again}");
        assert_eq!(read(&home, file), text);
        run(&home, &["import", "--undo"]);
        assert_eq!(files(&home), before, "{client}");
        run(&home, &["install", client, "--no-sync"]);
    }
    // All of it is Dormouse, which is not to front itself.
    assert!(run(&home, &["import"]).contains("no servers that could be taken over"));
}

#[test]
fn a_client_is_given_back_what_it_had_when_dormouse_leaves_it() {
    let home = home();
    let before = files(&home);
    let nothing = run(&home, &["uninstall", "cursor", "--yes"]);
    assert!(nothing.contains("does not load Dormouse"), "{nothing}");
    // One that has no file yet, one that has been installed to, and one whose servers were
    // replaced afterwards, which is what became of them over two changes.
    for client in ["zed", "goose", "cursor"] {
        run(&home, &["install", client, "--no-sync"]);
    }
    run(
        &home,
        &["import", "cursor", "codex", "--replace", "--no-sync"],
    );
    let installed = files(&home);
    assert!(!read(&home, ".cursor/mcp.json").contains("server-github"));
    // Nothing is changed where nobody can be asked, and where somebody only looks.
    let output = home.run(&["uninstall", "cursor"]).unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("--yes"), "{}", said(&output));
    let dry = run(&home, &["uninstall", "cursor", "--dry-run"]);
    assert!(
        dry.contains("+++ ") && dry.contains("`github`, `remote`"),
        "{dry}"
    );
    assert!(!dry.contains("ghp_secret"), "{dry}");
    assert_eq!(files(&home), installed);
    for client in ["cursor", "zed", "goose"] {
        run(&home, &["uninstall", client, "--yes"]);
        let again = run(&home, &["uninstall", client, "--yes"]);
        assert!(
            again.contains("does not load Dormouse"),
            "{client}: {again}"
        );
    }
    let now = files(&home);
    for file in [".cursor/mcp.json", "config/goose/config.yaml"] {
        let path = home.path().join(file);
        assert_eq!(now[&path], before[&path], "{file}");
    }
    assert!(!home.path().join("config/zed/settings.json").exists());
    // What its user has written since stays, and the servers come back beside it.
    let codex = home.path().join(".codex/config.toml");
    let edited = format!(
        "{}\n[mine]\nx = 1 # mine\n",
        read(&home, ".codex/config.toml")
    );
    let edited = edited.replace("gpt-5", "gpt-6");
    write(&codex, &edited);
    let said = run(&home, &["uninstall", "codex", "--yes"]);
    assert!(
        said.contains("`github`") && !said.contains("sk-secret"),
        "{said}"
    );
    let back = read(&home, ".codex/config.toml");
    for part in [
        "gpt-6",
        "x = 1 # mine",
        "[mcp_servers.time]",
        "[mcp_servers.github]",
        "sk-secret",
    ] {
        assert!(back.contains(part), "{part}: {back}");
    }
    assert!(!back.contains("dormouse"), "{back}");
    // It is undone like any other change, and may come and go again.
    run(&home, &["import", "--undo"]);
    assert_eq!(read(&home, ".codex/config.toml"), edited);
    run(&home, &["uninstall", "codex", "--yes"]);
    assert_eq!(read(&home, ".codex/config.toml"), back);
    run(&home, &["install", "codex", "--no-sync"]);
    run(&home, &["uninstall", "codex", "--yes"]);
    assert_eq!(read(&home, ".codex/config.toml"), back);
}

#[test]
fn a_token_that_leaves_this_machine_is_warned_of() {
    let home = Home::new().unwrap();
    let install = |address: &str| {
        let words = ["install", "cursor", "--http", address, "--dry-run"];
        let output = home.run(&words).unwrap();
        assert!(output.status.success(), "{address}");
        [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap())
    };
    for (address, url, leaves) in [
        ("127.0.0.1:8137", "http://127.0.0.1:8137/mcp", false),
        ("[::1]:8137", "http://[::1]:8137/mcp", false),
        ("0.0.0.0:8137", "http://127.0.0.1:8137/mcp", false),
        ("[::]:8137", "http://[::1]:8137/mcp", false),
        ("192.0.2.1:8137", "http://192.0.2.1:8137/mcp", true),
    ] {
        let [shown, said] = install(address);
        assert!(shown.contains(url), "{address}: {shown}");
        assert_eq!(said.contains("unencrypted"), leaves, "{address}: {said}");
    }
    let words = ["install", "cursor", "--http", "127.0.0.1:8137", "--no-sync"];
    let said = String::from_utf8(home.run(&words).unwrap().stderr).unwrap();
    assert!(said.contains("start that before the client"), "{said}");
}

#[test]
fn whoever_has_servers_twice_is_told() {
    let home = home();
    let http = ["install", "cursor", "--http", "127.0.0.1:8137", "--no-sync"];
    let told = run(&home, &http);
    assert!(
        told.contains("cursor loads `github`, `remote` itself"),
        "{told}"
    );
    assert!(
        told.contains("`dormouse import cursor --replace`"),
        "{told}"
    );
    let codex = home.path().join(".codex/config.toml");
    let plain = "[mcp_servers.dormouse]\ncommand = \"dormouse\"\nargs = [\"serve\"]\n";
    fs::write(&codex, plain).unwrap();
    let doctor = said(&home.run(&["doctor"]).unwrap());
    assert!(doctor.contains("without `--client codex`"), "{doctor}");
    run(&home, &["install", "codex", "--no-sync"]);
    let doctor = said(&home.run(&["doctor"]).unwrap());
    assert!(!doctor.contains("without `--client codex`"), "{doctor}");
}

#[test]
fn dormouse_is_installed_over_http_with_its_token() {
    let home = Home::new().unwrap();
    let address = ["--http", "127.0.0.1:8137"];
    let token_file = home.path().join("cache/data/dormouse/http-token");
    let mut token = String::new();
    for (client, file, header) in [
        (
            "claude-code",
            ".claude.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "copilot",
            ".copilot/mcp-config.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "vscode",
            "config/Code/User/mcp.json",
            r#""Authorization": "Bearer "#,
        ),
        ("cursor", ".cursor/mcp.json", r#""Authorization": "Bearer "#),
        (
            "opencode",
            "config/opencode/opencode.json",
            r#""Authorization": "Bearer "#,
        ),
        ("codex", ".codex/config.toml", r#"Authorization = "Bearer "#),
        (
            "gemini",
            ".gemini/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "zed",
            "config/zed/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "continue",
            ".continue/config.yaml",
            "Authorization: \"Bearer ",
        ),
        (
            "amp",
            "config/amp/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        ("forge", "forge/.mcp.json", r#""Authorization": "Bearer "#),
        (
            "goose",
            "config/goose/config.yaml",
            "Authorization: \"Bearer ",
        ),
    ] {
        // What was there before started a host of its own.
        run(&home, &["install", client, "--no-sync"]);
        let before = files(&home);
        let dry = [&["install", client, "--dry-run"][..], &address].concat();
        let dry = run(&home, &dry);
        assert!(dry.contains("127.0.0.1:8137"), "{dry}");
        assert_eq!(files(&home), before, "{client}");
        let install = [&["install", client, "--no-sync"][..], &address].concat();
        let told = run(&home, &install);
        if token.is_empty() {
            token = fs::read_to_string(&token_file).unwrap().trim().to_owned();
        }
        let text = read(&home, file);
        assert!(
            text.contains("http://127.0.0.1:8137/mcp"),
            "{client}: {text}"
        );
        assert!(
            text.contains(&format!("{header}{token}")),
            "{client}: {text}"
        );
        assert!(!text.contains("--client"), "{client}: {text}");
        let path = home.path().join(file);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
                & 0o777,
            0o600
        );
        let again = run(&home, &[&["install", client][..], &address].concat());
        assert!(again.contains("already"), "{client}: {again}");
        for said in [&dry, &told, &again] {
            assert!(!said.contains(&token), "{said}");
        }
    }
    // All of it is Dormouse, which is not to front itself.
    assert!(run(&home, &["import"]).contains("no servers that could be taken over"));
    for client in ["claude-desktop", "chatmd"] {
        let output = home
            .run(&[&["install", client][..], &address].concat())
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("starts programs only"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn what_a_user_has_added_to_the_entry_stays() {
    let home = Home::new().unwrap();
    run(&home, &["install", "gemini", "--no-sync"]);
    let file = home.path().join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    let mine = text.replace("\"args\"", "\"trust\": true,\n      \"args\"");
    fs::write(
        &file,
        mine.replace(home.launch()[0].as_str(), "/old/dormouse"),
    )
    .unwrap();
    run(&home, &["install", "gemini", "--no-sync"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"trust\": true"), "{text}");
    assert!(text.contains(home.launch()[0].as_str()), "{text}");
}

#[test]
fn clients_wait_for_dormouse_as_long_as_their_servers_calls_may_take() {
    let home = Home::new().unwrap();
    write(
        &home.path().join(".codex/config.toml"),
        "[mcp_servers.crawl]\ncommand = \"uvx\"\ntool_timeout_sec = 7200\n",
    );
    let patient = r#"{"mcpServers": {"patient": {"command": "npx", "args": ["x"]}}}"#;
    write(&home.path().join(".claude.json"), patient);
    let wait = |file: &str, key: &str| {
        let text = read(&home, file);
        let line = text.lines().find(|line| line.contains(key)).map(str::trim);
        line.map(str::to_owned)
            .unwrap_or_else(|| panic!("no {key} in {text}"))
    };
    // Whoever has Dormouse can call that server, too, each in its own unit.
    run(&home, &["install", "gemini", "--no-sync"]);
    assert!(wait(".gemini/settings.json", "\"timeout\"").contains("7260000"));
    run(&home, &["import", "--replace", "--no-sync"]);
    assert_eq!(
        wait(".codex/config.toml", "tool_timeout_sec"),
        "tool_timeout_sec = 7260"
    );
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.crawl.limits]\ntimeout = \"7200s\"\n"),
        "{config}"
    );
    // Claude Code waits for half an hour where nobody has said for how long.
    assert!(
        config.contains("[servers.patient.limits]\ntimeout = \"1800s\"\n"),
        "{config}"
    );
    // What its user says stays.
    let file = home.path().join(".codex/config.toml");
    let text = fs::read_to_string(&file).unwrap().replace("7260", "30");
    fs::write(&file, text).unwrap();
    run(&home, &["install", "codex", "--no-sync"]);
    assert_eq!(
        wait(".codex/config.toml", "tool_timeout_sec"),
        "tool_timeout_sec = 30"
    );
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
