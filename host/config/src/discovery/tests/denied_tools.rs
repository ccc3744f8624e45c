//! Tools that the settings of Claude Code deny.

mod rules_apart;

use super::*;
use crate::install::{ImportRequest, import};

const USER: &str = "home/.claude/settings.json";
const PROJECT: &str = "project/.claude/settings.json";

/// Returns whether Claude Code has a server, and the tools that are taken from it, where one of the
/// user's or of a project has that name.
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
        ("memory", "mcp__mem*__read", true, "read"),
        ("memory", "mcp__*ory__read", true, "read"),
        ("memory", "*__read", true, "read"),
        ("memory", "mcp__*_re*", true, "re*"),
        ("memory", "mcp__mem*", false, ""),
        ("memory", "*", false, ""),
        ("memory", "mcp__x*__read", true, ""),
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
        // A server that is off is denied as a whole, also once somebody has switched it on.
        let tool = if is_on { tool } else { "*" };
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
    let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
    let written = &import.changes[0].after;
    for part in [
        r#"claude-code = { exclude_tools = ["write_file"] }"#,
        r#"claude-code = { enabled = false, exclude_tools = ["*"] }"#,
    ] {
        assert!(written.contains(part), "no {part} in {written}");
    }
}

/// Clients deny tools by their own names for them, with patterns that may begin anywhere.
#[test]
fn what_a_client_denies_by_its_own_name_is_off() {
    const AMP: (Client, &str) = (Client::Amp, "home/.config/amp/settings.json");
    const GEMINI: (Client, &str) = (Client::Gemini, "home/.gemini/settings.json");
    const CLAUDE: (Client, &str) = (Client::ClaudeCode, USER);
    const OPENCODE: (Client, &str) = (Client::OpenCode, "home/.config/opencode/opencode.json");
    for ((client, file), server, name, tool) in [
        (AMP, "git", "mcp__*__delete", "delete"),
        (AMP, "git", "mcp__g*__delete", "delete"),
        (AMP, "git", "*__delete", "delete"),
        (AMP, "git", "*it__delete", "delete"),
        (AMP, "git", "mcp__git__repo_delete", "repo.delete"),
        (AMP, "my.srv", "mcp__my.srv__delete", "delete"),
        (AMP, "my.srv", "mcp__my_srv__delete", "delete"),
        (GEMINI, "git", "mcp_git_repo_delete", "repo/delete"),
        (GEMINI, "git", "git__repo_delete", "repo delete"),
        (GEMINI, "git", "mcp_git_repo.a_delete", "repo.a/delete"),
        (GEMINI, "my.srv", "my.srv__delete", "delete"),
        (GEMINI, "my.srv", "mcp_my.srv_delete", "delete"),
        (CLAUDE, "git", "mcp__git__repo_delete", "repo.delete"),
        (CLAUDE, "git", "mcp__g*__repo_delete", "repo:delete"),
        (OPENCODE, "git", "git_repo_delete", "repo.delete"),
        (OPENCODE, "git", "g*_delete", "delete"),
        (OPENCODE, "my.srv", "my.srv_delete", "delete"),
    ] {
        let home = Home::empty();
        let entry = serde_json::json!({ "command": "x" });
        let document = match client {
            Client::Amp => serde_json::json!({
                "amp.mcpServers": { server: entry }, "amp.tools.disable": [name],
            }),
            Client::Gemini => serde_json::json!({
                "mcpServers": { server: entry }, "tools": { "exclude": [name] },
            }),
            Client::OpenCode => serde_json::json!({
                "mcp": { server: { "type": "local", "command": ["x"] } },
                "permission": { name: "deny" },
            }),
            _ => {
                let servers = serde_json::json!({ "mcpServers": { server: entry } });
                home.write("home/.claude.json", servers.to_string());
                serde_json::json!({ "permissions": { "deny": [name] } })
            }
        };
        home.write(file, document.to_string());
        let discovery = discover_all(&home.around(), &[client], &Inputs::new());
        let filter = &discovery.found[0].server.bridge().unwrap().filter;
        assert!(!filter.shows(tool), "{client} {name} {filter:?}");
        assert!(filter.shows("read"), "{client} {name} {filter:?}");
    }
}

/// Lists of tools that are off in the settings of other clients.
#[test]
fn what_is_off_in_a_client_is_off_for_that_client() {
    const AMP: &str = "home/.config/amp/settings.json";
    const GEMINI: &str = "home/.gemini/settings.json";
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    let server = serde_json::json!({ "command": "x" });
    for (client, file, mut document, key, off) in [
        (
            Client::Amp,
            AMP,
            serde_json::json!({ "amp.mcpServers": { "my git": server } }),
            "amp.tools.disable",
            serde_json::json!([
                "push",
                "mcp__my_git__re*",
                "builtin:pull",
                "mcp__other__log",
                7
            ]),
        ),
        (
            Client::Gemini,
            GEMINI,
            serde_json::json!({ "mcpServers": { "my git": server } }),
            "excludeTools",
            serde_json::json!(["push", "my_git__re*", "run(pull)", "other__log"]),
        ),
        (
            Client::Gemini,
            GEMINI,
            serde_json::json!({ "mcpServers": { "my git": server } }),
            "tools",
            serde_json::json!({ "exclude": ["mcp_my_git_push", "mcp_my_git_re*"] }),
        ),
        (
            Client::OpenCode,
            OPENCODE,
            serde_json::json!({ "mcp": { "my git": { "type": "local", "command": ["x"] } } }),
            "permission",
            serde_json::json!({ "my_git_push": "deny", "my_git_re*": "deny", "other_*": "deny" }),
        ),
    ] {
        document[key] = off;
        let home = Home::empty();
        home.write(file, document.to_string());
        let other = serde_json::json!({ "mcpServers": { "my git": server } });
        home.write("home/.cursor/mcp.json", other.to_string());
        let clients = [client, Client::Cursor];
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        let merged = merge(&discovery, &|_| true).servers;
        let server = &merged.values().next().unwrap().server;
        for (tool, is_off) in [
            ("push", true),
            ("reset", true),
            ("pull", false),
            ("log", false),
        ] {
            for (client, is_off) in [(client, is_off), (Client::Cursor, false)] {
                let shown = server.for_client(Some(client));
                let filter = &shown.bridge().unwrap().filter;
                assert_eq!(filter.shows(tool), !is_off, "{client} {tool} {filter:?}");
            }
        }
    }
}

/// Claude Code's settings may mean what Dormouse does not know.
#[test]
fn permissions_of_claude_code_that_are_no_list_deny_all() {
    for (settings, shown) in [
        (
            r#"{"permissions": {"deny": ["mcp__s__write"]}}"#,
            ["read"].as_slice(),
        ),
        (r#"{"permissions": {"deny": "mcp__s__write"}}"#, &["read"]),
        (
            r#"{"permissions": {"deny": ["mcp__s__write", 7, null]}}"#,
            &["read"],
        ),
        (r#"{"permissions": {"deny": {"mcp__s__write": true}}}"#, &[]),
        (r#"{"permissions": {"deny": [["mcp__s__write"]]}}"#, &[]),
        (r#"{"permissions": [{"deny": ["mcp__s__write"]}]}"#, &[]),
        (r#"{"permissions": {"deny": null}}"#, &["read", "write"]),
        (r#"{"permissions": null}"#, &["read", "write"]),
        (r#"{"permissions": {}}"#, &["read", "write"]),
    ] {
        let home = Home::empty();
        home.write(
            "home/.claude.json",
            r#"{"mcpServers": {"s": {"command": "x"}}}"#,
        );
        home.write("home/.claude/settings.json", settings);
        let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
        let filter = &discovery.found[0].server.bridge().unwrap().filter;
        let found = ["read", "write"]
            .into_iter()
            .filter(|tool| filter.shows(tool));
        assert_eq!(found.collect::<Vec<_>>(), shown, "{settings}");
    }
}

/// A denial of Claude Code's settings is lifted neither by the user's own table nor by an import.
#[test]
fn a_denied_server_that_is_switched_on_has_no_tools() {
    for (file, rule) in [
        (USER, "mcp__u"),
        (USER, "*"),
        ("system/claude-code/managed-settings.json", "mcp__u__*"),
    ] {
        let home = Home::empty();
        home.write(
            "home/.claude.json",
            r#"{"mcpServers": {"u": {"command": "x"}}}"#,
        );
        let rules = serde_json::json!({ "permissions": { "deny": [rule] } });
        home.write(file, rules.to_string());
        let own = "[servers.u]\nenabled = true\n";
        let own = crate::file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let trust = crate::project::trusted::TestTrust::new(&home.path("data"));
        let all = crate::Configured::new(own, Some(&home.around()), &trust);
        let server = &all.servers["u"];
        assert!(server.bridge().unwrap().filter.shows_none(), "{rule}");
        assert!(all.is_wholly_denied("u"), "{rule}");
    }
}
