//! Values that are filled in, and those that are not: files of projects that nobody trusts, and too
//! much.

use super::*;
use crate::Filter;

/// Discovers the servers of all clients where `max_bytes` may be filled in, in projects only with
/// `may_fill`.
fn discover_within(around: &Surroundings, may_fill: bool, max_bytes: usize) -> Discovery {
    let clients: Vec<_> = Client::all().collect();
    let policy = FillPolicy {
        inputs: &Inputs::new(),
        may_fill: &|_, _| may_fill,
        may_follow: &|_| may_fill,
        max_bytes,
    };
    discover(around, &clients, &policy)
}

/// A client's file of as many servers as are read, each of which names a file several times.
fn naming(file: &str, times: usize) -> String {
    let args = vec![format!("\"{{file:{file}}}\""); times].join(",");
    let server = format!(r#"{{"type": "local", "command": ["x", {args}]}}"#);
    let servers: Vec<_> = (0..1000).map(|n| format!("\"s{n}\": {server}")).collect();
    format!("{{\"mcp\": {{{}}}}}", servers.join(","))
}

/// Counts the bytes of all arguments of all servers.
fn filled(discovery: &Discovery) -> usize {
    let launches = discovery
        .found
        .iter()
        .filter_map(|found| found.server.bridge());
    let sizes = launches.map(|bridge| match &bridge.launch {
        Launch::Stdio(stdio) => stdio.args.iter().map(String::len).sum(),
        Launch::Http(_) => 0,
    });
    sizes.sum()
}

#[test]
fn servers_of_a_project_that_nothing_may_be_filled_into_are_counted() {
    let home = Home::empty();
    home.write("project/opencode.json", naming("./v", 2));
    home.write("project/v", "v".repeat(60_000));
    let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
    assert_eq!(discovery.found, []);
    assert_eq!(discovery.counted.len(), 1000);
    let content = discovery.content_of(&home.path("project")).unwrap();
    assert_eq!(content.own_files, content.with_filled_in, "it was not read");
}

#[test]
fn all_files_of_a_project_share_what_may_be_filled_in() {
    let home = Home::empty();
    for file in ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"] {
        home.write(&format!("project/{file}"), naming("~/v", 15));
    }
    home.write("home/v", "v".repeat(60_000));
    let discovery = discover_within(&home.around(), true, 4 << 20);
    assert_eq!(discovery.found.len(), 3000);
    let size = filled(&discovery);
    assert!((1 << 20..=4 << 20).contains(&size), "{size}");
    let last = discovery.found.last().unwrap().server.bridge().unwrap();
    assert!(
        last.needs[0].text.contains("`filled_in`"),
        "{:?}",
        last.needs
    );
}

#[test]
fn a_file_of_the_users_has_a_limit_as_well() {
    let home = Home::empty();
    home.write("home/.config/opencode/opencode.json", naming("~/v", 15));
    home.write("home/v", "v".repeat(60_000));
    let other = r#"{"mcpServers": {"other": {"command": "${API_KEY}"}}}"#;
    home.write(
        "home/.cursor/mcp.json",
        other.replace("API_KEY", "env:API_KEY"),
    );
    let discovery = discover_within(&home.around(), true, 4 << 20);
    let size = filled(&discovery);
    assert!((1 << 20..=4 << 20).contains(&size), "{size}");
    // Other files have their own.
    let mut found = discovery.found.iter();
    let other = found.find(|found| found.written_name == "other").unwrap();
    assert_eq!(other.server.bridge().unwrap().needs, []);
}

/// A user's own server that is made of a file of the project that the user is in.
#[test]
fn a_users_server_that_takes_a_file_of_a_project_takes_it_from_that_project_alone() {
    let home = Home::empty();
    home.write("project/real.env", "A=1\n");
    home.write("project/sub/file", "");
    home.write("home/own.env", "A=2\n");
    home.write("project/.mcp.json", "{}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(home.path("home/own.env"), home.path("project/out.env"))
            .unwrap();
        std::os::unix::fs::symlink(home.path("project"), home.path("home/in")).unwrap();
    }
    for (file, is_of_project) in [
        ("${workspaceFolder}/real.env", true),
        ("${workspaceFolder}/sub/../real.env", true),
        ("real.env", true),
        ("${workspaceFolder}/none.env", true),
        #[cfg(unix)]
        ("${workspaceFolder}/out.env", true),
        #[cfg(unix)]
        ("${userHome}/in/real.env", true),
        ("${userHome}/own.env", false),
    ] {
        let server = format!(r#"{{"type": "stdio", "command": "x", "envFile": "{file}"}}"#);
        let text = format!(r#"{{"servers": {{"a": {server}}}}}"#);
        home.write("home/.config/Code/User/mcp.json", text);
        for may_fill in [false, true] {
            let discovery = discover_within(&home.around(), may_fill, MAX_FILLED_IN);
            let found = &discovery.found[0];
            let of = is_of_project.then(|| home.path("project"));
            assert_eq!(found.filled_from, of, "{file}");
            let needs = &found.server.bridge().unwrap().needs;
            let is_refused = needs
                .iter()
                .any(|need| need.text.contains("dormouse trust"));
            assert_eq!(is_refused, is_of_project && !may_fill, "{file}: {needs:?}");
            let content = discovery.content_of(&home.path("project")).unwrap();
            let is_in_hash = content.with_users_servers != content.own_files;
            let is_there = !file.contains("none");
            assert_eq!(is_in_hash, is_of_project && may_fill && is_there, "{file}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_projects_file_that_leads_out_of_it_is_opened_only_where_the_project_may_be_followed() {
    let home = Home::empty();
    let servers = r#"{"mcpServers": {"a": {"command": "b"}}}"#;
    home.write("elsewhere/servers.json", servers);
    home.write("project/sub/servers.json", servers);
    let link = home.path("project/.mcp.json");
    for (target, leads_out) in [
        (home.path("elsewhere/servers.json"), true),
        ("../elsewhere/servers.json".into(), true),
        ("/net/nowhere.invalid/servers.json".into(), true),
        ("sub/servers.json".into(), false),
    ] {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let shown = target.display();
        let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
        assert_eq!(discovery.counted.is_empty(), leads_out, "{shown}");
        let told = discovery.sources.iter().any(|source| match &source.state {
            SourceState::Read { problems, .. } => {
                let mut problems = problems.iter();
                problems.any(|problem| problem.message.contains("is a link out of the project"))
            }
            SourceState::Missing => false,
        });
        assert_eq!(told, leads_out, "{shown}");
        let content = discovery.content_of(&home.path("project"));
        let has_content = content.is_some_and(|content| content.own_files.is_some());
        assert_eq!(has_content, !leads_out, "{shown}");
        let discovery = discover_within(&home.around(), true, MAX_FILLED_IN);
        let is_there = !shown.to_string().starts_with("/net");
        assert_eq!(discovery.found.is_empty(), !is_there, "{shown}");
    }
}

/// A client's file with one server of these arguments.
fn with_args(args: &str) -> Home {
    let home = Home::empty();
    let server = format!(r#"{{"command": "x", "args": [{args}], "env": {{"E": "${{API_KEY}}"}}}}"#);
    let text = format!("{{\"mcpServers\": {{\"s\": {server}}}}}");
    home.write("home/.cursor/mcp.json", &text);
    home.write("home/.gemini/settings.json", &text);
    home
}

#[test]
fn variables_are_filled_in_in_linear_time() {
    let one =
        |part: &'static str| move |size: usize| with_args(&format!("\"{}\"", part.repeat(size)));
    let parts = [
        "${API_KEY}",
        "${env:API_KEY}",
        "${env:NO}",
        "$NO_X ",
        "${env:",
        "${{",
        "{",
        "$",
    ];
    let names = |size: usize| {
        let names = (0..size).map(|number| format!("${{env:N{number}}}$N{number}"));
        with_args(&format!("\"{}\"", names.collect::<String>()))
    };
    let args = |size: usize| with_args(&vec!["\"${env:API_KEY}$NO\""; size].join(","));
    let grows = |what: &str, input: &dyn Fn(usize) -> Home| {
        dormouse_tests::growth::is_linear(what, 600, input, |home: &Home| {
            let discovery = discover_within(&home.around(), true, MAX_FILLED_IN);
            assert_eq!(discovery.found.len() + discovery.counted.len(), 2, "{what}");
        });
    };
    for part in parts {
        grows(part, &one(part));
    }
    grows("names", &names);
    grows("arguments", &args);
}

/// The amount that is read before a project is trusted does not grow with the number of its files.
#[test]
fn all_files_of_a_project_share_what_is_read_of_it() {
    let home = Home::empty();
    let servers = |file: usize, number: usize| {
        let servers = (0..number).map(|n| format!(r#""s{file}-{n}": {{"command": "x"}}"#));
        format!(
            r#"{{"mcpServers": {{{}}}}}"#,
            servers.collect::<Vec<_>>().join(",")
        )
    };
    for file in 0..300 {
        home.write(
            &format!("project/.continue/mcpServers/{file:03}.json"),
            servers(file, 30),
        );
    }
    let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
    assert_eq!(discovery.counted.len(), 4000);
    let long = "x".repeat(900_000);
    for file in 0..300 {
        let text = format!(r#"{{"mcpServers": {{"a{file}": {{"command": "{long}"}}}}}}"#);
        home.write(
            &format!("project/.continue/mcpServers/{file:03}.json"),
            text,
        );
    }
    let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
    assert_eq!(discovery.counted.len(), 4);
    let mut told = discovery.problems();
    assert!(told.any(|problem| problem.message.contains("more than 4.0 MiB together")));
    // A part of two letters takes a hundred bytes of memory.
    let home = Home::empty();
    for file in 0..3 {
        home.write(
            &format!("project/.continue/mcpServers/{file}.yaml"),
            format!("x: [{}]\n", ":,".repeat(200_000)),
        );
    }
    let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
    let mut told = discovery.problems();
    assert!(told.any(|problem| problem.message.contains("parts together")));
    // They are counted before a file is parsed, which takes far longer.
    let home = Home::empty();
    let text = format!("x: '{}'\n", ",".repeat(600_000));
    home.write("project/.continue/mcpServers/0.yaml", text);
    let discovery = discover_within(&home.around(), false, MAX_FILLED_IN);
    let mut told = discovery.problems();
    assert!(told.any(|problem| problem.message.contains("parts together")));
}

/// Patterns that rules come to for each server's name do not add up without end.
#[test]
fn rules_for_the_servers_of_a_project_are_bounded_together() {
    let home = Home::empty();
    let servers = |write: &dyn Fn(&str) -> serde_json::Value| -> serde_json::Value {
        let names = (0..300).map(|n| format!("s{n:03}aaaaaa"));
        names.map(|name| (name.clone(), write(&name))).collect()
    };
    let patterns = (0..500).map(|n| format!("*a*a*a*a*a*a*{n:03}{}", "x".repeat(90)));
    let patterns: Vec<_> = patterns.collect();
    let of_claude = (0..400).map(|n| format!("mcp__s000aaaaaa__{n}"));
    let of_claude: Vec<_> = of_claude.chain(patterns.clone()).collect();
    let off: serde_json::Value = (patterns.iter())
        .map(|pattern| (pattern.clone(), serde_json::Value::Bool(false)))
        .collect();
    let files = [
        (
            "project/opencode.json",
            serde_json::json!({
                "mcp": servers(&|name| serde_json::json!({ "type": "local", "command": [name] })),
                "tools": off,
            }),
        ),
        (
            "project/.gemini/settings.json",
            serde_json::json!({
                "mcpServers": servers(&|name| serde_json::json!({ "command": name })),
                "tools": { "exclude": patterns },
            }),
        ),
        (
            "project/.claude/settings.json",
            serde_json::json!({ "permissions": { "deny": of_claude } }),
        ),
        (
            "project/.mcp.json",
            serde_json::json!({
                "mcpServers": servers(&|name| serde_json::json!({ "command": name })),
            }),
        ),
    ];
    for (file, content) in &files {
        home.write(file, content.to_string());
    }
    let discovery = discover_within(&home.around(), true, MAX_FILLED_IN);
    let with_rules = [Client::OpenCode, Client::Gemini, Client::ClaudeCode].map(Some);
    let filters = || {
        let found = discovery.found.iter().map(|found| &found.server);
        let found = found.filter(|server| with_rules.contains(&server.origin.client));
        found.map(|server| &server.bridge().unwrap().filter)
    };
    assert_eq!(filters().count(), 900);
    assert!(filters().map(Filter::size).sum::<usize>() < 3 << 20);
    // What is not worked out has no tools, and nothing is shown that a rule denies.
    assert!(filters().any(|filter| *filter == Filter::none()));
    let denied = format!("a000{}", "x".repeat(90));
    assert!(filters().all(|filter| !filter.shows(&denied)));
}

/// A folder that a project makes a link is not looked into.
#[cfg(unix)]
#[test]
fn a_folder_of_a_project_that_leads_out_of_it_is_not_listed() {
    let home = Home::empty();
    home.write(
        "elsewhere/a.json",
        r#"{"mcpServers": {"a": {"command": "b"}}}"#,
    );
    fs::create_dir_all(home.path("project/.continue")).unwrap();
    let link = home.path("project/.continue/mcpServers");
    std::os::unix::fs::symlink(home.path("elsewhere"), link).unwrap();
    for may_fill in [false, true] {
        let discovery = discover_within(&home.around(), may_fill, MAX_FILLED_IN);
        assert!(discovery.found.is_empty() && discovery.counted.is_empty());
    }
}
