//! Rules that clients keep apart from their servers, or that only they hear.

use super::*;

#[test]
fn rules_that_only_a_client_hears_are_told() {
    const AMP: (Client, &str) = (Client::Amp, "home/.config/amp/settings.json");
    const ZED: (Client, &str) = (Client::Zed, "home/.config/zed/settings.json");
    const OPENCODE: (Client, &str) = (Client::OpenCode, "home/.config/opencode/opencode.json");
    let mut last = None;
    for ((client, file), rules, told) in [
        (
            AMP,
            r#""amp.permissions": [{"tool": "mcp__s__b", "action": "reject"}]"#,
            true,
        ),
        (
            AMP,
            r#""amp.permissions": [{"tool": "mcp__s__b", "action": "allow"}]"#,
            false,
        ),
        (
            AMP,
            r#""amp.permissions": [{"tool": "Bash", "action": "reject"}]"#,
            false,
        ),
        (
            AMP,
            r#""amp.mcpPermissions": [{"matches": {}, "action": "reject"}]"#,
            true,
        ),
        (
            ZED,
            r#""agent": {"tool_permissions": {"tools": {"mcp:s:b": {"default": "deny"}}}}"#,
            true,
        ),
        (
            ZED,
            r#""agent": {"tool_permissions": {"tools": {"terminal": {"default": "deny"}}}}"#,
            false,
        ),
        (
            ZED,
            r#""agent": {"tool_permissions": {"default": "deny"}}"#,
            true,
        ),
        (
            OPENCODE,
            r#""agent": {"build": {"permission": {"s_b": "deny"}}}"#,
            true,
        ),
        (
            OPENCODE,
            r#""agent": {"build": {"tools": {"s_*": false}}}"#,
            true,
        ),
        (
            OPENCODE,
            r#""agent": {"build": {"permission": {"bash": "deny"}}}"#,
            false,
        ),
        (
            OPENCODE,
            r#""mode": {"build": {"tools": {"s_*": false}}}"#,
            true,
        ),
        (
            ZED,
            r#""agent": {"profiles": {"p": {"context_servers": {"s": {"tools": {"b": true}}}}}}"#,
            false,
        ),
        (
            ZED,
            r#""agent": {"profiles": {"p": {"enable_all_context_servers": true,
                "context_servers": {"s": {"tools": {"b": false}}}}}}"#,
            true,
        ),
    ] {
        let home = Home::empty();
        let servers = match client {
            Client::Amp => r#""amp.mcpServers": {"s": {"command": "x"}}"#,
            Client::Zed => r#""context_servers": {"s": {"command": "x"}}"#,
            _ => r#""mcp": {"s": {"type": "local", "command": ["x"]}}"#,
        };
        home.write(file, format!("{{{servers}, {rules}}}"));
        let discovery = discover_all(&home.around(), &[client], &Inputs::new());
        let notes = &discovery.found[0].own.notes;
        assert_eq!(notes.len(), usize::from(told), "{rules} {notes:?}");
        // Such a server stays where the rules are heard.
        assert_eq!(leaves(&home, client, ""), !told, "{rules}");
        last = Some((home, client));
    }
    // Until its user has written down here what is not to be shown.
    let (home, client) = last.unwrap();
    let own = "[servers.s]\ncommand = ['x']\nexclude_tools = ['b']\n";
    assert!(leaves(&home, client, own));
}

/// Whether a client's server leaves its file where Dormouse comes in its place.
fn leaves(home: &Home, client: Client, own: &str) -> bool {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    let wanted = ImportRequest {
        clients: &[client],
        replace: Some(&name_taken::program()),
        force: false,
        longest_call: std::time::Duration::ZERO,
    };
    let file = home.path("home/dormouse.toml");
    if !own.is_empty() {
        home.write("home/dormouse.toml", own);
    }
    let config = crate::file::parse_usable(&file, own).unwrap();
    let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
    let changes = import.changes.iter();
    let mut of_client = changes.filter(|change| change.file != file);
    of_client.any(|change| !change.after.contains("\"x\""))
}

/// Rules that clients keep in files of their own.
#[test]
fn what_a_file_of_rules_denies_is_denied() {
    const SERVERS: &str = r#"{"mcpServers": {"My s": {"command": "x"}}}"#;
    const GEMINI: (Client, &str, &str) = (Client::Gemini, "home/.gemini/settings.json", SERVERS);
    const GOOSE: (Client, &str, &str) = (
        Client::Goose,
        "home/.config/goose/config.yaml",
        "extensions:\n  My s:\n    type: stdio\n    cmd: x\n    enabled: true\n",
    );
    const CURSOR: (Client, &str, &str) = (Client::Cursor, "home/.cursor/mcp.json", SERVERS);
    const COPILOT: (Client, &str, &str) =
        (Client::Copilot, "home/.copilot/mcp-config.json", SERVERS);
    const SETTINGS: &str = "home/.copilot/config.json";
    const SWITCHES: &str = "home/.gemini/mcp-server-enablement.json";
    const PERMISSIONS: &str = "home/.config/goose/permission.yaml";
    const COMMAND_LINE: &str = "home/.cursor/cli-config.json";
    let too_many = vec!["\"Shell(rm)\""; 501].join(",");
    let too_many = format!("{{\"permissions\": {{\"deny\": [{too_many}]}}}}");
    for ((client, servers, text), file, rules, is_on, denied) in [
        (
            COPILOT,
            SETTINGS,
            r#"{"disabledMcpServers": ["My s"]}"#,
            false,
            "",
        ),
        (
            COPILOT,
            SETTINGS,
            r#"{"disabledMcpServers": ["s"]}"#,
            true,
            "",
        ),
        (
            GEMINI,
            SWITCHES,
            r#"{"my s": {"enabled": false}}"#,
            false,
            "",
        ),
        (
            GEMINI,
            SWITCHES,
            r#"{"my s": {"enabled": true}, "s": {"enabled": false}}"#,
            true,
            "",
        ),
        (GEMINI, SWITCHES, "{", false, ""),
        (
            GOOSE,
            PERMISSIONS,
            "user:\n  never_allow: [mys__delete]\n",
            true,
            "delete",
        ),
        (
            GOOSE,
            PERMISSIONS,
            "user:\n  never_allow: [my_s__delete]\n",
            true,
            "delete",
        ),
        (
            GOOSE,
            PERMISSIONS,
            "user:\n  ask_before: [mys__delete]\n",
            true,
            "",
        ),
        (GOOSE, PERMISSIONS, "- [", false, ""),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": ["Mcp(My s:delete)"]}}"#,
            true,
            "delete",
        ),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": ["Mcp(M*, del*)"]}}"#,
            true,
            "delete",
        ),
        (
            CURSOR,
            "home/.config/cursor/cli-config.json",
            r#"{"permissions": {"deny": ["Mcp(*:delete)", "Shell(rm)"]}}"#,
            true,
            "delete",
        ),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": ["Mcp(other:delete)"]}}"#,
            true,
            "",
        ),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": "Mcp(My s:delete)"}}"#,
            true,
            "delete",
        ),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": {"Mcp(other:delete)": true}}}"#,
            true,
            "all",
        ),
        (
            CURSOR,
            COMMAND_LINE,
            r#"{"permissions": {"deny": ["Shell(rm)", ["Mcp(other:x)"]]}}"#,
            true,
            "all",
        ),
        (CURSOR, COMMAND_LINE, &too_many, true, "all"),
        (
            GOOSE,
            PERMISSIONS,
            "user:\n  never_allow: mys__delete\n",
            true,
            "delete",
        ),
    ] {
        let home = Home::empty();
        home.write(servers, text);
        home.write(file, rules);
        let discovery = discover_all(&home.around(), &[client], &Inputs::new());
        let server = &discovery.found[0].server;
        assert_eq!(server.enabled, is_on, "{client} {rules}");
        let filter = &server.bridge().unwrap().filter;
        assert_eq!(
            !filter.shows("delete"),
            !denied.is_empty(),
            "{client} {rules}"
        );
        assert_eq!(filter.shows("read"), denied != "all", "{client} {rules}");
        let mut files = discovery.sources.iter().map(|source| &source.file);
        assert!(
            files.any(|known| *known == home.path(file)),
            "{client} {rules}"
        );
    }
}

/// Of Gemini's policies, one goes before another: which of them counts is left to Gemini.
#[test]
fn geminis_policies_are_told() {
    for (rule, told) in [
        ("mcpName = 's'\ntoolName = 'b'\ndecision = 'deny'", true),
        ("toolName = 'mcp_s_b'\ndecision = 'deny'", true),
        ("toolName = ['a', '*']\ndecision = 'deny'", true),
        ("toolName = 'run_shell_command'\ndecision = 'deny'", false),
        ("mcpName = 's'\ndecision = 'allow'", false),
    ] {
        for file in [
            "home/.gemini/policies/a.toml",
            "system/gemini-cli/policies/b.toml",
        ] {
            let home = Home::empty();
            home.write(
                "home/.gemini/settings.json",
                r#"{"mcpServers": {"s": {"command": "x"}}}"#,
            );
            home.write(file, format!("[[rule]]\n{rule}\npriority = 1\n"));
            let discovery = discover_all(&home.around(), &[Client::Gemini], &Inputs::new());
            let notes = &discovery.found[0].own.notes;
            assert_eq!(notes.len(), usize::from(told), "{rule} {notes:?}");
        }
    }
}

/// Policies that are not read may deny a server.
#[test]
fn of_too_many_policies_of_geminis_nobody_knows_what_they_deny() {
    for (count, is_on) in [(200, true), (201, false)] {
        let home = Home::empty();
        home.write(
            "home/.gemini/settings.json",
            r#"{"mcpServers": {"s": {"command": "x"}}}"#,
        );
        for number in 0..count {
            home.write(&format!("home/.gemini/policies/{number}.toml"), "");
        }
        let discovery = discover_all(&home.around(), &[Client::Gemini], &Inputs::new());
        assert_eq!(discovery.found[0].server.enabled, is_on, "{count}");
    }
}

#[test]
fn permissions_of_continue_are_told() {
    for (rules, told) in [("exclude:\n  - s_b\n", true), ("exclude: []\n", false)] {
        let home = Home::empty();
        let servers = "name: x\nmcpServers:\n- name: s\n  command: x\n";
        home.write("home/.continue/config.yaml", servers);
        home.write("home/.continue/permissions.yaml", rules);
        let discovery = discover_all(&home.around(), &[Client::Continue], &Inputs::new());
        let found = &discovery.found[0];
        assert_eq!(found.unheard.is_some(), told, "{rules}");
    }
}
