//! Secrets that clients keep in files of variables: their sources, and what becomes of them where a
//! server is taken over.

use super::*;
use crate::{Bridge, FillSource};

fn continued(place: &str, args: &str) -> Home {
    let home = Home::empty();
    let server = format!(r#"{{"name": "a", "command": "x", "args": [{args}]}}"#);
    let text = format!(r#"{{"name": "x", "version": "1", "mcpServers": [{server}]}}"#);
    home.write(&format!("{place}/.continue/mcpServers/a.yaml"), text);
    home
}

fn found(home: &Home, client: Client) -> FoundServer {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    discovery.found.into_iter().next().unwrap()
}

fn sources(bridge: &Bridge) -> Vec<&FillSource> {
    bridge
        .filled_in
        .iter()
        .map(|filled| &filled.source)
        .collect()
}

#[test]
fn each_variable_is_noted_with_the_file_that_it_is_of() {
    let home = continued("project", r#""${{ secrets.A }}", "${{ secrets.B }}""#);
    home.write("project/.continue/.env", "A=first\n");
    home.write("project/.env", "A=second\nB=of root\n");
    let server = found(&home, Client::Continue).server;
    let bridge = server.bridge().unwrap();
    let of_project = |name: &str, file: &str| FillSource::VariableInProjectFile {
        name: name.to_owned(),
        file: home.path(file),
    };
    for source in [
        of_project("A", "project/.continue/.env"),
        of_project("B", "project/.env"),
    ] {
        assert!(sources(bridge).contains(&&source), "{:?}", bridge.filled_in);
    }
    let shown = bridge.shown.as_ref().unwrap();
    assert_eq!(shown.args, ["first", "of root"]);
    // The user's own file counts before them.
    home.write("home/.continue/.env", "A=SECRET\n");
    let server = found(&home, Client::Continue).server;
    let shown = server.bridge().unwrap().shown.clone().unwrap();
    assert_eq!(shown.args, ["${{ secrets.A }}", "of root"]);
}

/// A value of the user's that stands before a project's in a text decides nothing about what is
/// shown.
#[test]
fn what_a_project_fills_in_is_shown_whatever_the_users_variables_are() {
    let home = continued("project", r#""${{ secrets.LONG }}${{ secrets.A }}""#);
    home.write("project/.env", "A=EVIL\n");
    let mut around = home.around();
    around.env.insert("LONG".to_owned(), "x".repeat(80 << 20));
    let discovery = discover_all(&around, &[Client::Continue], &Inputs::new());
    let bridge = discovery.found[0].server.bridge().unwrap();
    assert_ne!(bridge.needs, []);
    let shown = bridge.shown.as_ref().unwrap();
    assert_eq!(shown.args, ["${{ secrets.LONG }}EVIL"]);
}

#[test]
fn more_than_can_be_shown_is_started_by_nobody() {
    let args = vec![r#""${{ secrets.A }}""#; 40].join(",");
    let home = continued("project", &args);
    home.write("project/.env", format!("A={}\n", "x".repeat(60_000)));
    let server = found(&home, Client::Continue).server;
    let needs = &server.bridge().unwrap().needs;
    assert!(
        needs.iter().any(|need| need.text.contains("could read")),
        "{needs:?}"
    );
}

#[test]
fn a_projects_own_files_are_shown_where_they_are_filled_in() {
    let home = Home::empty();
    home.write(
        "project/opencode.json",
        r#"{"mcp": {"a": {"type": "local", "command": ["{file:./tool}", "{file:~/secret}"]}}}"#,
    );
    home.write("project/tool", "/bin/sh\n");
    home.write("home/secret", "SECRET\n");
    let server = found(&home, Client::OpenCode).server;
    let shown = server.bridge().unwrap().shown.clone().unwrap();
    assert_eq!(shown.command, "/bin/sh");
    assert_eq!(shown.args, ["{file:~/secret}"]);
}

#[test]
fn what_a_client_keeps_is_asked_for_where_its_server_is_taken_over() {
    let home = continued(
        "home",
        r#""${{ secrets.K }}", "x=${{ secrets.K }}", "${{ secrets.API_KEY }}""#,
    );
    home.write("home/.continue/.env", "K=CANARY\nAPI_KEY=SECRET-KEY\n");
    let own = found(&home, Client::Continue).own;
    let Launch::Stdio(stdio) = &own.launch else {
        panic!("{:?}", own.launch);
    };
    assert_eq!(stdio.args, ["${input:a_K}", "x=${input:a_K}", "${API_KEY}"]);
    assert_eq!(own.unanswered.len(), 2, "{:?}", own.unanswered);
    assert!(own.unanswered[0].contains("[discovery.inputs]"));

    let home = Home::empty();
    home.write(
        "home/a.env",
        "K=CANARY\nOWN=other\nAPI_KEY=SECRET-KEY\nA.B=CANARY\n",
    );
    let server = r#"{"command": "x", "env": {"OWN": "mine"}, "envFile": "${userHome}/a.env"}"#;
    home.write(
        "home/.cursor/mcp.json",
        format!(r#"{{"mcpServers": {{"a": {server}}}}}"#),
    );
    let own = found(&home, Client::Cursor).own;
    let Launch::Stdio(stdio) = &own.launch else {
        panic!("{:?}", own.launch);
    };
    let env = stdio.env.iter();
    let env: Vec<_> = env
        .map(|(name, value)| (name.as_str(), value.expose()))
        .collect();
    assert_eq!(
        env,
        [
            ("API_KEY", "${API_KEY}"),
            ("K", "${input:a_K}"),
            ("OWN", "mine")
        ]
    );
    assert!(own.unanswered[0].contains("`a_K`"), "{:?}", own.unanswered);
    assert!(own.missing[0].contains("`A.B`"), "{:?}", own.missing);

    // Neither a program nor a folder is written with what is filled into it.
    let home = Home::empty();
    home.write("home/secret", "CANARY");
    home.write(
        "home/.config/opencode/opencode.json",
        r#"{"mcp": {"a": {"type": "local", "command": ["{file:~/secret}"]}}}"#,
    );
    let own = found(&home, Client::OpenCode).own;
    let Launch::Stdio(stdio) = &own.launch else {
        panic!("{:?}", own.launch);
    };
    let command = &stdio.command;
    assert!(command.starts_with("${input:a-file-secret-"), "{command}");
}

/// Imported servers of Cursor and of VS Code.
fn imported(home: &Home) -> (String, Vec<String>) {
    use crate::install::{ImportRequest, import};
    let clients = [Client::Cursor, Client::VsCode];
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    let wanted = ImportRequest {
        clients: &clients,
        replace: None,
        force: false,
        longest_call: std::time::Duration::ZERO,
    };
    let config = crate::Config::default();
    let file = home.path("home/dormouse.toml");
    let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
    let text = import.changes.first().map(|change| change.after.clone());
    (text.unwrap_or_default(), import.left)
}

/// Servers that wait for something else as well: what works stays where it is.
fn servers(key: &str, servers: &[(&str, &str)]) -> String {
    let waits = match key {
        "servers" => "${input:other}",
        _ => "${env:DORMOUSE_UNSET}",
    };
    let servers = servers.iter().map(|(name, file)| {
        format!(r#""{name}": {{"type": "stdio", "command": "x", "args": ["{name}", "{waits}"], "envFile": "${{userHome}}/{file}"}}"#)
    });
    let servers: Vec<_> = servers.collect();
    format!(r#"{{"{key}": {{{}}}}}"#, servers.join(","))
}

const CODE: &str = "home/.config/Code/User/mcp.json";

/// Values that only a client fills in, in each project others, have no place in `dormouse.toml`: a
/// table without them would switch the server off wherever it works now.
#[test]
fn what_only_its_client_can_fill_in_leaves_a_server_where_it_is() {
    for (args, is_taken) in [
        ("${workspaceFolder}", false),
        ("${workspaceFolderBasename}/a", false),
        ("${env:DORMOUSE_UNSET}", true),
        ("a", true),
    ] {
        for project in [false, true] {
            let home = Home::empty();
            if project {
                home.write("project/.git/HEAD", "");
            }
            home.write(
                "home/.cursor/mcp.json",
                format!(r#"{{"mcpServers": {{"s": {{"command": "x", "args": ["{args}"]}}}}}}"#),
            );
            let (text, left) = imported(&home);
            assert_eq!(text.contains("[servers.s]"), is_taken, "{args}: {text}");
            let told = left.iter().any(|left| left.contains("is not taken over"));
            assert_eq!(told, !is_taken, "{args}: {left:?}");
        }
    }
}

#[test]
fn no_server_is_asked_for_another_ones_secret() {
    let home = Home::empty();
    home.write("home/1.env", "K=first\nb_KEY=first\n");
    home.write("home/2.env", "K=second\nKEY=second\n");
    let pairs = [("検索", "翻訳"), ("my mail", "my_mail"), ("a", "a_b")];
    for (one, other) in pairs {
        let text = servers("mcpServers", &[(one, "1.env"), (other, "2.env")]);
        home.write("home/.cursor/mcp.json", text);
        let (text, left) = imported(&home);
        assert!(left.is_empty(), "{left:?}");
        let ids: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split("${input:").nth(1))
            .collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!((ids.len(), unique.len()), (4, 4), "{text}");
    }
}

#[test]
fn what_would_be_one_question_of_two_servers_is_taken_over_once() {
    // Two clients have one name for it, and other files.
    let home = Home::empty();
    home.write("home/1.env", "K=first\n");
    home.write("home/2.env", "K=second\n");
    home.write(
        "home/.cursor/mcp.json",
        servers("mcpServers", &[("a", "1.env")]),
    );
    home.write(CODE, servers("servers", &[("a", "2.env")]));
    let (text, left) = imported(&home);
    assert_eq!(text.matches("${input:a_K}").count(), 1, "{text}");
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(
        left[0].contains("`a_K`") && !left[0].contains("second"),
        "{left:?}"
    );
    // With one secret, both have one answer.
    home.write("home/2.env", "K=first\n");
    let (text, left) = imported(&home);
    assert_eq!(text.matches("${input:a_K}").count(), 2, "{text}");
    assert!(left.is_empty(), "{left:?}");
    // What a client's file asks itself is not what another server has in a file.
    home.write(
        CODE,
        r#"{"servers": {"b": {"type": "stdio", "command": "y", "args": ["${input:a_K}"]}}}"#,
    );
    let (text, left) = imported(&home);
    assert!(
        text.contains("[servers.b]") && !text.contains("[servers.a]"),
        "{text}"
    );
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_a_file_has_is_asked_for_where_its_server_is_taken_over() {
    let home = Home::empty();
    home.write("home/tools/who.txt", "CANARY\n");
    home.write(
        "home/.config/opencode/opencode.json",
        r#"{"mcp": {"a": {"type": "local", "command": ["x", "{file:~/tools/who.txt}"]},
                   "b": {"type": "local", "command": ["x", "{file:~/tools/none.txt}"]}}}"#,
    );
    let discovery = discover_all(&home.around(), &[Client::OpenCode], &Inputs::new());
    let [a, b] = &discovery.found[..] else {
        panic!("{:?}", discovery.found);
    };
    assert!(a.own.missing.is_empty(), "{:?}", a.own.missing);
    assert!(
        a.own.unanswered[0].contains("who.txt"),
        "{:?}",
        a.own.unanswered
    );
    let (id, answer) = a.own.asked.iter().next().unwrap();
    assert_eq!(answer.as_ref().unwrap().expose(), "CANARY");
    let Launch::Stdio(stdio) = &a.own.launch else {
        panic!("{:?}", a.own.launch);
    };
    assert_eq!(stdio.args, [format!("${{input:{id}}}")]);
    assert_eq!(b.own.missing.len(), 1, "{:?}", b.own.missing);
    let inputs = [(
        id.clone(),
        crate::Input::Value(dormouse_launch::Secret::new("CANARY")),
    )];
    let inputs = Inputs::from(inputs);
    let discovery = discover_all(&home.around(), &[Client::OpenCode], &inputs);
    assert!(discovery.found[0].own.unanswered.is_empty());
}

/// Taken over without it, the server would miss what is in the file, and nobody would be told.
#[test]
fn a_file_of_variables_that_cannot_be_read_leaves_its_server_where_it_is() {
    let home = Home::empty();
    for file in ["${workspaceFolder}/.env", ".env", "/nonexistent/.env"] {
        let entry = serde_json::json!({ "command": "x", "envFile": file });
        let servers = serde_json::json!({ "mcpServers": { "u": entry } });
        home.write("home/.cursor/mcp.json", servers.to_string());
        let mut around = home.around();
        around.project = None;
        let discovery = discover_all(&around, &[Client::Cursor], &Inputs::new());
        let missing = &discovery.found[0].own.missing;
        assert!(
            missing
                .iter()
                .any(|told| told.contains("write what it needs of the file")),
            "{file}: {missing:?}"
        );
    }
}
