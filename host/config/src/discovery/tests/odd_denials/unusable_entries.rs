//! Entries that cannot be used, in the place of others of their client's.

use super::*;

const FIRST: &str = "home/.config/opencode/opencode.json";
const SECOND: &str = "home/.config/opencode/opencode.jsonc";
const ON: &str = r#"{"mcp": {"git": {"type": "local", "command": ["x"]}}}"#;

/// Returns what a name stands for: `on`, `off`, `refused` or nothing, and the problem that a refused
/// one has.
fn state(home: &Home, clients: &[Client], name: &str, is_trusted: bool) -> (String, String) {
    let discovery = discover_all(&home.around(), clients, &Inputs::new());
    let is_users = |origin: &Origin| !matches!(origin.scope, Scope::Project(_));
    let merged = merge(&discovery, &|origin| is_trusted || is_users(origin));
    let server = merged.servers.get(name).map(|choice| &choice.server);
    let refused = server.and_then(ServerConfig::refused);
    let state = match server {
        None => "",
        Some(_) if refused.is_some() => "refused",
        Some(server) if server.enabled => "on",
        Some(_) => "off",
    };
    let problem = refused.map(|refused| home.shown(&refused.to_string()));
    (state.to_owned(), problem.unwrap_or_default())
}

#[test]
fn an_entry_that_cannot_be_used_uncovers_none_of_an_earlier_file() {
    const WHOLE: &str = r#"{"type": "local", "command": ["x"], "enabled": VALUE}"#;
    for (entry, problem) in [
        (
            WHOLE.replace("VALUE", "\"false\""),
            "`mcp.git.enabled` has to be true or false, and is a string",
        ),
        (
            WHOLE.replace("VALUE", "0"),
            "`mcp.git.enabled` has to be true or false, and is a number",
        ),
        (
            r#"{"enabled": "false"}"#.to_owned(),
            "`mcp.git.enabled` has to be true or false, and is a string",
        ),
        (
            r#"{"enabled": 0}"#.to_owned(),
            "`mcp.git.enabled` has to be true or false, and is a number",
        ),
        (
            r#"{"type": "local", "command": 5}"#.to_owned(),
            "`mcp.git.command` has to be a list of strings, and is a number",
        ),
        (
            "null".to_owned(),
            "`mcp.git` has to be a table, and is null",
        ),
        (
            "[]".to_owned(),
            "`mcp.git` has to be a table, and is a list",
        ),
        (
            "\"off\"".to_owned(),
            "`mcp.git` has to be a table, and is a string",
        ),
        (
            "false".to_owned(),
            "`mcp.git` has to be a table, and is a boolean",
        ),
    ] {
        let home = Home::empty();
        home.write(FIRST, ON);
        home.write(SECOND, format!(r#"{{"mcp": {{"git": {entry}}}}}"#));
        let (state, told) = state(&home, &[Client::OpenCode], "git", true);
        assert_eq!(state, "refused", "{entry}");
        assert!(told.starts_with(&format!("/{SECOND}:1:")), "{told}");
        assert!(told.contains(problem), "{told}");
    }
}

/// Nothing is wrong in such an entry, which is reported among those that are not taken.
#[test]
fn an_entry_of_an_unknown_type_uncovers_none_of_an_earlier_file() {
    let home = Home::empty();
    home.write(FIRST, ON);
    for (entry, expected) in [
        (r#"{"type": "weird", "command": ["x"]}"#, ""),
        (r#"{"type": "remote", "url": "ws://example.com"}"#, ""),
        (r#"{"type": "local", "command": ["y"]}"#, "on"),
    ] {
        home.write(SECOND, format!(r#"{{"mcp": {{"git": {entry}}}}}"#));
        let (state, _) = state(&home, &[Client::OpenCode], "git", true);
        assert_eq!(state, expected, "{entry}");
    }
}

#[test]
fn a_later_entry_that_can_be_used_is_used() {
    const ODD: &str = r#"{"mcp": {"git": {"type": "local", "command": ["x"], "enabled": 0}}}"#;
    let home = Home::empty();
    home.write(FIRST, ODD);
    home.write(SECOND, ON);
    assert_eq!(state(&home, &[Client::OpenCode], "git", true).0, "on");
    // A switch alone is none.
    home.write(SECOND, r#"{"mcp": {"git": {"enabled": true}}}"#);
    assert_eq!(state(&home, &[Client::OpenCode], "git", true).0, "refused");
}

/// A project's entry that cannot be used does what one that switches the server off does: nothing,
/// before the project is trusted, or in another client, or where the client would start the user's.
#[test]
fn a_projects_entry_that_cannot_be_used_hides_what_a_good_one_does() {
    const OF_JSON: &str = r#"{"mcpServers": {"git": {"command": "x"}}}"#;
    const ODD: &str = r#"{"enabled": "false"}"#;
    for (client, user, text, project, key, trusted) in [
        (Client::OpenCode, FIRST, ON, "opencode.json", "mcp", ""),
        (
            Client::Cursor,
            "home/.cursor/mcp.json",
            OF_JSON,
            ".cursor/mcp.json",
            "mcpServers",
            "",
        ),
        (
            Client::Gemini,
            "home/.cursor/mcp.json",
            OF_JSON,
            ".gemini/settings.json",
            "mcpServers",
            "on",
        ),
        (
            Client::ClaudeCode,
            "home/.claude.json",
            OF_JSON,
            ".mcp.json",
            "mcpServers",
            "on",
        ),
    ] {
        for entry in [ODD, "\"off\"", "null"] {
            let home = Home::empty();
            home.write(user, text);
            let of_project = format!(r#"{{"{key}": {{"git": {entry}}}}}"#);
            home.write(&format!("project/{project}"), of_project);
            let clients = [client, Client::Cursor];
            let with = |is_trusted| state(&home, &clients, "git", is_trusted).0;
            assert_eq!(with(false), "on", "{client} {entry}");
            assert_eq!(with(true), trusted, "{client} {entry}");
        }
    }
}

/// The name is the user's, whichever client of a project has it.
#[test]
fn a_users_entry_that_cannot_be_used_keeps_its_name() {
    const ODD: &str = r#"{"mcpServers": {"git": {"command": "x", "disabled": "yes"}}}"#;
    const OTHER: &str = r#"{"mcpServers": {"git": {"command": "y"}}}"#;
    for (project, expected) in [(".cursor/mcp.json", "off"), (".mcp.json", "refused")] {
        let home = Home::empty();
        home.write("home/.cursor/mcp.json", ODD);
        home.write(&format!("project/{project}"), OTHER);
        let clients: Vec<_> = Client::all().collect();
        assert_eq!(state(&home, &clients, "git", true).0, expected, "{project}");
    }
    // What another client of the user's has on stays that.
    let home = Home::empty();
    home.write("home/.cursor/mcp.json", ODD);
    home.write("home/.claude.json", OTHER);
    let clients: Vec<_> = Client::all().collect();
    assert_eq!(state(&home, &clients, "git", true).0, "on");
}

/// People write them as texts in JSON, which has no comments.
#[test]
fn comments_among_servers_are_no_servers() {
    for (name, is_comment) in [
        ("//", true),
        ("// the next one is for work", true),
        ("_comment", true),
        ("#", true),
        ("$schema", true),
        ("comment", false),
        ("git", false),
    ] {
        for value in ["\"text\"", "5", "null", "{}"] {
            let home = Home::empty();
            let text =
                format!(r#"{{"mcpServers": {{"{name}": {value}, "on": {{"command": "x"}}}}}}"#);
            home.write("home/.cursor/mcp.json", text);
            let discovery = discover_all(&home.around(), &[Client::Cursor], &Inputs::new());
            assert_eq!(discovery.found.len(), 1, "{name}");
            let is_none = is_comment && value == "\"text\"";
            let unusable = [discovery.unusable.len(), discovery.refused.len()];
            assert_eq!(unusable, [usize::from(!is_none); 2], "{name}: {value}");
            assert_eq!(discovery.problems().count(), unusable[0], "{name}: {value}");
        }
    }
}

/// The later one may deny it, and the earlier one alone does not say so.
#[test]
fn a_server_behind_an_entry_that_cannot_be_used_is_not_taken_over() {
    use crate::install::{ImportRequest, Program, import};
    let program = Program {
        command: "/opt/dormouse".to_owned(),
        options: Vec::new(),
        variables: Vec::new(),
    };
    let known = "[servers.git]\ncommand = 'x'\n";
    for (later, own, replace, is_taken) in [
        (r#"{"mcp": {}}"#, "", false, true),
        (
            r#"{"mcp": {"git": {"enabled": "false"}}}"#,
            "",
            false,
            false,
        ),
        (r#"{"mcp": {"git": {"enabled": "false"}}}"#, "", true, false),
        (r#"{"mcp": {"git": null}}"#, "", true, false),
        (
            r#"{"mcp": {"git": {"enabled": "false"}}}"#,
            known,
            true,
            false,
        ),
    ] {
        let home = Home::empty();
        home.write(FIRST, ON);
        home.write(SECOND, later);
        let file = home.path("home/dormouse.toml");
        home.write("home/dormouse.toml", own);
        let config = crate::file::parse_usable(&file, own).unwrap();
        let clients = [Client::OpenCode];
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        let wanted = ImportRequest {
            clients: &clients,
            replace: replace.then_some(&program),
            force: false,
            longest_call: std::time::Duration::ZERO,
        };
        let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
        let of_client = import.changes.iter().filter(|change| !change.own);
        let of_client: Vec<_> = of_client.map(|change| &change.after).collect();
        let taken = import.changes.iter().find(|change| change.own);
        let taken = taken.is_some_and(|change| change.after.contains("command"));
        assert_eq!(taken && own.is_empty(), is_taken, "{later} {own}");
        assert!(
            of_client.iter().all(|text| !text.contains("dormouse")),
            "{of_client:?}"
        );
        let left = import.left.join("\n");
        assert_eq!(
            left.contains("opencode.jsonc:1"),
            !is_taken,
            "{later} {own}: {left}"
        );
    }
}
