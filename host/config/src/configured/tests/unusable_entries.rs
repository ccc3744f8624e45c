//! Entries of the user's that cannot be used: what they deny, no file of a trusted project brings
//! back under another name.

use super::*;

const CURSOR: &str = ".cursor/mcp.json";
const OPENCODE: &str = ".config/opencode/opencode.json";

/// Returns the names of the servers that are on and run `npx gh`, or reach the URL of that.
fn that_run(all: &Configured) -> Vec<&str> {
    let servers = all.servers.values().filter(|server| server.enabled);
    let servers = servers.filter(|server| {
        server.bridge().is_some_and(|bridge| match &bridge.launch {
            Launch::Stdio(stdio) => stdio.command == "npx" && stdio.args == ["gh"],
            Launch::Http(http) => http.url == "https://example.com/mcp",
        })
    });
    servers.map(|server| server.name.as_str()).collect()
}

/// Checks that a project which has the same under another name is not heard, whichever client's
/// file it is in, and whatever variables it adds.
fn keeps_off(file: &str, text: &str, is_shown: bool) {
    let same = r#""command": "npx", "args": ["gh"]"#;
    for (project, entry) in [
        (".cursor/mcp.json", same.to_owned()),
        (".mcp.json", same.to_owned()),
        (".mcp.json", format!(r#"{same}, "env": {{"A": "x"}}"#)),
        (
            ".mcp.json",
            r#""type": "http", "url": "https://example.com/mcp""#.to_owned(),
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let project = format!("project/{project}");
        // So that there is something to trust in any case.
        let of_project =
            format!(r#"{{"mcpServers": {{"got": {{{entry}}}, "y": {{"command": "y"}}}}}}"#);
        let files = [(file, text), (&project, &of_project)];
        let all = trusted_in_home(home.path(), &files, "");
        let has_url = entry.contains("url");
        if text.contains("https") != has_url {
            continue;
        }
        assert_eq!(that_run(&all), [""; 0], "{text} {of_project}");
        let told = all.overridden.iter().any(|one| one.name == "got");
        let is_off = all.servers.get("got").is_some_and(|got| !got.enabled);
        assert!(told || is_off, "{text} {of_project}");
        let refused = all.servers.get("git").and_then(ServerConfig::refused);
        assert_eq!(refused.is_some(), is_shown, "{text}");
        if let Some(refused) = refused {
            assert!(!refused.problems.is_empty(), "{text}");
            let place = refused.for_models();
            assert!(place.contains(&refused.origin.to_string()), "{place}");
        }
    }
}

#[test]
fn what_an_entry_with_something_wrong_denies_does_not_come_up_under_another_name() {
    let launch = r#""command": "npx", "args": ["gh"]"#;
    for wrong in [
        r#""disabled": "yes""#,
        r#""disabled": 1"#,
        r#""disable": "x""#,
        r#""enabled": "false""#,
        r#""enabled": 0"#,
        r#""enabled": []"#,
        r#""enabled": "true""#,
        r#""disabled": true, "enabled": "x""#,
        r#""disabled": true, "env": 5"#,
        r#""disabled": true, "env": {"A": ["x"]}"#,
        r#""disabled": true, "env": {"A=b": "x"}"#,
        r#""disabled": true, "cwd": 5"#,
        r#""disabled": true, "type": 5"#,
        r#""disabled": true, "type": "http""#,
    ] {
        let text = format!(r#"{{"mcpServers": {{"git": {{{launch}, {wrong}}}}}}}"#);
        keeps_off(CURSOR, &text, true);
    }
    for entry in [
        r#""command": "npx", "args": "gh", "disabled": true"#,
        r#""command": "npx", "args": ["gh", {}], "disabled": true"#,
        r#""command": ["npx", 5, null, "gh"], "args": {}, "enabled": "off""#,
        r#""url": "https://example.com/mcp", "disabled": "yes""#,
        r#""url": "https://example.com/mcp", "headers": 5, "disabled": true"#,
        r#""url": "https://example.com/mcp", "headers": {"a": {}}, "disabled": true"#,
        r#""url": "https://example.com/mcp", "type": "stdio", "disabled": true"#,
    ] {
        let entry = entry.replace("5, null, ", "null, ");
        let text = format!(r#"{{"mcpServers": {{"git": {{{entry}}}}}}}"#);
        keeps_off(CURSOR, &text, true);
    }
    // Nothing is wrong in it, but nobody else can use it.
    let text =
        format!(r#"{{"mcpServers": {{"git": {{{launch}, "type": "weird", "disabled": true}}}}}}"#);
    keeps_off(CURSOR, &text, false);
}

#[test]
fn an_odd_switch_is_off_in_the_files_of_any_client() {
    let json = |key: &str, entry: &str| format!(r#"{{"{key}": {{"git": {{{entry}}}}}}}"#);
    let odd = r#""command": "npx", "args": ["gh"], "disabled": "yes""#;
    for (file, text) in [
        (".claude.json", json("mcpServers", odd)),
        (".gemini/settings.json", json("mcpServers", odd)),
        (".config/Code/User/mcp.json", json("servers", odd)),
        (".copilot/mcp-config.json", json("mcpServers", odd)),
        (".codeium/windsurf/mcp_config.json", json("mcpServers", odd)),
        (
            OPENCODE,
            json("mcp", r#""type": "local", "command": ["npx", "gh"], "enabled": "false""#),
        ),
        (
            ".config/zed/settings.json",
            json(
                "context_servers",
                r#""command": {"path": "npx", "args": ["gh"]}, "enabled": "false""#,
            ),
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.git]\ncommand = 'npx'\nargs = ['gh']\nenabled = 'false'\n".to_owned(),
        ),
        (
            ".codex/config.toml",
            "[mcp_servers.git]\nurl = 'https://example.com/mcp'\nbearer_token_env_var = 5\n\
             enabled = false\n"
                .to_owned(),
        ),
        (
            ".config/goose/config.yaml",
            "extensions:\n  git:\n    type: stdio\n    cmd: npx\n    args: [gh]\n    enabled: 'no'\n"
                .to_owned(),
        ),
        (
            ".continue/config.yaml",
            "mcpServers:\n  - name: git\n    command: npx\n    args: [gh]\n    disabled: 'yes'\n"
                .to_owned(),
        ),
    ] {
        keeps_off(file, &text, true);
    }
}

/// A list stands in place of a table, or a table in place of a list, or an item has no name.
#[test]
fn servers_in_another_form_than_their_clients_do_not_come_up_under_another_name() {
    let item = r#"[{"name": "git", "command": "npx", "args": ["gh"], "disabled": true}]"#;
    let text = format!(r#"{{"mcpServers": {item}}}"#);
    keeps_off(CURSOR, &text, true);
    keeps_off(".codeium/windsurf/mcp_config.json", &text, true);
    keeps_off(
        OPENCODE,
        r#"{"mcp": [{"name": "git", "type": "local", "command": ["npx", "gh"], "enabled": false}]}"#,
        true,
    );
    let table = "mcpServers:\n  git:\n    command: npx\n    args: [gh]\n    disabled: true\n";
    keeps_off(".continue/config.yaml", table, true);
    let nameless = "mcpServers:\n  - command: npx\n    args: [gh]\n    disabled: true\n";
    keeps_off(".continue/config.yaml", nameless, false);
}

/// Also where nothing is wrong in the user's entry.
#[test]
fn what_is_switched_off_does_not_come_up_with_other_variables() {
    let home = tempfile::tempdir().unwrap();
    let off = r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"], "env": {"A": "1"},
        "disabled": true}}}"#;
    let got = r#"{"mcpServers": {"got": {"command": "npx", "args": ["gh"]}}}"#;
    let files = [(CURSOR, off), ("project/.mcp.json", got)];
    let all = trusted_in_home(home.path(), &files, "");
    assert_eq!(names(&all), ["git"]);
    assert_eq!(that_run(&all), [""; 0]);
    // A server that the user has on with other variables is another one.
    let on = off.replace(r#""disabled": true"#, r#""disabled": false"#);
    let home = tempfile::tempdir().unwrap();
    let files = [(CURSOR, on.as_str()), ("project/.mcp.json", got)];
    let all = trusted_in_home(home.path(), &files, "");
    assert_eq!(that_run(&all), ["git", "got"]);
}

/// An entry of a project's counts in the place of the user's for its own client.
#[test]
fn an_entry_that_says_that_the_users_is_on_may_have_other_variables() {
    const CODEX: &str = ".codex/config.toml";
    let off = "[mcp_servers.git]\ncommand = 'npx'\nargs = ['gh']\nenabled = false\n";
    let odd = off.replace("false", "'false'");
    let second = off.replace(".git", ".other") + off;
    for (user, says, expected) in [
        (off, "enabled = true\n", vec!["git"]),
        (off, "", vec![]),
        (&odd, "enabled = true\n", vec![]),
        (
            &(odd.replace(".git", ".other") + off),
            "enabled = true\n",
            vec![],
        ),
        (&second, "", vec![]),
    ] {
        let home = tempfile::tempdir().unwrap();
        let of_project = format!(
            "[mcp_servers.git]\ncommand = 'npx'\nargs = ['gh']\nenv = {{ A = 'x' }}\n{says}\
             [mcp_servers.y]\ncommand = 'y'\n"
        );
        let project = format!("project/{CODEX}");
        let files = [(CODEX, user), (&project, of_project.as_str())];
        let all = trusted_in_home(home.path(), &files, "");
        assert_eq!(that_run(&all), expected, "{user} {says}");
    }
}

#[test]
fn a_table_of_the_users_own_file_with_a_wrong_name_denies_what_it_runs() {
    let home = tempfile::tempdir().unwrap();
    let got = r#"{"mcpServers": {"got": {"command": "npx", "args": ["gh"]}}}"#;
    let own = "[servers.'g i t']\ncommand = 'npx'\nargs = ['gh']\nenabled = false\n";
    let all = trusted_in_home(home.path(), &[("project/.mcp.json", got)], own);
    assert_eq!(names(&all), [""; 0]);
    assert_eq!(all.own_problems.len(), 1);
}

/// Its fault may be in the launch itself.
#[test]
fn a_table_of_the_users_own_file_with_a_wrong_launch_denies_what_it_may_run() {
    let got = r#"{"mcpServers": {"got": {"command": "npx", "args": ["gh"], "env": {"A": "x"}},
        "five": {"command": "npx", "args": ["gh", "5"]}, "y": {"command": "y"}}}"#;
    let run = "command = 'npx'\nargs = ['gh']\n";
    for (table, number_is_up) in [
        ("command = 'npx'\nargs = ['gh', 5]\n".to_owned(), false),
        ("command = 'npx'\nargs = 'gh'\n".to_owned(), true),
        (
            "command = ['npx']\nargs = 'gh'\nenabled = false\n".to_owned(),
            true,
        ),
        (format!("{run}url = 'https://example.com/mcp'\n"), true),
        (format!("{run}component = 5\n"), true),
        (format!("{run}env = 5\n"), true),
        (format!("{run}type = 'http'\n"), true),
    ] {
        let home = tempfile::tempdir().unwrap();
        let own = format!("[servers.git]\n{table}");
        let all = trusted_in_home(home.path(), &[("project/.mcp.json", got)], &own);
        assert!(all.servers["git"].refused().is_some(), "{own}");
        let is_up = |name: &str| all.servers.contains_key(name);
        assert!(is_up("y"), "{own}");
        assert_eq!(
            [is_up("got"), is_up("five")],
            [!number_is_up, number_is_up],
            "{own}"
        );
    }
}

/// It is as if it were off there: others have it still.
#[test]
fn a_client_with_an_odd_switch_does_not_get_the_server_of_another_client() {
    let codex = "[mcp_servers.other]\ncommand = 'npx'\nargs = ['gh']\n";
    for switch in ["true", "\"yes\"", "1"] {
        let home = tempfile::tempdir().unwrap();
        let cursor = format!(
            r#"{{"mcpServers": {{"git": {{"command": "npx", "args": ["gh"], "disabled": {switch}}}}}}}"#
        );
        let files = [
            (CURSOR, cursor.as_str()),
            (".codex/config.toml", codex),
            (
                "project/.mcp.json",
                r#"{"mcpServers": {"y": {"command": "y"}}}"#,
            ),
        ];
        let all = trusted_in_home(home.path(), &files, "");
        let [name] = that_run(&all)[..] else {
            panic!("{:?}", names(&all));
        };
        let is_on = |client| all.servers[name].for_client(Some(client)).enabled;
        assert!(is_on(Client::Codex) && !is_on(Client::Cursor), "{switch}");
    }
}

/// Whoever mends the entry has it as it was meant; until then its user's own table says no more of it
/// than whether it is on.
#[test]
fn a_table_for_an_entry_that_cannot_be_used_switches_nothing_on() {
    let home = tempfile::tempdir().unwrap();
    let cursor =
        r#"{"mcpServers": {"git": {"command": "npx", "args": ["gh"], "disabled": "yes"}}}"#;
    let files = [
        (CURSOR, cursor),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"y": {"command": "y"}}}"#,
        ),
    ];
    let own = "[servers.git]\nenabled = true\nexclude_tools = ['x']\n";
    let all = trusted_in_home(home.path(), &files, own);
    let refused = all.servers["git"].refused().unwrap();
    assert!(
        refused.problems[0]
            .message
            .contains("has to be true or false")
    );
    assert_eq!(that_run(&all), [""; 0]);
}
