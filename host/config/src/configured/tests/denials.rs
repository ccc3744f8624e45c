//! Denials of the user's, which no entry of a project's lifts.

use super::*;

#[test]
fn what_is_switched_off_stays_off_where_a_project_takes_its_name() {
    let home = tempfile::tempdir().unwrap();
    let server = r#"{"mcpServers": {"NAME": {"command": "npx", "args": ["gh"]}}}"#;
    std::fs::write(
        home.path().join(".claude.json"),
        server.replace("NAME", "gh"),
    )
    .unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    std::fs::write(cursor.join("mcp.json"), server.replace("NAME", "github")).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(
        project.join(".mcp.json"),
        r#"{"mcpServers": {"gh": {"command": "true"}}}"#,
    )
    .unwrap();
    let own = "[servers.gh]\nenabled = false\n";
    let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let trust = TestTrust::new(&home.path().join("data"));
    let states = |folder: Option<&Path>| {
        let around = Surroundings::new(home.path().to_owned(), [].into(), folder);
        let all = Configured::new(own.clone(), Some(&around), &trust);
        let servers = all.servers.values();
        let states = servers.map(|server| (server.name.clone(), server.enabled));
        states.collect::<Vec<_>>()
    };
    let off = vec![("gh".to_owned(), false)];
    assert_eq!(states(None), off);
    assert_eq!(states(Some(&project)), off);
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let all = Configured::for_review(own.clone(), Some(&around), &trust, &project);
    trust
        .grant(&project, &all.review(&project).unwrap().content)
        .unwrap();
    assert_eq!(states(Some(&project)), off);
}

#[test]
fn no_project_takes_a_name_and_brings_its_server_back_under_another() {
    const DECOY: &str = r#"{"mcpServers": {"c": {"command": "true"},
        "HELPER": {"command": "npx", "args": ["gh"]}}}"#;
    let user = r#"{"mcpServers": {"c": {"command": "npx", "args": ["gh"]}}}"#;
    let codex = "[mcp_servers.c]\ncommand = 'npx'\nargs = ['gh']\nenabled = false\n";
    let decoy = "[mcp_servers.c]\ncommand = 'true'\n\
                 [mcp_servers.HELPER]\ncommand = 'npx'\nargs = ['gh']\n";
    for (users, projects, own) in [
        (
            (".cursor/mcp.json", user),
            (".cursor/mcp.json", DECOY),
            "[servers.c]\nenabled = false",
        ),
        (
            (".cursor/mcp.json", user),
            (".cursor/mcp.json", DECOY),
            "[servers.c]\nexclude_tools = ['x']",
        ),
        ((".claude.json", user), (".mcp.json", DECOY), ""),
        (
            (".codex/config.toml", codex),
            (".codex/config.toml", decoy),
            "",
        ),
    ] {
        for helper in ["helper", "a"] {
            let home = tempfile::tempdir().unwrap();
            let of_project = format!("project/{}", projects.0);
            let text = projects.1.replace("HELPER", helper);
            let files = [users, (of_project.as_str(), text.as_str())];
            let all = trusted_in_home(home.path(), &files, own);
            assert_eq!(names(&all), ["c"], "{projects:?}");
            assert!(all.servers["c"].is_of_project());
            let told = all.overridden.iter().any(|one| one.name == helper);
            assert!(told, "{:?}", all.overridden);
        }
    }
}

/// An override that is the same as another entry of the project's takes its name.
#[test]
fn no_two_entries_of_a_project_bring_back_what_is_switched_off() {
    const OF_USER: &str = r#"{"mcpServers": {"c": {"command": "npx", "args": ["gh"]}}}"#;
    const DECOY: &str = r#"{"mcpServers": {"c": {"command": "true"}}}"#;
    for (shared, cursor) in [
        (
            r#"{"mcpServers": {"aaa": {"command": "true"},
                "helper": {"command": "npx", "args": ["gh"]}}}"#,
            DECOY,
        ),
        (
            r#"{"mcpServers": {"aaa": {"command": "npx", "args": ["gh"]}}}"#,
            OF_USER,
        ),
    ] {
        for own in [
            "[servers.helper]\ncommand = ['npx', 'gh']\n",
            "[servers.other]\ncommand = ['x']\n",
        ] {
            let home = tempfile::tempdir().unwrap();
            let files = [
                (".cursor/mcp.json", OF_USER),
                ("project/.mcp.json", shared),
                ("project/.cursor/mcp.json", cursor),
                ("project/dormouse.toml", own),
            ];
            let all = trusted_in_home(home.path(), &files, "[servers.c]\nenabled = false\n");
            for (name, server) in &all.servers {
                let Launch::Stdio(stdio) = &server.bridge().unwrap().launch else {
                    panic!("{name}");
                };
                let is_users = stdio.command == "npx";
                assert!(!(is_users && server.enabled), "{name}: {shared} {own}");
                assert!(!is_users || name == "c", "{name}: {shared} {own}");
            }
        }
    }
}

#[test]
fn a_projects_entry_for_the_same_server_lifts_nothing() {
    let same = r#"{"mcpServers": {"cc": {"command": "npx", "args": ["cc"]}}}"#;
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", same),
        (
            ".claude/settings.json",
            r#"{"permissions": {"deny": ["mcp__cc__danger"]}}"#,
        ),
        ("project/.mcp.json", same),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    for client in Client::all().map(Some).chain([None]) {
        let bridge = all.servers["cc"].bridge().unwrap();
        let filter = bridge.rules.filter(&bridge.filter, client);
        assert!(!filter.shows("danger"), "{client:?}");
        assert!(filter.shows("read"), "{client:?}");
    }
    // So it is where another client of the user's has the filter.
    let gemini = r#"{"mcpServers": {"cc": {"command": "npx", "args": ["cc"],
        "excludeTools": ["danger"]}}}"#;
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", same),
        (".gemini/settings.json", gemini),
        ("project/.mcp.json", same),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    for client in [Some(Client::Gemini), None] {
        let bridge = all.servers["cc"].bridge().unwrap();
        let filter = bridge.rules.filter(&bridge.filter, client);
        assert!(!filter.shows("danger"), "{client:?}");
        assert!(filter.shows("read"), "{client:?}");
    }
    // Codex makes one entry of both, in which its user's list stays.
    let codex = "[mcp_servers.x]\ncommand = 'npx'\nargs = ['x']\n";
    let users = format!("{codex}disabled_tools = ['danger']\n");
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".codex/config.toml", users.as_str()),
        ("project/.codex/config.toml", codex),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    for client in Client::all().map(Some).chain([None]) {
        let bridge = all.servers["x"].bridge().unwrap();
        let filter = bridge.rules.filter(&bridge.filter, client);
        assert!(!filter.shows("danger"), "{client:?}");
    }
}

/// Statements of the user on a server hold for the second name that they have for it, also where a
/// project takes the first.
#[test]
fn no_second_name_of_the_users_brings_back_what_is_switched_off() {
    let u = r#"{"command": "u"}"#;
    let both = format!(r#"{{"mcpServers": {{"a": {u}, "s": {u}}}}}"#);
    for own in [
        "[servers.a]\nenabled = false\n",
        "[servers.a]\nexclude_tools = ['t']\n",
    ] {
        for of_project in [
            r#"{"command": "y"}"#,
            r#"{"command": "y", "disabled": true}"#,
            u,
        ] {
            let of_project = format!(r#"{{"mcpServers": {{"a": {of_project}}}}}"#);
            let home = tempfile::tempdir().unwrap();
            let files = [
                (".cursor/mcp.json", both.as_str()),
                ("project/.cursor/mcp.json", &of_project),
            ];
            let all = trusted_in_home(home.path(), &files, own);
            assert!(!all.servers.contains_key("s"), "{own} {of_project}");
        }
    }
}

/// Several clients read one file of a project's, each beside its own of the user's.
#[test]
fn what_any_client_denies_of_a_shared_entry_stays_denied() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", r#"{"mcpServers": {"s": {"command": "u"}}}"#),
        (
            ".copilot/mcp-config.json",
            r#"{"mcpServers": {"s": {"command": "u", "tools": ["zz"]}}}"#,
        ),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"s": {"command": "y"}}}"#,
        ),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    let bridge = all.servers["s"].bridge().unwrap();
    let filter = bridge.rules.filter(&bridge.filter, None);
    assert!(!filter.shows("t") && filter.shows("zz"));
}

/// A server of the user's that has lost its name to another of theirs has no other name by a
/// project, on which nothing is said.
#[test]
fn a_project_brings_back_no_server_that_lost_its_name() {
    let launch = |folder: &str| format!(r#""command": "fs", "args": ["{folder}"]"#);
    let [work, secret] = [launch("/work"), launch("/secret")];
    let of = |name: &str, entry: &str| format!(r#"{{"mcpServers": {{"{name}": {{{entry}}}}}}}"#);
    let claude = of("fs", &work);
    let denies = r#"{"permissions": {"deny": ["Mcp(fs:delete)"]}}"#;
    let off = of("fs", &format!(r#"{secret}, "disabled": true"#));
    for (cursor, rules) in [(&off, "{}"), (&of("fs", &secret), denies)] {
        for (file, text) in [
            (
                "project/dormouse.toml",
                "[servers.fs2]\ncommand = ['fs', '/secret']\n",
            ),
            ("project/.mcp.json", &of("fs2", &secret)),
        ] {
            let home = tempfile::tempdir().unwrap();
            let files = [
                (".claude.json", claude.as_str()),
                (".cursor/mcp.json", cursor),
                (".cursor/cli-config.json", rules),
                (file, text),
            ];
            let all = trusted_in_home(home.path(), &files, "");
            let names: Vec<_> = all.servers.keys().collect();
            assert_eq!(names, ["fs"], "{file} {cursor}");
            assert!(all.overridden.iter().any(|lost| lost.name == "fs2"));
        }
    }
}

/// Another entry of the user's for a server that a project's stands in place of keeps what other
/// clients say of it.
#[test]
fn a_second_entry_of_the_users_keeps_the_rules_of_other_clients() {
    let same = r#""command": "npx", "args": ["L"]"#;
    let both = format!(r#"{{"mcpServers": {{"a": {{{same}}}, "b": {{{same}}}}}}}"#);
    let gemini = format!(r#"{{"mcpServers": {{"y": {{{same}, "excludeTools": ["delete"]}}}}}}"#);
    let of_project = format!(r#"{{"mcpServers": {{"a": {{{same}}}}}}}"#);
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", both.as_str()),
        (
            ".codex/config.toml",
            "[mcp_servers.x]\ncommand = 'npx'\nargs = ['L']\nenabled = false\n",
        ),
        (".gemini/settings.json", &gemini),
        ("project/.mcp.json", &of_project),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    assert_eq!(all.servers.len(), 1);
    let bridge = all.servers.values().next().unwrap().bridge().unwrap();
    assert!(!bridge.rules.enable(Some(Client::Codex)));
    for client in [Some(Client::Gemini), None] {
        let filter = bridge.rules.filter(&bridge.filter, client);
        assert!(
            !filter.shows("delete") && filter.shows("read"),
            "{client:?}"
        );
    }
}

/// An entry of the user's that has lost its name to another client's still says what is denied.
#[test]
fn what_an_entry_without_its_name_denies_stays_denied() {
    let opencode = |command: &str| {
        format!(r#"{{"mcp": {{"s": {{"type": "local", "command": ["{command}"]}}}}}}"#)
    };
    let (users, of_project) = (opencode("v"), opencode("u"));
    for denial in ["enabled = false", "disabled_tools = ['danger']"] {
        for name in ["s", "q"] {
            let codex = format!("[mcp_servers.{name}]\ncommand = 'u'\n{denial}\n");
            let home = tempfile::tempdir().unwrap();
            let files = [
                (".config/opencode/opencode.json", users.as_str()),
                (".codex/config.toml", codex.as_str()),
                ("project/opencode.json", of_project.as_str()),
            ];
            let all = trusted_in_home(home.path(), &files, "");
            for server in all.servers.values() {
                for client in Client::all().map(Some).chain([None]) {
                    let server = server.for_client(client);
                    let bridge = server.bridge().unwrap();
                    let is_u =
                        matches!(&bridge.launch, Launch::Stdio(stdio) if stdio.command == "u");
                    let is_held = !server.enabled || !bridge.filter.shows("danger");
                    let is_other = client.is_some() && client != Some(Client::Codex) && name == "q";
                    assert!(!is_u || is_held || is_other, "{denial} {name} {client:?}");
                }
            }
        }
    }
}

/// Of two names that one client has for a program, one is off: a project that takes the other name
/// brings neither up.
#[test]
fn no_project_takes_the_name_of_the_one_of_two_that_is_on() {
    let codex = "[mcp_servers.t]\ncommand = 'u'\n[mcp_servers.s]\ncommand = 'u'\nenabled = false\n";
    let around = |file: &'static str, text: &'static str| {
        let home = tempfile::tempdir().unwrap();
        let files = [(".codex/config.toml", codex), (file, text)];
        let all = trusted_in_home(home.path(), &files, "");
        let states = all.servers.values().filter(|server| {
            let bridge = server.bridge().unwrap();
            matches!(&bridge.launch, Launch::Stdio(stdio) if stdio.command == "u")
        });
        let states = states.map(|server| (server.name.clone(), server.enabled));
        states.collect::<Vec<_>>()
    };
    let alone = around("project/dormouse.toml", "[servers.z]\ncommand = 'y'\n");
    for (file, text) in [
        ("project/dormouse.toml", "[servers.t]\ncommand = 'y'\n"),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"t": {"command": "y"}}}"#,
        ),
        (
            "project/.codex/config.toml",
            "[mcp_servers.z]\ncommand = 'y'\n",
        ),
    ] {
        assert_eq!(around(file, text), alone, "{file}");
    }
}

/// An entry that is off loses its name to a project's: it keeps its client from the program still.
#[test]
fn a_client_whose_entry_a_project_overrides_gets_no_second_one() {
    let u = r#"{"command": "u"}"#;
    let claude = r#"{"mcpServers": {"z": {"command": "u", "disabled": true}}}"#;
    let copilot = format!(r#"{{"mcpServers": {{"a": {u}, "s": {u}}}}}"#);
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", claude),
        (".copilot/mcp-config.json", &copilot),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"z": {"command": "v"}}}"#,
        ),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    assert_eq!(names(&all), ["s", "z"]);
    let is_on = |client| all.servers["s"].for_client(Some(client)).enabled;
    assert!(!is_on(Client::ClaudeCode) && is_on(Client::Copilot));
}
