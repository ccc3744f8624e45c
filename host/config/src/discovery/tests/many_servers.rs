//! Very many servers, in the files of several clients.

use super::*;

/// Servers of two files of the user's and of one of a project's, as JSON.
type Servers<'s> = &'s dyn Fn(usize) -> [String; 3];

fn servers(size: usize, server: impl Fn(usize) -> String) -> String {
    (0..size).map(server).collect::<Vec<_>>().join(",")
}

fn server(name: &str, command: &str) -> String {
    format!(r#""{name}": {{"command": "{command}"}}"#)
}

#[test]
fn merging_takes_linear_time() {
    let kinds: [(&str, Servers<'_>); 6] = [
        ("others", &|size| {
            ["a", "b", "c"]
                .map(|of| servers(size, |n| server(&format!("{of}{n}"), &format!("{of}{n}"))))
        }),
        ("twins", &|size| {
            ["a", "b", "c"]
                .map(|of| servers(size, |n| server(&format!("{of}{n}"), &format!("x{n}"))))
        }),
        ("half of them twins, of names that others have", &|size| {
            ["a", "b", "c"].map(|of| {
                servers(size, |n| {
                    let command = if n % 2 == 0 { "x" } else { of };
                    server(&format!("s{}", n / 2 * 2 + 1), &format!("{command}{n}"))
                        .replace(r#""s"#, &format!(r#""{}"#, ["s", of][n % 2]))
                })
            })
        }),
        ("one name each", &|size| {
            ["a", "b", "c"]
                .map(|of| servers(size, |n| server(&format!("s{n}"), &format!("{of}{n}"))))
        }),
        ("one launch", &|size| {
            ["a", "b", "c"].map(|of| servers(size, |n| server(&format!("{of}{n}"), "x")))
        }),
        ("one launch, a name for each", &|size| {
            ["a", "a", "a"].map(|of| servers(size, |n| server(&format!("{of}{n}"), "x")))
        }),
    ];
    for (what, kind) in kinds {
        let discovery = |size: usize| {
            let home = Home::empty();
            let files = [
                "home/.claude.json",
                "home/.cursor/mcp.json",
                "project/.cursor/mcp.json",
            ];
            for (file, servers) in files.into_iter().zip(kind(size)) {
                home.write(file, format!(r#"{{"mcpServers": {{{servers}}}}}"#));
            }
            let clients: Vec<_> = Client::all().collect();
            let discovery = discover_all(&home.around(), &clients, &Inputs::new());
            assert!(
                discovery.found.len() >= 3 * size,
                "{}",
                discovery.found.len()
            );
            discovery
        };
        dormouse_tests::growth::is_linear(what, 60, discovery, |discovery| {
            for trusted in [true, false] {
                let is_trusted =
                    |origin: &Origin| trusted || !matches!(origin.scope, Scope::Project(_));
                std::hint::black_box(merge(discovery, &is_trusted));
            }
        });
    }
}

/// Entries that say nothing of how their servers are reached change those of earlier files.
#[test]
fn entries_that_change_others_are_read_in_linear_time() {
    let clients = [Client::ClaudeCode, Client::Codex, Client::OpenCode];
    let home = |size: usize| {
        let home = Home::empty();
        let found = servers(size, |n| {
            format!(r#""s{n}": {{"type": "local", "command": ["x"]}}"#)
        });
        let changed = servers(size, |n| format!(r#""s{n}": {{"enabled": false}}"#));
        home.write(
            "home/.config/opencode/opencode.json",
            format!(r#"{{"mcp": {{{found}}}}}"#),
        );
        home.write(
            "project/opencode.json",
            format!(r#"{{"mcp": {{{changed}}}}}"#),
        );
        home
    };
    let changed = discover_all(&home(3).around(), &clients, &Inputs::new());
    assert_eq!(changed.found.len(), 6);
    assert!(!changed.found[5].server.enabled);
    dormouse_tests::growth::is_linear("changes", 60, home, |home: &Home| {
        for may_fill in [true, false] {
            let policy = FillPolicy {
                inputs: &Inputs::new(),
                may_fill: &|_, _| may_fill,
                may_follow: &|_| may_fill,
                max_bytes: MAX_FILLED_IN,
            };
            std::hint::black_box(discover(&home.around(), &clients, &policy));
        }
    });
}

/// A large server that a file names without end is one.
#[test]
fn a_server_that_is_changed_again_and_again_is_kept_once() {
    let home = Home::empty();
    let argument = "a".repeat(100_000);
    home.write(
        "home/.config/opencode/opencode.json",
        format!(r#"{{"mcp": {{"s": {{"type": "local", "command": ["x", "{argument}"]}}}}}}"#),
    );
    let changes = servers(999, |n| format!(r#""s": {{"enabled": {}}}"#, n % 2 == 0));
    home.write(
        "project/opencode.json",
        format!(r#"{{"mcp": {{{changes}}}}}"#),
    );
    let clients = [Client::OpenCode];
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    let enabled: Vec<_> = discovery
        .found
        .iter()
        .map(|found| found.server.enabled)
        .collect();
    assert_eq!(enabled, [true, true]);
}
