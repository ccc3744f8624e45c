//! Merging of several clients into one server for each name.

use super::*;

fn describe_merged(merged: &MergedServers) -> String {
    let mut text = String::new();
    for (name, choice) in &merged.servers {
        let origin = &choice.server.origin;
        let off = if choice.server.enabled { "" } else { " off" };
        let launch = &choice.server.bridge().unwrap().launch;
        writeln!(text, "{name}: {launch}{off}\n  at {origin}").unwrap();
        for also in &choice.also {
            writeln!(text, "  also at {also}").unwrap();
        }
    }
    for lost in &merged.overridden {
        writeln!(
            text,
            "{} of {} is overridden by {}",
            lost.name, lost.origin, lost.by
        )
        .unwrap();
    }
    text
}

fn is_users(origin: &Origin) -> bool {
    !matches!(origin.scope, Scope::Project(_))
}

#[test]
fn all_homes_at_once() {
    let names = all_homes();
    let names = names.iter().map(String::as_str);
    let names: Vec<_> = names.filter(|name| !name.ends_with("-managed")).collect();
    let home = Home::of(&names);
    let discovery = discover_all(
        &home.around(),
        &Client::all().collect::<Vec<_>>(),
        &Inputs::new(),
    );
    let trusted = describe_merged(&merge(&discovery, &|_| true));
    expect(&homes().join("all.trusted.txt"), &home.shown(&trusted));
    let untrusted = describe_merged(&merge(&discovery, &is_users));
    expect(&homes().join("all.untrusted.txt"), &home.shown(&untrusted));
}

/// The merge of a Claude Code file, a Cursor file and the two of a project.
fn merged(files: [&str; 4], trusted: &dyn Fn(&Origin) -> bool) -> String {
    let home = Home::empty();
    let places = [
        "home/.claude.json",
        "home/.cursor/mcp.json",
        "project/.mcp.json",
        "project/.cursor/mcp.json",
    ];
    for (file, servers) in places.into_iter().zip(files) {
        if !servers.is_empty() {
            home.write(file, format!(r#"{{"mcpServers": {{{servers}}}}}"#));
        }
    }
    let discovery = discover_all(
        &home.around(),
        &Client::all().collect::<Vec<_>>(),
        &Inputs::new(),
    );
    let problems: Vec<_> = discovery.problems().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:?}");
    home.shown(&describe_merged(&merge(&discovery, trusted)))
}

#[test]
fn the_first_client_wins() {
    let files = [
        r#""a": {"command": "one"}"#,
        r#""a": {"command": "two"}"#,
        "",
        "",
    ];
    let expected = "a: one\n  at /home/.claude.json:1\n\
        a of /home/.cursor/mcp.json:1 is overridden by /home/.claude.json:1\n";
    assert_eq!(merged(files, &|_| true), expected);
}

#[test]
fn one_server_in_two_clients_is_one() {
    let files = [
        r#""a": {"command": "x", "args": ["y"]}"#,
        r#""b": {"command": "x", "args": ["y"]}"#,
        "",
        "",
    ];
    let expected = "a: x y\n  at /home/.claude.json:1\n  also at /home/.cursor/mcp.json:1\n";
    assert_eq!(merged(files, &|_| true), expected);
    // In one client, two are what their user wanted.
    let files = [
        r#""a": {"command": "x"}, "b": {"command": "x"}"#,
        "",
        "",
        "",
    ];
    let expected = "a: x\n  at /home/.claude.json:1\nb: x\n  at /home/.claude.json:1\n";
    assert_eq!(merged(files, &|_| true), expected);
}

#[test]
fn what_nobody_trusts_stands_for_nothing_trusted() {
    let files = [
        r#""a": {"command": "mine"}"#,
        r#""b": {"command": "mine-too"}"#,
        r#""a": {"command": "evil"}, "b": {"command": "evil"}, "c": {"command": "evil"}"#,
        "",
    ];
    let untrusted = merged(files, &is_users);
    assert!(untrusted.contains("a: mine\n"), "{untrusted}");
    assert!(untrusted.contains("b: mine-too\n"), "{untrusted}");
    assert!(
        !untrusted.contains("evil") && !untrusted.contains("project"),
        "{untrusted}"
    );
    let trusted = merged(files, &|_| true);
    assert!(
        trusted.contains("a: /project") || trusted.contains("a: evil\n"),
        "{trusted}"
    );
}

#[test]
fn a_server_that_is_off_gives_way_to_one_that_is_on() {
    let files = [
        r#""a": {"command": "x", "disabled": true}, "b": {"command": "y", "disabled": true}"#,
        r#""a": {"command": "x"}"#,
        "",
        "",
    ];
    let merged = merged(files, &|_| true);
    assert!(
        merged.contains("a: x\n  at /home/.cursor/mcp.json:1\n"),
        "{merged}"
    );
    assert!(merged.contains("b: y off\n"), "{merged}");
}

#[test]
fn a_project_turns_nothing_on_that_its_user_has_not() {
    let home = Home::empty();
    home.write(
        "home/.config/opencode/opencode.json",
        r#"{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": false},
                   "b": {"type": "local", "command": ["y"]}}}"#,
    );
    home.write(
        "project/opencode.json",
        r#"{"mcp": {"a": {"enabled": true}, "b": {"enabled": false}}}"#,
    );
    let discovery = discover_all(&home.around(), &[Client::OpenCode], &Inputs::new());
    let states = |trusted: &dyn Fn(&Origin) -> bool| {
        let merged = merge(&discovery, trusted);
        let states = merged.servers.values().map(|choice| choice.server.enabled);
        states.collect::<Vec<_>>()
    };
    assert_eq!(states(&is_users), [false, true]);
    assert_eq!(states(&|_| true), [true, false]);
}

#[test]
fn administrators_have_the_last_word() {
    let home = Home::of(&["claude-code-managed"]);
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let merged = merge(&discovery, &|_| true);
    let names: Vec<_> = merged.servers.keys().collect();
    assert_eq!(names, ["company-internal", "github"]);
    assert_eq!(merged.overridden.len(), 1);
    assert!(merged.overridden[0].by.file.ends_with("managed-mcp.json"));
}

#[test]
fn one_file_that_three_clients_read_is_read_as_the_first_reads_it() {
    let home = Home::empty();
    home.write(
        "project/.mcp.json",
        r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${API_KEY}"}},
                          "off": {"command": "y"},
                          "f": {"url": "https://a.example", "headers": {"K": "{{.env.API_KEY}}"}}}}"#,
    );
    home.write(
        "project/.claude/settings.json",
        r#"{"disabledMcpjsonServers": ["off"]}"#,
    );
    let all: Vec<_> = Client::all().collect();
    let merged = merge(&discover_all(&home.around(), &all, &Inputs::new()), &|_| {
        true
    });
    let clients: Vec<_> = merged
        .servers
        .values()
        .map(|choice| (choice.server.origin.client, choice.server.enabled))
        .collect();
    let expected = [
        (Some(Client::ClaudeCode), true),
        (Some(Client::Forge), true),
        (Some(Client::ClaudeCode), false),
    ];
    assert_eq!(clients, expected);
    assert!(merged.overridden.is_empty());
    assert_eq!(merged.servers["a"].also.len(), 2);
}

/// Server of the name `a`, where Claude Code's own file has it and a project's, too.
fn with_settings(settings: &str) -> (String, String) {
    let home = Home::empty();
    home.write(
        "home/.claude.json",
        r#"{"mcpServers": {"a": {"command": "mine"}}}"#,
    );
    home.write(
        "project/.mcp.json",
        r#"{"mcpServers": {"a": {"command": "theirs"}, "b": {"command": "other"}}}"#,
    );
    home.write("home/.claude/settings.json", settings);
    let program = |clients: &[Client]| {
        let discovery = discover_all(&home.around(), clients, &Inputs::new());
        let merged = merge(&discovery, &|_| true);
        let server = &merged.servers["a"].server;
        assert!(server.enabled, "{settings}");
        server.bridge().unwrap().launch.to_string()
    };
    let all: Vec<_> = Client::all().collect();
    (program(&[Client::ClaudeCode]), program(&all))
}

#[test]
fn a_projects_server_that_is_not_approved_hides_none_of_its_users() {
    for (settings, expected) in [
        ("{}", "theirs"),
        (r#"{"enabledMcpjsonServers": ["a"]}"#, "theirs"),
        (r#"{"enabledMcpjsonServers": ["b"]}"#, "mine"),
        (r#"{"disabledMcpjsonServers": ["a"]}"#, "mine"),
    ] {
        let expected = (expected.to_owned(), expected.to_owned());
        assert_eq!(with_settings(settings), expected, "{settings}");
    }
}

#[test]
fn what_one_client_forbids_holds_also_while_a_variable_is_unset() {
    let home = Home::empty();
    home.write(
        "home/.codex/config.toml",
        "[mcp_servers.notes]\ncommand = \"notes\"\nenabled = false\nenv_vars = [\"NOTES_TOKEN\"]\n",
    );
    home.write(
        "home/.gemini/settings.json",
        r#"{"mcpServers": {"notes": {"command": "notes", "env": {"NOTES_TOKEN": "$NOTES_TOKEN"}}}}"#,
    );
    for value in [None, Some("SECRET")] {
        let mut around = home.around();
        let variable = value.map(|value| ("NOTES_TOKEN".to_owned(), value.to_owned()));
        around.env.extend(variable);
        let clients = [Client::Codex, Client::Gemini];
        let merged = merge(&discover_all(&around, &clients, &Inputs::new()), &|_| true);
        assert!(merged.overridden.is_empty(), "{value:?}");
        let server = &merged.servers["notes"].server;
        let rules = &server.bridge().unwrap().rules;
        assert!(server.enabled, "{value:?}");
        assert!(!rules.enable(Some(Client::Codex)), "{value:?}");
        assert!(rules.enable(Some(Client::Gemini)), "{value:?}");
    }
}

/// Two variables that are not set have no value in common.
#[test]
fn servers_of_different_variables_are_two_while_none_is_set() {
    let home = Home::empty();
    home.write(
        "home/.claude.json",
        r#"{"mcpServers": {"first": {"command": "hello", "args": ["--key", "${AAA}"]}}}"#,
    );
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"second": {"command": "hello", "args": ["--key", "${env:BBB}"]},
                           "third": {"command": "hello", "args": ["--key", "${env:AAA}"]}}}"#,
    );
    let clients = [Client::ClaudeCode, Client::Cursor];
    let shown = |values: [Option<&str>; 2]| {
        let mut around = home.around();
        let variables = ["AAA", "BBB"].into_iter().zip(values);
        let set = variables.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        around.env.extend(set);
        let merged = merge(&discover_all(&around, &clients, &Inputs::new()), &|_| true);
        let names: Vec<_> = merged.servers.keys().cloned().collect();
        names.join(" ")
    };
    assert_eq!(shown([None, None]), "first second");
    assert_eq!(shown([Some("a"), None]), "first second");
    assert_eq!(shown([Some("a"), Some("b")]), "first second");
    assert_eq!(shown([Some("a"), Some("a")]), "first");
}

/// A server that wants a token is not one that wants none, also while the token is not there.
#[test]
fn a_missing_token_does_not_hide_the_server_without_one() {
    let url = "http://127.0.0.1:9/mcp";
    let codex = format!("[mcp_servers.a]\nurl = '{url}'\nbearer_token_env_var = 'NOT_THERE'\n");
    let gemini = format!(r#"{{"mcpServers": {{"b": {{"httpUrl": "{url}"}}}}}}"#);
    let claude = format!(r#"{{"mcpServers": {{"b": {{"type": "http", "url": "{url}"}}}}}}"#);
    for (file, text) in [
        ("home/.gemini/settings.json", gemini),
        ("home/.claude.json", claude),
    ] {
        let home = Home::empty();
        home.write("home/.codex/config.toml", &codex);
        home.write(file, text);
        let clients: Vec<_> = Client::all().collect();
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        let merged = merge(&discovery, &|_| true);
        let needs = |name: &str| merged.servers[name].server.bridge().unwrap().needs.len();
        assert_eq!((needs("a"), needs("b")), (1, 0), "{file}");
    }
}
