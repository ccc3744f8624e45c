//! Claude Code's policy, in homes that have one.

use super::*;

const SERVERS: &str = r#"{"mcpServers": {
    "git": {"command": "npx", "args": ["-y", "git"]},
    "local": {"command": "${API_KEY}/run"},
    "web": {"url": "https://mcp.example.com/x"},
    "other": {"url": "https://other.example/x"}
}}"#;

/// Returns the servers that are denied, with the reasons, of a home with these settings.
fn denied(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let home = Home::empty();
    home.write("home/.claude.json", SERVERS);
    for (file, text) in settings {
        home.write(file, text);
    }
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let denied = discovery.found.iter().filter_map(|found| {
        let why = found.server.denied.as_ref()?;
        assert!(!found.server.enabled);
        Some((found.written_name.clone(), home.shown(why)))
    });
    denied.collect()
}

fn names(settings: &[(&str, &str)]) -> String {
    let names: Vec<_> = denied(settings).into_iter().map(|(name, _)| name).collect();
    names.join(" ")
}

const USER: &str = "home/.claude/settings.json";
const MANAGED: &str = "system/claude-code/managed-settings.json";
const DROPPED_IN: &str = "system/claude-code/managed-settings.d/10-mcp.json";
const PROJECT: &str = "project/.claude/settings.json";

#[test]
fn what_is_denied_and_what_is_not_allowed() {
    for (settings, expected) in [
        ("{}", ""),
        (r#"{"deniedMcpServers": []}"#, ""),
        (r#"{"deniedMcpServers": [{"serverName": "git"}]}"#, "git"),
        (r#"{"deniedMcpServers": [{"serverName": "GIT"}]}"#, ""),
        (
            r#"{"deniedMcpServers": [{"serverCommand": ["npx", "-y", "git"]}]}"#,
            "git",
        ),
        (
            r#"{"deniedMcpServers": [{"serverCommand": ["npx", "-y"]}]}"#,
            "",
        ),
        // Variables are filled in on both sides.
        (
            r#"{"deniedMcpServers": [{"serverCommand": ["${API_KEY}/run"]}]}"#,
            "local",
        ),
        (
            r#"{"deniedMcpServers": [{"serverCommand": ["SECRET-KEY/run"]}]}"#,
            "local",
        ),
        (
            r#"{"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}"#,
            "web",
        ),
        // None are allowed by an empty list, all without one.
        (r#"{"allowedMcpServers": []}"#, "git local web other"),
        (
            r#"{"allowedMcpServers": [{"serverName": "git"}]}"#,
            "local web other",
        ),
        // Where commands are listed, a program's name means nothing; a URL's does.
        (
            r#"{"allowedMcpServers": [{"serverCommand": ["npx", "-y", "git"]}, {"serverName": "local"}, {"serverName": "web"}]}"#,
            "local other",
        ),
        (
            r#"{"allowedMcpServers": [{"serverUrl": "https://mcp.example.com"}, {"serverName": "other"}, {"serverName": "git"}]}"#,
            "local other",
        ),
        // What is denied is denied, whatever is allowed.
        (
            r#"{"allowedMcpServers": [{"serverName": "git"}, {"serverName": "web"}], "deniedMcpServers": [{"serverName": "web"}]}"#,
            "local web other",
        ),
        // An entry that is none does not lose the others, and may be about any server.
        (
            r#"{"deniedMcpServers": ["git", {"serverName": "web"}]}"#,
            "git web",
        ),
        (
            r#"{"deniedMcpServers": [{"serverNames": "web"}, "git", {"serverName": "git"}]}"#,
            "git local web other",
        ),
        // A denial that is not fully understood denies what it names, and allows nothing.
        (
            r#"{"deniedMcpServers": [{"serverName": "git", "reason": "x"}]}"#,
            "git",
        ),
        (
            r#"{"deniedMcpServers": [{"serverName": "git", "serverUrl": "https://other.example/*"}]}"#,
            "git other",
        ),
        (
            r#"{"allowedMcpServers": [{"serverName": "git", "reason": "x"}]}"#,
            "git local web other",
        ),
    ] {
        for file in [USER, MANAGED, DROPPED_IN] {
            assert_eq!(names(&[(file, settings)]), expected, "{file} {settings}");
        }
    }
}

/// Denials that are written in a way that Dormouse does not know may be of any server.
#[test]
fn denials_of_the_user_that_are_no_list_deny_all() {
    for (text, expected) in [
        (r#"{"deniedMcpServers": ["git"]}"#, "git local web other"),
        (
            r#"{"deniedMcpServers": {"serverName": "git"}}"#,
            "git local web other",
        ),
        (r#"{"deniedMcpServers": "git"}"#, "git local web other"),
        (
            r#"{"deniedMcpServers": [{"serverName": "x"}, "git"]}"#,
            "git",
        ),
        (
            r#"{"deniedMcpServers": [{"serverName": "x"}, "a,git"]}"#,
            "git local web other",
        ),
        (
            r#"{"deniedMcpServers": [{"serverName": "x"}, "g*"]}"#,
            "git local web other",
        ),
        (r#"{"allowedMcpServers": "web"}"#, "git local web other"),
        ("[]", "git local web other"),
        (r#"{"deniedMcpServers": [], "allowedMcpServers": null}"#, ""),
        ("", ""),
    ] {
        assert_eq!(names(&[(USER, text)]), expected, "{text}");
    }
}

/// Settings that cannot be read may deny anything, the user's as well: Claude Code may read what
/// Dormouse cannot.
#[test]
fn nothing_is_allowed_by_administrators_settings_that_cannot_be_read() {
    for (file, expected) in [
        (MANAGED, "git local web other"),
        (DROPPED_IN, "git local web other"),
        (USER, "git local web other"),
    ] {
        let broken = r#"{"deniedMcpServers": [{"serverName": "git"}"#;
        assert_eq!(names(&[(file, broken)]), expected, "{file}");
    }
    // Nobody knows what is meant, either, where a list is none.
    for (text, expected) in [
        ("", "git local web other"),
        ("[]", "git local web other"),
        ("null", "git local web other"),
        (
            r#"{"deniedMcpServers": {"serverName": "git"}}"#,
            "git local web other",
        ),
        (r#"{"deniedMcpServers": ["git"]}"#, "git local web other"),
        (r#"{"allowedMcpServers": null}"#, "git local web other"),
        ("{}", ""),
    ] {
        assert_eq!(names(&[(MANAGED, text)]), expected, "{text}");
    }
}

#[test]
fn lists_of_several_files_are_one() {
    let git = r#"{"allowedMcpServers": [{"serverName": "git"}]}"#;
    let local = r#"{"allowedMcpServers": [{"serverName": "local"}]}"#;
    assert_eq!(names(&[(MANAGED, git), (USER, local)]), "web other");
    let only =
        r#"{"allowManagedMcpServersOnly": true, "allowedMcpServers": [{"serverName": "git"}]}"#;
    assert_eq!(names(&[(MANAGED, only), (USER, local)]), "local web other");
    // Only administrators can say so.
    assert_eq!(names(&[(MANAGED, git), (USER, only)]), "local web other");
    let deny = r#"{"deniedMcpServers": [{"serverName": "git"}]}"#;
    assert_eq!(
        names(&[(MANAGED, only), (USER, deny)]),
        "git local web other"
    );
}

#[test]
fn a_projects_settings_are_about_the_projects_servers() {
    let servers = r#"{"mcpServers": {"mine": {"command": "x"}, "git": {"command": "y"}}}"#;
    let deny = r#"{"deniedMcpServers": [{"serverName": "git"}], "allowedMcpServers": []}"#;
    let denied = denied(&[("project/.mcp.json", servers), (PROJECT, deny)]);
    let names: Vec<_> = denied.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["mine", "git"]);
    assert_eq!(
        denied[0].1,
        "`allowedMcpServers` of /project/.claude/settings.json does not name it"
    );
    assert_eq!(
        denied[1].1,
        "`deniedMcpServers` of /project/.claude/settings.json:1 names it"
    );
}

#[test]
fn managed_servers_are_under_the_policy_too() {
    let servers = r#"{"mcpServers": {"company": {"command": "x"}, "bad": {"command": "y"}}}"#;
    let deny = "{\n\"deniedMcpServers\": [\n{\"serverName\": \"bad\"}]}";
    let denied = denied(&[
        ("system/claude-code/managed-mcp.json", servers),
        (USER, deny),
    ]);
    let why = "`deniedMcpServers` of /home/.claude/settings.json:3 names it".to_owned();
    assert_eq!(denied, [("bad".to_owned(), why)]);
}

#[test]
fn what_is_wrong_with_a_policy_is_told_with_its_place() {
    let home = Home::empty();
    home.write(
        MANAGED,
        "{\n  \"deniedMcpServers\": [{\"serverNam\": \"SECRET\"}]\n}",
    );
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let problems: Vec<_> = discovery.problems().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        home.shown(&problems[0]).starts_with(
            "/system/claude-code/managed-settings.json:2:24: `deniedMcpServers[0]` names no servers"
        ),
        "{problems:?}"
    );
}

#[test]
fn nobody_switches_on_what_is_denied() {
    use crate::project::trusted::TestTrust;
    use crate::{Configured, file};

    let home = Home::empty();
    home.write("home/.claude.json", SERVERS);
    home.write(
        MANAGED,
        r#"{"deniedMcpServers": [{"serverName": "git"}, {"serverName": "web"}]}"#,
    );
    // What another client has is that client's.
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"web": {"url": "https://mcp.example.com/x"}}}"#,
    );
    let text = "[servers.git]\nenabled = true\n";
    let (config, problems) = file::parse(Path::new("/d.toml"), text);
    assert!(problems.is_empty());
    let trust = TestTrust::new(&home.path("data"));
    let all = Configured::new(config, Some(&home.around()), &trust);
    assert!(!all.servers["git"].enabled);
    assert!(all.servers["git"].denied.is_some());
    assert!(all.servers["web"].enabled);
    assert_eq!(all.servers["web"].origin.client, Some(Client::Cursor));
}

#[test]
fn a_policy_is_held_against_servers_in_linear_time() {
    type Rule<'r> = &'r dyn Fn(usize) -> String;
    let name: Rule<'_> = &|n| format!(r#"{{"serverName": "no{n}"}}"#);
    let command: Rule<'_> = &|n| format!(r#"{{"serverCommand": ["no{n}", "a"]}}"#);
    let url: Rule<'_> = &|n| format!(r#"{{"serverUrl": "https://*.no{n}.example/*"}}"#);
    let last_words = |n: usize| format!(r#""s{n}": {{"command": "x{n}", "args": ["a"]}}"#);
    let a_url = |_: usize| {
        let path = "ab/".repeat(3000);
        format!(r#""web": {{"type": "http", "url": "https://mcp.example.com/{path}"}}"#)
    };
    let cases: [(&str, Rule<'_>, Rule<'_>, bool); 4] = [
        ("names and servers", name, &last_words, true),
        ("commands and servers", command, &last_words, true),
        ("URLs", url, &a_url, false),
        (
            "stars",
            &|n| {
                format!(
                    r#"{{"serverUrl": "https://mcp.example.com/{}c"}}"#,
                    "*a".repeat(n % 100)
                )
            },
            &a_url,
            false,
        ),
    ];
    for (what, rule, server, are_many) in cases {
        let home = |size: usize| {
            let home = Home::empty();
            let servers = (0..if are_many { size } else { 1 }).map(server);
            let servers = servers.collect::<Vec<_>>().join(",");
            home.write(
                "home/.claude.json",
                format!(r#"{{"mcpServers": {{{servers}}}}}"#),
            );
            let rules = (0..size).map(rule).collect::<Vec<_>>().join(",");
            let text =
                format!(r#"{{"deniedMcpServers": [{rules}], "allowedMcpServers": [{rules}]}}"#);
            home.write(USER, text);
            home
        };
        dormouse_tests::growth::is_linear(what, 100, home, |home| {
            let around = home.around();
            let found = discover_all(&around, &[Client::ClaudeCode], &Inputs::new()).found;
            assert!(found.iter().all(|found| found.server.denied.is_some()));
        });
    }
}

/// Whatever an administrator writes for `true`, nothing of the user's allows more.
#[test]
fn only_administrators_allow_where_they_may_have_said_so() {
    const ALLOWED: &str = r#"{"allowedMcpServers": [{"serverName": "git"}]}"#;
    for (only, expected) in [
        ("true", "git web other"),
        ("\"true\"", "git web other"),
        ("1", "git web other"),
        ("[true]", "git web other"),
        ("{}", "git web other"),
        ("false", "web other"),
        ("null", "web other"),
    ] {
        let managed = format!(
            r#"{{"allowManagedMcpServersOnly": {only}, "allowedMcpServers": [{{"serverName": "local"}}]}}"#
        );
        let settings = [(MANAGED, managed.as_str()), (USER, ALLOWED)];
        assert_eq!(names(&settings), expected, "{only}");
    }
}

/// Statements of the user's own file on folders are denied nowhere if it cannot be read.
#[test]
fn folders_of_the_user_that_are_no_table_deny_all() {
    for (projects, expected) in [("[]", "git"), ("\"x\"", "git"), ("{}", ""), ("null", "")] {
        let own =
            format!(r#"{{"mcpServers": {{"git": {{"command": "x"}}}}, "projects": {projects}}}"#);
        assert_eq!(
            names(&[("home/.claude.json", &own)]),
            expected,
            "{projects}"
        );
    }
}
