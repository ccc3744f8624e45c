//! Programs and URLs that the user has on nowhere: no trusted project brings them up under another
//! name, with other variables either.

use super::*;

const CURSOR: &str = ".cursor/mcp.json";
const OPENCODE: &str = ".config/opencode/opencode.json";
const OPENCODE_LATER: &str = ".config/opencode/opencode.jsonc";
const CODEX: &str = ".codex/config.toml";
const CLAUDE: &str = ".claude.json";
const PROJECT: &str = "project/.mcp.json";

/// Returns the names of the servers that are on and run `npx gh`, where a trusted project has
/// them under another name, in this way.
fn that_run(files: &[(&str, &str)], own: &str, of_project: &str) -> Vec<String> {
    let home = tempfile::tempdir().unwrap();
    let text = format!(
        r#"{{"mcpServers": {{"got": {{"command": "npx", "args": ["gh"]{of_project}}},
            "y": {{"command": "y"}}}}}}"#
    );
    let folder = home.path().join("project");
    let folder = folder.to_str().unwrap();
    let files = files
        .iter()
        .map(|(file, text)| (*file, text.replace("PROJECT", folder)));
    let mut files: Vec<_> = files.collect();
    files.push((PROJECT, text));
    let files: Vec<_> = files
        .iter()
        .map(|(file, text)| (*file, text.as_str()))
        .collect();
    let all = trusted_in_home(home.path(), &files, own);
    assert!(all.servers.contains_key("y"), "{files:?}");
    let servers = all.servers.values().filter(|server| server.enabled);
    let servers = servers.filter(|server| {
        server.bridge().is_some_and(|bridge| match &bridge.launch {
            Launch::Stdio(stdio) => stdio.command == "npx" && stdio.args == ["gh"],
            Launch::Http(_) => false,
        })
    });
    servers.map(|server| server.name.clone()).collect()
}

#[test]
fn an_entry_that_is_on_and_not_in_force_lets_no_project_bring_it_up() {
    let git = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"]}}}"#;
    let gut = &git.replace("git", "gut");
    let own_off = "[servers.git]\ncommand = 'npx'\nargs = ['gh']\nenabled = false\n";
    let off = "[servers.git]\nenabled = false\n";
    let opencode = r#"{"mcp": {"git": {"type": "local", "command": ["npx", "gh"]}}}"#;
    let later = r#"{"mcp": {"git": {"enabled": false}}}"#;
    let codex = "[mcp_servers.github]\ncommand = 'npx'\nargs = ['gh']\n";
    let claude = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"]}}, "projects": {
        "PROJECT": {"mcpServers": {"git": {"command": "npx", "args": ["gh"], "disabled": true}}}}}"#;
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[(CURSOR, git)], own_off),
        (&[(CURSOR, gut)], own_off),
        (&[(OPENCODE, opencode), (OPENCODE_LATER, later)], ""),
        (&[(CLAUDE, claude)], ""),
        (&[(CURSOR, git), (CODEX, codex)], off),
        (&[(CURSOR, git)], off),
        (&[(CURSOR, git)], "[servers.git]\nenabled = 'false'\n"),
        (&[(CURSOR, git)], "[servers.git]\nexclude_tools = 'push'\n"),
        (
            &[(CURSOR, git)],
            "[servers.git]\nargs = ['gh', 'x']\nenabled = false\n",
        ),
    ];
    for (files, own) in cases {
        for of_project in ["", r#", "env": {"A": "x"}"#] {
            let up = that_run(files, own, of_project);
            assert_eq!(up, [""; 0], "{files:?} {own} {of_project}");
        }
    }
}

/// A server that the user has on with other variables is another one.
#[test]
fn what_the_user_has_on_is_no_matter() {
    let git = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"]}}}"#;
    let off = &git.replace("]}", "], \"disabled\": true}");
    let codex = "[mcp_servers.github]\ncommand = 'npx'\nargs = ['gh']\nenv = {B = 'y'}\n";
    type Files<'a> = &'a [(&'a str, &'a str)];
    let cases: [(Files<'_>, &str, [&str; 2]); 4] = [
        (&[(CURSOR, git)], "", ["git", "got"]),
        (&[(CURSOR, off), (CODEX, codex)], "", ["github", "got"]),
        (
            &[(CURSOR, off)],
            "[servers.git]\nenabled = true\n",
            ["git", "got"],
        ),
        (
            &[(CURSOR, git)],
            "[servers.git]\nproject = '/p'\nenabled = false\n",
            ["git", "got"],
        ),
    ];
    for (files, own, up) in cases {
        assert_eq!(
            that_run(files, own, r#", "env": {"A": "x"}"#),
            up,
            "{files:?} {own}"
        );
    }
}

/// A project's entry in the place of one that another entry is shown for, which is off.
#[test]
fn an_override_of_one_that_is_shown_under_another_name_does_not_bring_it_up() {
    let home = tempfile::tempdir().unwrap();
    let git = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"]}}}"#;
    let codex = "[mcp_servers.github]\ncommand = 'npx'\nargs = ['gh']\n";
    let of_project = format!("{codex}enabled = true\nenv = {{A = 'x'}}\n");
    let files = [
        (CURSOR, git),
        (CODEX, codex),
        ("project/.codex/config.toml", &of_project),
    ];
    let all = trusted_in_home(home.path(), &files, "[servers.git]\nenabled = false\n");
    let on = all.servers.values().filter(|server| server.enabled);
    assert_eq!(on.count(), 0, "{:?}", names(&all));
}

/// One line may have all servers of a file.
#[test]
fn servers_of_one_line_are_not_taken_for_one_another() {
    let cursor = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"], "disabled": true}, "got": {"command": "x"}}}"#;
    let home = tempfile::tempdir().unwrap();
    let of_project =
        r#"{"mcpServers": {"got": {"command": "npx", "args": ["gh"], "env": {"A": "x"}}}}"#;
    let files = [(CURSOR, cursor), ("project/.cursor/mcp.json", of_project)];
    let all = trusted_in_home(home.path(), &files, "");
    let on = all.servers.values().filter(|server| server.enabled);
    assert_eq!(on.count(), 0, "{:?}", names(&all));
}

#[test]
fn a_server_whose_tools_are_all_denied_is_not_taken_for_another_of_its_line() {
    let home = tempfile::tempdir().unwrap();
    let gemini = r#"{"mcpServers": {"a": {"command": "a", "excludeTools": ["*"]}, "b": {"command": "b"}, "c": {"command": "c", "includeTools": []}}}"#;
    let y = r#"{"mcpServers": {"y": {"command": "y"}}}"#;
    let own = "[servers.b]\nexclude_tools = ['*']\n";
    let files = [(".gemini/settings.json", gemini), (PROJECT, y)];
    let all = trusted_in_home(home.path(), &files, own);
    let denied = ["a", "b", "c", "y"].map(|name| all.is_wholly_denied(name));
    assert_eq!(denied, [true, false, true, false]);
}

/// `node index.js` is another program in each folder.
#[test]
fn what_is_off_in_one_folder_is_no_matter_in_another_where_the_folder_decides() {
    let of_project = r#"{"mcpServers": {"got": {"command": "node", "args": ["index.js"]}}}"#;
    for (of_user, is_up) in [
        (r#""cwd": "/old", "disabled": true"#, true),
        (r#""cwd": "/old", "disabled": "yes""#, true),
        (r#""cwd": "/old", "env": 5"#, true),
        (
            r#""cwd": "PROJECT", "env": {"A": "x"}, "disabled": true"#,
            false,
        ),
        (r#""cwd": "PROJECT/.", "disabled": "yes""#, false),
        (r#""env": {"A": "x"}, "disabled": true"#, false),
        (r#""disabled": "yes""#, false),
    ] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("project");
        let of_user = of_user.replace("PROJECT", folder.to_str().unwrap());
        let cursor = format!(
            r#"{{"mcpServers": {{"git": {{"command": "node", "args": ["index.js"], {of_user}}}}}}}"#
        );
        let files = [(CURSOR, cursor.as_str()), (PROJECT, of_project)];
        let all = trusted_in_home(home.path(), &files, "");
        let got = all.servers.get("got");
        assert_eq!(got.is_some_and(|got| got.enabled), is_up, "{of_user}");
    }
}
