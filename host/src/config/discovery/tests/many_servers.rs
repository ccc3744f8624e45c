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
