//! Denials in and about single entries that do not have the form of their client's.

use super::*;

/// Whoever wrote one entry in another form meant some server.
#[test]
fn an_entry_of_denied_servers_that_nobody_understands_denies_all() {
    for (entry, is_on) in [
        (r#"{"serverName": "other"}"#, true),
        (r#"{"serverName": "other", "reason": 5}"#, true),
        (r#"{"serverName": "other"}, "another""#, true),
        (r#"{"serverCommand": "x"}"#, false),
        (r#"{"serverCommand": ["x", 7]}"#, false),
        (r#"{"serverCommand": []}"#, false),
        (r#"{"serverName": ["srv"]}"#, false),
        (r#"{"serverName": {"srv": true}}"#, false),
        (r#"{"serverName": "other", "serverUrl": 5}"#, false),
        (r#"{"name": "srv"}"#, false),
        (r#"{"srv": true}"#, false),
        (r#"{"serverName": "other"}, ["srv"]"#, false),
        (r#"{"serverName": "other"}, null"#, false),
    ] {
        for (client, servers, text) in [CLAUDE, OF_PROJECT] {
            let home = Home::empty();
            home.write(servers, text);
            let denials = format!(r#"{{"deniedMcpServers": [{entry}]}}"#);
            home.write("home/.claude/settings.json", &denials);
            let expected = if is_on { "read write" } else { "" };
            assert_eq!(shown(&home, client), expected, "{servers} {entry}");
        }
    }
}

/// One text may be several denials, and what is neither text nor list may be any.
#[test]
fn what_is_no_list_of_tools_denies_no_less() {
    const SETTINGS: &str = "home/.claude/settings.json";
    const CLI: &str = "home/.cursor/cli-config.json";
    const PERMISSION: &str = "home/.config/goose/permission.yaml";
    are_shown([
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": "mcp__srv__write"}}"#,
            "read",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": [" mcp__srv__write "]}}"#,
            "read",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": "mcp__srv__write,mcp__srv__read"}}"#,
            "",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": "mcp__a mcp__b"}}"#,
            "",
        ),
        (CLAUDE, SETTINGS, r#"{"permissions": {"deny": true}}"#, ""),
        (CLAUDE, SETTINGS, r#"{"permissions": true}"#, ""),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": false}}"#,
            "read write",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": null}}"#,
            "read write",
        ),
        (
            CURSOR,
            CLI,
            r#"{"permissions": {"deny": "Mcp(srv:write)"}}"#,
            "read",
        ),
        (
            CURSOR,
            CLI,
            r#"{"permissions": {"deny": "Mcp(srv:write),Mcp(srv:read)"}}"#,
            "",
        ),
        (CURSOR, CLI, r#"{"permissions": {"deny": 1}}"#, ""),
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"{"disabledMcpServers": true}"#,
            "",
        ),
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"{"disabledMcpServers": "a, srv"}"#,
            "",
        ),
        (
            GOOSE,
            PERMISSION,
            "user:\n  never_allow:\n    srv__write\n    srv__read\n",
            "",
        ),
        (GOOSE, PERMISSION, "user:\n  never_allow: true\n", ""),
        (
            GOOSE,
            PERMISSION,
            "user:\n  never_allow: ['srv__write ']\n",
            "read",
        ),
    ]);
}

/// A name of a tool may be one of several in a text, and have blanks around it.
#[test]
fn what_may_be_meant_by_an_entrys_list_is_denied() {
    let clients = [
        (Client::Gemini, "home/.gemini/settings.json", "excludeTools"),
        (
            Client::Windsurf,
            "home/.codeium/windsurf/mcp_config.json",
            "disabledTools",
        ),
    ];
    for (client, file, key) in clients {
        for (list, expected) in [
            ("[\"write\"]", "read"),
            ("[\" write \"]", "read"),
            ("[\"x, write\"]", "read"),
            ("\"write\"", "read"),
            ("\"x,write\"", "read"),
            ("\"x write\"", "read"),
            ("\"x; write\"", "read"),
            ("\"writes\"", "read write"),
        ] {
            let home = Home::empty();
            let text =
                format!(r#"{{"mcpServers": {{"srv": {{"command": "x", "{key}": {list}}}}}}}"#);
            home.write(file, &text);
            assert_eq!(shown(&home, client), expected, "{client} {list}");
        }
    }
}

/// A client reads an entry of its user's and one of a project's as one, or takes the project's alone:
/// what the user has denied stays denied in either case.
#[test]
fn an_entry_of_a_projects_keeps_what_the_user_denies() {
    const OFF: &str = "[mcp_servers.srv]\ncommand = 'x'\nenabled = false\n";
    const LESS: &str = "[mcp_servers.srv]\ncommand = 'x'\ndisabled_tools = ['write']\n";
    const ON: &str = "[mcp_servers.srv]\ncommand = 'y'\n";
    const OPENCODE_OFF: &str = r#"{"mcp": {"srv": {"enabled": false}}}"#;
    const OPENCODE: &str = r#"{"mcp": {"srv": {"type": "local", "command": ["y"]}}}"#;
    let codex = ["home/.codex/config.toml", "project/.codex/config.toml"];
    let opencode = [
        "home/.config/opencode/opencode.json",
        "project/opencode.json",
    ];
    const SAME: &str = "[mcp_servers.srv]\ncommand = 'x'\n";
    const SAYS_ON: &str = "[mcp_servers.srv]\ncommand = 'x'\nenabled = true\n";
    const ODD_ON: &str = "[mcp_servers.srv]\ncommand = 'x'\ndisabled = false\n";
    const OTHER_ON: &str = "[mcp_servers.srv]\ncommand = 'x'\ndisable = false\n";
    const BOTH: &str = "[mcp_servers.srv]\ncommand = 'x'\nenabled = true\ndisable = true\n";
    const OPENCODE_ODD: &str =
        r#"{"mcp": {"srv": {"type": "local", "command": ["y"], "disabled": false}}}"#;
    const OPENCODE_ON: &str =
        r#"{"mcp": {"srv": {"type": "local", "command": ["y"], "enabled": true}}}"#;
    const OPENCODE_WHOLE_OFF: &str =
        r#"{"mcp": {"srv": {"type": "local", "command": ["x"], "enabled": false}}}"#;
    const SWITCH_ODD: &str = r#"{"mcp": {"srv": {"disable": false}}}"#;
    const ODD: &str = "[mcp_servers.srv]\ncommand = 'x'\nenabled = 'false'\n";
    const WRONG: &str = "[mcp_servers.srv]\ncommand = 'x'\nenabled = false\nenv = 5\n";
    const ALONE: &str = "[mcp_servers.srv]\ndisabled_tools = ['write']\n";
    const TORN: &str = "[mcp_servers.srv]\ncommand = 'x'\ndisabled_tools = ['write'\n";
    for (client, files, of_user, of_project, expected) in [
        (Client::Codex, codex, ON, ON, "read write"),
        (Client::Codex, codex, OFF, ON, ""),
        (Client::Codex, codex, LESS, ON, "read"),
        (Client::Codex, codex, OFF, SAME, ""),
        (Client::Codex, codex, OFF, SAYS_ON, "read write"),
        (Client::Codex, codex, LESS, SAME, "read"),
        (Client::Codex, codex, ODD, ON, ""),
        (Client::Codex, codex, WRONG, ON, ""),
        (Client::Codex, codex, ALONE, ON, ""),
        (Client::Codex, codex, TORN, ON, ""),
        (Client::Codex, codex, OFF, ODD_ON, ""),
        (Client::Codex, codex, OFF, OTHER_ON, ""),
        (Client::Codex, codex, OFF, BOTH, ""),
        (Client::OpenCode, opencode, OPENCODE_OFF, OPENCODE, ""),
        (Client::OpenCode, opencode, OPENCODE_OFF, OPENCODE_ODD, ""),
        (
            Client::OpenCode,
            opencode,
            OPENCODE_WHOLE_OFF,
            SWITCH_ODD,
            "",
        ),
        (
            Client::OpenCode,
            opencode,
            OPENCODE_WHOLE_OFF,
            OPENCODE_ON,
            "read write",
        ),
        (Client::OpenCode, opencode, "{}", OPENCODE, "read write"),
    ] {
        let home = Home::empty();
        home.write(files[0], of_user);
        home.write(files[1], of_project);
        // What another client of the user's has of the user's server changes nothing.
        if of_project == ON {
            home.write(
                "home/.claude.json",
                r#"{"mcpServers": {"q": {"command": "x"}}}"#,
            );
        }
        let clients = [Client::ClaudeCode, client];
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        let merged = merge(&discovery, &|_| true);
        let mut servers = merged.servers.values().map(|choice| &choice.server);
        let is_of_project = |scope: &Scope| matches!(scope, Scope::Project(_));
        let server = servers
            .find(|server| is_of_project(&server.origin.scope))
            .unwrap();
        let filter = &server.bridge().unwrap().filter;
        let tools = ["read", "write"].into_iter();
        let shown: Vec<_> = tools
            .filter(|tool| server.enabled && filter.shows(tool))
            .collect();
        assert_eq!(shown.join(" "), expected, "{client} {of_user}");
    }
}

/// Any key that switches a server off does so, whatever another one says.
#[test]
fn an_entry_that_is_off_by_any_key_is_off() {
    for (client, file, table, entry) in [
        (
            Client::OpenCode,
            "home/.config/opencode/opencode.json",
            "mcp",
            r#""type": "local", "command": ["x"]"#,
        ),
        (
            Client::Gemini,
            "home/.gemini/settings.json",
            "mcpServers",
            r#""command": "x""#,
        ),
        (
            Client::Zed,
            "home/.config/zed/settings.json",
            "context_servers",
            r#""command": "x""#,
        ),
    ] {
        for (switches, is_on) in [
            (r#""enabled": false, "disabled": false"#, false),
            (r#""enabled": false, "disable": false"#, false),
            (r#""disabled": true, "disable": false"#, false),
            (r#""disabled": true, "enabled": true"#, false),
            (r#""disable": true, "enabled": true"#, false),
            (r#""enabled": true, "disabled": false"#, true),
            (r#""disable": false"#, true),
        ] {
            let home = Home::empty();
            let text = format!(r#"{{"{table}": {{"srv": {{{entry}, {switches}}}}}}}"#);
            home.write(file, text);
            let expected = if is_on { "read write" } else { "" };
            assert_eq!(shown(&home, client), expected, "{client} {switches}");
        }
    }
}
