//! Denials that do not have the form of their client's: nobody finds out what they deny, or a
//! client's own code reads them all the same.

mod entries;
mod unusable_entries;

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

/// Somebody who writes a list in place of a table may have switched a server off in it.
#[test]
fn what_stands_in_place_of_servers_denies_those_of_projects() {
    const CODEX: (&str, &str) = (".codex/config.toml", "[mcp_servers.srv]\ncommand = 'x'\n");
    let json = |key: &str| format!(r#"{{"{key}": {{"srv": {{"command": "x"}}}}}}"#);
    let servers = json("mcpServers");
    let opencode = r#"{"mcp": {"srv": {"type": "local", "command": ["x"]}}}"#;
    for (client, (project, text), user, key) in [
        (
            Client::Cursor,
            (".cursor/mcp.json", servers.as_str()),
            ".cursor/mcp.json",
            "mcpServers",
        ),
        (
            Client::Copilot,
            (".github/mcp.json", &servers),
            ".copilot/mcp-config.json",
            "mcpServers",
        ),
        (
            Client::ClaudeCode,
            (".mcp.json", &servers),
            ".claude.json",
            "mcpServers",
        ),
        (
            Client::OpenCode,
            ("opencode.json", opencode),
            ".config/opencode/opencode.json",
            "mcp",
        ),
        (
            Client::Zed,
            (".zed/settings.json", &json("context_servers")),
            ".config/zed/settings.json",
            "context_servers",
        ),
        (Client::Codex, CODEX, ".codex/config.toml", "mcp_servers"),
    ] {
        for (content, is_on) in [
            (r#"[{"name": "srv", "disabled": true}]"#, false),
            (r#"["srv"]"#, false),
            (r#""srv""#, false),
            ("true", false),
            ("[]", true),
            ("{}", true),
            ("false", true),
        ] {
            let home = Home::empty();
            home.write(&format!("project/{project}"), text);
            home.write(
                &format!("home/{user}"),
                match client {
                    Client::Codex => format!("{key} = {}\n", content.replace(':', " =")),
                    _ => format!(r#"{{"{key}": {content}}}"#),
                },
            );
            let expected = if is_on { "read write" } else { "" };
            assert_eq!(shown(&home, client), expected, "{client} {content}");
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
