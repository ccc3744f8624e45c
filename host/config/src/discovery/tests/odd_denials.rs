//! Denials that do not have the form of their client's: nobody finds out what they deny, or a
//! client's own code reads them all the same.

use super::*;

/// File of a client's servers, with its text.
type Servers = (Client, &'static str, &'static str);

const OF_JSON: &str = r#"{"mcpServers": {"srv": {"command": "x"}}}"#;
const CLAUDE: Servers = (Client::ClaudeCode, "home/.claude.json", OF_JSON);
const OF_PROJECT: Servers = (Client::ClaudeCode, "project/.mcp.json", OF_JSON);
const COPILOT: Servers = (Client::Copilot, "home/.copilot/mcp-config.json", OF_JSON);
const CURSOR: Servers = (Client::Cursor, "home/.cursor/mcp.json", OF_JSON);
const GOOSE: Servers = (
    Client::Goose,
    "home/.config/goose/config.yaml",
    "extensions:\n  srv:\n    type: stdio\n    cmd: x\n    enabled: true\n",
);

/// Returns the tools of `read` and `write` that a server's client may call.
fn shown(home: &Home, client: Client) -> String {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    let server = &discovery.found[0].server;
    let is_on = server.enabled && server.denied.is_none();
    let filter = &server.bridge().unwrap().filter;
    let tools = ["read", "write"].into_iter();
    let shown = tools.filter(|tool| is_on && filter.shows(tool));
    shown.collect::<Vec<_>>().join(" ")
}

/// Checks what is shown of servers with a file of denials.
fn are_shown<const N: usize>(cases: [(Servers, &str, &str, &str); N]) {
    for ((client, servers, text), file, denials, expected) in cases {
        let home = Home::empty();
        home.write(servers, text);
        home.write(file, denials);
        assert_eq!(shown(&home, client), expected, "{client} {denials}");
    }
}

#[test]
fn what_has_another_form_denies_no_less() {
    const BOTH: &str = "read write";
    const SETTINGS: &str = "home/.claude/settings.json";
    are_shown([
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"{"disabledMcpServers": "srv"}"#,
            "",
        ),
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"{"disabledMcpServers": "x"}"#,
            BOTH,
        ),
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"{"disabledMcpServers": {"srv": true}}"#,
            "",
        ),
        (
            COPILOT,
            "home/.copilot/config.json",
            r#"[{"disabledMcpServers": ["srv"]}]"#,
            "",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"permissions": {"deny": ["mcp__srv__write(*)"]}}"#,
            "read",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"[{"permissions": {"deny": ["mcp__srv__write"]}}]"#,
            "",
        ),
        (
            CLAUDE,
            SETTINGS,
            r#"{"disabledMcpjsonServers": "srv"}"#,
            BOTH,
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"disabledMcpjsonServers": "srv"}"#,
            "",
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"disabledMcpjsonServers": {"srv": true}}"#,
            "",
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"enabledMcpjsonServers": "other"}"#,
            "",
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"enabledMcpjsonServers": {"other": true}}"#,
            "",
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"enabledMcpjsonServers": "srv"}"#,
            BOTH,
        ),
        (
            OF_PROJECT,
            SETTINGS,
            r#"{"enabledMcpjsonServers": null}"#,
            BOTH,
        ),
        (
            CURSOR,
            "home/.cursor/cli-config.json",
            r#"{"permissions": ["Mcp(srv:write)"]}"#,
            "",
        ),
        (
            CURSOR,
            "home/.cursor/cli-config.json",
            r#"[{"permissions": {}}]"#,
            "",
        ),
        (
            CURSOR,
            "home/.cursor/cli-config.json",
            r#"{"permissions": null}"#,
            BOTH,
        ),
        (
            GOOSE,
            "home/.config/goose/permission.yaml",
            "user: [srv__write]\n",
            "",
        ),
        (
            GOOSE,
            "home/.config/goose/permission.yaml",
            "user:\n  never_allow: []\n",
            BOTH,
        ),
    ]);
}

/// These are in the file of the servers themselves.
#[test]
fn switches_beside_the_servers_that_have_another_form_deny_no_less() {
    const GEMINI: &str = "home/.gemini/settings.json";
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    for (client, file, switches, expected) in [
        (Client::Gemini, GEMINI, r#""mcp": {"excluded": "srv"}"#, ""),
        (
            Client::Gemini,
            GEMINI,
            r#""mcp": {"excluded": ["x"]}"#,
            "read write",
        ),
        (
            Client::Gemini,
            GEMINI,
            r#""mcp": {"excluded": [["srv"]]}"#,
            "",
        ),
        (Client::Gemini, GEMINI, r#""mcp": {"allowed": "other"}"#, ""),
        (
            Client::Gemini,
            GEMINI,
            r#""mcp": {"allowed": {"other": true}}"#,
            "",
        ),
        (
            Client::Gemini,
            GEMINI,
            r#""mcp": {"allowed": ["srv"]}"#,
            "read write",
        ),
        (Client::Gemini, GEMINI, r#""mcp": ["srv"]"#, ""),
        (Client::Gemini, GEMINI, r#""excludeMCPServers": "srv""#, ""),
        (Client::Gemini, GEMINI, r#""allowMCPServers": "other""#, ""),
        (Client::Gemini, GEMINI, r#""tools": ["write"]"#, ""),
        (
            Client::OpenCode,
            OPENCODE,
            r#""tools": {"srv_write": "false"}"#,
            "read",
        ),
        (Client::OpenCode, OPENCODE, r#""tools": ["srv_write"]"#, ""),
        (
            Client::OpenCode,
            OPENCODE,
            r#""permission": {"srv_write": false}"#,
            "read",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            r#""permission": {"srv_write": "ask"}"#,
            "read write",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            r#""permission": ["srv_write"]"#,
            "",
        ),
    ] {
        let servers = match client {
            Client::OpenCode => r#""mcp": {"srv": {"type": "local", "command": ["x"]}}"#,
            _ => r#""mcpServers": {"srv": {"command": "x"}}"#,
        };
        let home = Home::empty();
        home.write(file, format!("{{{servers}, {switches}}}"));
        assert_eq!(shown(&home, client), expected, "{client} {switches}");
    }
    for (enabled, expected) in [("true", "read write"), ("\"false\"", ""), ("0", "")] {
        let home = Home::empty();
        home.write(GEMINI, OF_JSON);
        let text = format!(r#"{{"srv": {{"enabled": {enabled}}}}}"#);
        home.write("home/.gemini/mcp-server-enablement.json", text);
        assert_eq!(shown(&home, Client::Gemini), expected, "{enabled}");
    }
}

/// The target of such a link may come back, and may have denied something.
#[cfg(unix)]
#[test]
fn links_to_nothing_and_folders_that_cannot_be_listed_deny_all() {
    use std::os::unix::fs::symlink;

    for ((client, servers, text), file) in [
        (CLAUDE, "home/.claude/settings.json"),
        (CLAUDE, "system/claude-code/managed-settings.d"),
        (COPILOT, "home/.copilot/config.json"),
        (CURSOR, "home/.cursor/cli-config.json"),
        (GOOSE, "home/.config/goose/permission.yaml"),
        (
            (Client::Gemini, "home/.gemini/settings.json", OF_JSON),
            "home/.gemini/policies",
        ),
    ] {
        for target in ["nowhere", "there"] {
            let home = Home::empty();
            home.write(servers, text);
            assert_eq!(shown(&home, client), "read write", "{client} {file}");
            let link = home.path("").join(file);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            // In place of a folder.
            if target == "there" && !file.contains('.') {
                std::fs::write(&link, "a file").unwrap();
            } else {
                symlink("nowhere", &link).unwrap();
            }
            assert_eq!(shown(&home, client), "", "{client} {file}");
        }
    }
}

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

/// The user's rules hold for a project's servers as much as for their own.
#[test]
fn rules_that_cannot_be_read_deny_the_servers_of_projects() {
    for (client, servers, rules) in [
        (Client::ClaudeCode, ".mcp.json", ".claude/settings.json"),
        (Client::ClaudeCode, ".mcp.json", ".claude.json"),
        (Client::Copilot, ".mcp.json", ".copilot/config.json"),
        (
            Client::Cursor,
            ".cursor/mcp.json",
            ".cursor/cli-config.json",
        ),
        (
            Client::Gemini,
            ".gemini/settings.json",
            ".gemini/settings.json",
        ),
        (
            Client::Gemini,
            ".gemini/settings.json",
            ".gemini/mcp-server-enablement.json",
        ),
        (
            Client::OpenCode,
            "opencode.json",
            ".config/opencode/opencode.json",
        ),
    ] {
        let home = Home::empty();
        let text = match client {
            Client::OpenCode => r#"{"mcp": {"srv": {"type": "local", "command": ["x"]}}}"#,
            _ => OF_JSON,
        };
        home.write(&format!("project/{servers}"), text);
        assert_eq!(shown(&home, client), "read write", "{client}");
        home.write(&format!("home/{rules}"), r#"{"a": "b"#);
        assert_eq!(shown(&home, client), "", "{client} {rules}");
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
        (Client::OpenCode, opencode, OPENCODE_OFF, OPENCODE, ""),
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
