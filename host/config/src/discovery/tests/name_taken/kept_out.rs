//! Clients that would not load Dormouse by their own settings.

use super::*;

/// Servers that a client's own settings keep out of it do not come in place of its servers.
#[test]
fn a_client_that_would_not_load_dormouse_keeps_its_servers() {
    const GEMINI: &str = "home/.gemini/settings.json";
    const CLAUDE: &str = "home/.claude.json";
    const SETTINGS: &str = "home/.claude/settings.json";
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    const AMP: &str = "home/.config/amp/settings.json";
    let s = r#""mcpServers": {"s": {"command": "s"}}"#;
    let in_opencode = r#""mcp": {"s": {"type": "local", "command": ["s"]}}"#;
    let in_amp = r#""amp.mcpServers": {"s": {"command": "s"}}"#;
    for (client, file, servers, settings, key, why) in [
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"allowed": ["s"]}"#,
            "`mcp.allowed`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"excluded": ["dormouse"]}"#,
            "`mcp.excluded`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"allowed": ["s", "dormouse"]}"#,
            "",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""allowMCPServers": ["s"]"#,
            "`allowMCPServers`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""excludeMCPServers": ["dormouse"]"#,
            "`excludeMCPServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""allowedMcpServers": [{"serverName": "s"}]"#,
            "no `allowedMcpServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""deniedMcpServers": [{"serverName": "dormouse"}]"#,
            "`deniedMcpServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""permissions": {"deny": ["mcp__dormouse"]}"#,
            "`permissions.deny`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""permissions": {"deny": ["mcp__dormouse__s__x"]}"#,
            "",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""tools": {"*": false, "s_*": true}"#,
            "`tools`",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""tools": {"*": false, "s_*": true, "dormouse_*": true}"#,
            "",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""permission": {"dormouse_*": "deny"}"#,
            "`permission`",
        ),
        (
            Client::Amp,
            AMP,
            in_amp,
            AMP,
            r#""amp.tools.disable": ["mcp__dormouse__*"]"#,
            "`amp.tools.disable`",
        ),
        (
            Client::Amp,
            AMP,
            in_amp,
            AMP,
            r#""amp.tools.disable": ["mcp__x__*"]"#,
            "",
        ),
    ] {
        let home = Home::empty();
        home.write(settings, format!("{{{key}}}"));
        let text = match file == settings {
            true => format!("{{{servers}, {key}}}"),
            false => format!("{{{servers}}}"),
        };
        home.write(file, text);
        let plan = plan(&home, client);
        let is_changed = plan.changes.iter().any(|change| !change.own);
        assert_eq!(is_changed, why.is_empty(), "{client} {key} {:?}", plan.left);
        let installed = installed(&home, client).map_err(|error| error.to_string());
        let told = plan.left.into_iter().chain(installed.err());
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), if why.is_empty() { 0 } else { 2 }, "{told:?}");
        for told in told {
            assert!(told.contains(why.trim_start_matches("no ")), "{told}");
            assert!(told.contains("\nhint: "), "{told}");
        }
    }
}

/// Nor does it come in place of servers that single agents or profiles have by their names: these
/// would have nothing then. Beside these servers it may come.
#[test]
fn an_agent_that_would_not_have_dormouse_keeps_its_servers() {
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    const ZED: &str = "home/.config/zed/settings.json";
    let in_opencode = r#""mcp": {"s": {"type": "local", "command": ["s"]}}"#;
    let in_zed = r#""context_servers": {"s": {"command": "s"}}"#;
    let of_agent = |tools: &str| format!(r#""agent": {{"build": {{"tools": {{{tools}}}}}}}"#);
    let of_profile = |profile: &str| format!(r#""agent": {{"profiles": {{"w": {{{profile}}}}}}}"#);
    let named = r#""context_servers": {"s": {"tools": {"a": true}}}"#;
    for (client, file, servers, settings, leaves) in [
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false, "s_*": true"#),
            false,
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false, "s_*": true, "dormouse_*": true"#),
            true,
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false"#),
            true,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(&format!(r#""enable_all_context_servers": false, {named}"#)),
            false,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(&format!(r#""enable_all_context_servers": true, {named}"#)),
            true,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(r#""enable_all_context_servers": false"#),
            true,
        ),
    ] {
        let home = Home::empty();
        home.write(file, format!("{{{servers}, {settings}}}"));
        let plan = plan(&home, client);
        let is_changed = plan.changes.iter().any(|change| !change.own);
        assert_eq!(is_changed, leaves, "{client} {settings} {:?}", plan.left);
        let told = plan.left.join("\n");
        assert_eq!(told.contains("would keep Dormouse out"), !leaves, "{told}");
        installed(&home, client).unwrap();
    }
}

#[test]
fn a_client_that_takes_only_administrators_servers_gets_no_dormouse() {
    let home = Home::empty();
    let managed = places::claude_code_managed(&home.around());
    let file = managed.join(places::CLAUDE_CODE_MANAGED);
    fs::create_dir_all(&managed).unwrap();
    fs::write(file, r#"{"mcpServers": {"m": {"command": "m"}}}"#).unwrap();
    let told = installed(&home, Client::ClaudeCode)
        .unwrap_err()
        .to_string();
    assert!(told.contains("managed-mcp.json"), "{told}");
}
