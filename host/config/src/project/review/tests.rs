use super::*;

#[test]
fn texts_of_projects_end_no_quotes() {
    assert_eq!(quoted("x` (yours)"), "`x\\u{60} (yours)`");
    assert_eq!(quoted("a\\nb\n"), "`a\\\\nb\\n`");
}

#[test]
fn what_is_wrong_is_told_with_quotes_that_no_project_ends() {
    use crate::discovery::Surroundings;
    use crate::project::trusted::TestTrust;
    use crate::{Config, Configured};

    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let files = [
        (
            ".mcp.json",
            r#"{"mcpServers": {"x` (y\u202e": {"command": 1}, "ws": {"type": "websocket", "url": "x"}}}"#,
        ),
        (
            "dormouse.toml",
            "[servers.'x` (y']\ncommand = ['x']\n[servers.z]\ncommand = ['x']\n'x` (y' = 1\n\
             [servers.home]\ncomponent = '~x` (y'\n\
             [servers.twice]\ncomponent = 'a.wasm'\ngrants.http = ['https://a.example']\n\
             secrets.one = { env = 'A', hosts = ['https://a.example'], query = 'x` (y' }\n\
             secrets.two = { env = 'B', hosts = ['https://a.example'], query = 'x` (y' }\n",
        ),
    ];
    for (file, text) in files {
        std::fs::write(project.join(file), text).unwrap();
    }
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(project.as_path()));
    let trust = TestTrust::new(&home.path().join("data"));
    let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
    let text = all.review(&project).unwrap().text;
    for shown in [
        "`mcpServers.x\\u{60} (y\\u{202e}.command` has to be ",
        "servers of type `websocket` cannot be bridged",
        "server name `x\\u{60} (y` has a `\\u{60}` in it",
        "`~x\\u{60} (y` names another user's home",
        "two secrets in the parameter `x\\u{60} (y`",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("x` (y"), "{text}");
}

#[test]
fn a_review_takes_linear_time() {
    use crate::discovery::Surroundings;
    use crate::project::trusted::TestTrust;
    use crate::{Config, Configured};

    let one = |words: &dyn Fn(usize) -> String, size: usize| {
        let words: Vec<_> = (0..size).map(words).collect();
        words.join(",")
    };
    type Servers<'s> = &'s dyn Fn(usize) -> String;
    let cases: [(&str, Servers<'_>); 5] = [
        ("servers", &|size| {
            one(
                &|n| format!(r#""s{n}": {{"command": "x", "args": ["{n}"]}}"#),
                size,
            )
        }),
        ("servers of nearly one name", &|size| {
            one(
                &|n| format!(r#""{}": {{"command": "x{n}"}}"#, "-".repeat(n % 90) + "s"),
                size,
            )
        }),
        ("servers that cannot be used", &|size| {
            one(
                &|n| format!(r#""s{n}": {{"command": {n}, "url": ["{n}"]}}"#),
                size,
            )
        }),
        ("arguments", &|size| {
            let words = one(&|n| format!(r#""a`{n}\u0007""#), 10 * size);
            format!(r#""s": {{"command": "x", "args": [{words}]}}"#)
        }),
        ("variables", &|size| {
            let env = one(&|n| format!(r#""V{n}": "${{W{n}}}""#), size);
            format!(r#""s": {{"command": "x", "env": {{{env}}}}}"#)
        }),
    ];
    for (what, servers) in cases {
        let input = |size: usize| {
            let home = tempfile::tempdir().unwrap();
            let project = home.path().join("project");
            std::fs::create_dir_all(project.join(".cursor")).unwrap();
            std::fs::create_dir(project.join(".git")).unwrap();
            let text = format!(r#"{{"mcpServers": {{{}}}}}"#, servers(size));
            std::fs::write(project.join(".cursor/mcp.json"), &text).unwrap();
            std::fs::write(project.join(".mcp.json"), &text).unwrap();
            (home, project)
        };
        dormouse_tests::growth::is_linear(what, 60, input, |(home, project)| {
            let around =
                Surroundings::new(home.path().to_owned(), [].into(), Some(project.as_path()));
            let trust = TestTrust::new(&home.path().join("data"));
            let all = Configured::for_review(Config::default(), Some(&around), &trust, project);
            let review = all.review(project).unwrap();
            assert!(review.text.len() > 100, "{}", review.text);
        });
    }
}
