//! Tools that the settings of Claude Code deny.

use super::*;
use crate::install::{ImportRequest, import};

const USER: &str = "home/.claude/settings.json";
const PROJECT: &str = "project/.claude/settings.json";

/// Whether Claude Code has a server, and which tools are taken from it, where one of the user's or
/// of a project has that name.
fn denied(server: &str, is_of_project: bool, settings: &str, rule: &str) -> (bool, Vec<String>) {
    let home = Home::empty();
    let file = match is_of_project {
        true => "project/.mcp.json",
        false => "home/.claude.json",
    };
    let servers = serde_json::json!({ "mcpServers": { server: { "command": "x" } } });
    home.write(file, servers.to_string());
    let rules = serde_json::json!({ "permissions": { "deny": ["Bash(rm *)", 7, rule] } });
    home.write(settings, rules.to_string());
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let found = &discovery.found[0].server;
    (
        found.enabled,
        found.bridge().unwrap().filter.exclude.clone(),
    )
}

#[test]
fn settings_deny_tools_and_servers_by_their_names() {
    for (server, rule, enabled, tool) in [
        (
            "filesystem",
            "mcp__filesystem__write_file",
            true,
            "write_file",
        ),
        ("filesystem", "mcp__filesystem__write_*", true, "write_*"),
        ("filesystem", "mcp__other__write_file", true, ""),
        ("filesystem", "mcp__filesystem2", true, ""),
        ("filesystem", "filesystem__write_file", true, ""),
        ("filesystem", "mcp__filesystem__", true, ""),
        ("memory", "mcp__memory", false, ""),
        ("memory", "mcp__memory__*", false, ""),
        ("memory", "mcp__*", false, ""),
        ("memory", "mcp__*__read", true, "read"),
        // Claude Code has a `_` for what it wants in no name.
        ("my files", "mcp__my_files__write", true, "write"),
        ("a.b", "mcp__a_b", false, ""),
        ("a-b", "mcp__a-b__write", true, "write"),
        ("a-b", "mcp__a_b__write", true, ""),
        ("my files!", "mcp__my_files___write", true, "write"),
        ("a__b", "mcp__a__b__write", true, "write"),
        ("a__b", "mcp__a__b", false, ""),
        ("a", "mcp__a__b__write", true, "b__write"),
        (
            "a__b__c__d__e__f",
            "mcp__a__b__c__d__e__f__write",
            true,
            "write",
        ),
    ] {
        let (is_on, exclude) = denied(server, false, USER, rule);
        assert_eq!(is_on, enabled, "{rule}");
        match tool {
            "" => assert!(exclude.is_empty(), "{rule}: {exclude:?}"),
            tool => assert!(exclude.iter().any(|it| it == tool), "{rule}: {exclude:?}"),
        }
    }
}

#[test]
fn a_projects_settings_deny_only_what_is_its_own() {
    let rule = "mcp__files__write";
    let write = vec!["write".to_owned()];
    assert_eq!(denied("files", false, PROJECT, rule), (true, vec![]));
    assert_eq!(denied("files", true, PROJECT, rule), (true, write.clone()));
    assert_eq!(denied("files", true, USER, rule), (true, write));
    assert!(denied("files", false, PROJECT, "mcp__files").0);
    assert!(!denied("files", true, PROJECT, "mcp__files").0);
}

#[test]
fn what_claude_code_denies_is_taken_over_as_a_rule_of_that_client() {
    let home = Home::empty();
    let servers = r#"{"mcpServers": {"files": {"command": "x"}, "memory": {"command": "y"}}}"#;
    home.write("home/.claude.json", servers);
    home.write("home/.cursor/mcp.json", servers);
    home.write(
        USER,
        r#"{"permissions": {"deny": ["mcp__files__write_file", "mcp__memory"]}}"#,
    );
    let clients = [Client::ClaudeCode, Client::Cursor];
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    let merged = merge(&discovery, &|_| true);
    let bridge = |name: &str| merged.servers[name].server.bridge().unwrap().clone();
    let shows = |client: Client, tool: &str| {
        let files = bridge("files");
        files.rules.filter(&files.filter, Some(client)).shows(tool)
    };
    assert!(!shows(Client::ClaudeCode, "write_file") && shows(Client::ClaudeCode, "read"));
    assert!(shows(Client::Cursor, "write_file"));
    assert!(!bridge("memory").rules.enable(Some(Client::ClaudeCode)));
    assert!(bridge("memory").rules.enable(Some(Client::Cursor)));
    let file = home.path("home/dormouse.toml");
    let wanted = ImportRequest {
        clients: &clients,
        replace: None,
        force: false,
        longest_call: std::time::Duration::ZERO,
    };
    let config = crate::Config::default();
    let import = import(&discovery, &home.around(), (&config, &file), wanted).unwrap();
    let written = &import.changes[0].after;
    for part in [
        r#"claude-code = { exclude_tools = ["write_file"] }"#,
        "claude-code = { enabled = false }",
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
}
