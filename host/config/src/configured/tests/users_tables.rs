//! Tables of the user's own file about servers that are configured elsewhere.

use super::*;

/// Whoever makes the last key of a table a comment has not said that the server is wrong.
#[test]
fn an_empty_table_changes_nothing_of_a_server_that_was_found() {
    let all = with("[servers.git]\n[servers.nobodys]\n");
    assert!(all.own_problems.is_empty(), "{:?}", all.own_problems);
    assert_eq!(program(&all, "git"), program(&with(""), "git"));
    // `doctor` tells of what is about no server.
    assert_eq!(all.stray.keys().collect::<Vec<_>>(), ["nobodys"]);
}

#[test]
fn every_key_changes_a_server_that_was_found() {
    let all = with(
        "[servers.git]\n\
         enabled = true\nprefix = 'g'\ninstance = 'per-session'\non_change = 'block'\n\
         share = true\nfrom = ['codex']\n\
         args = ['more', '${DORMOUSE_TEST_NOT_SET:-filled}']\ncwd = '/tmp'\n\
         tools = ['a', 'b']\ninclude_tools = ['a*']\nexclude_tools = ['ab']\n\
         start_timeout = '3s'\n\
         [servers.git.env]\nTOKEN = 'hush'\n\
         [servers.git.limits]\ntimeout = '7s'\n\
         [servers.git.settings]\nx = 1\n\
         [servers.git.grants]\nenv = ['TZ']\n\
         [servers.web]\ntype = 'sse'\n\
         [servers.web.headers]\nX-Key = 'hush'\n\
         [servers.web.oauth]\nclient_id = 'mine'\n",
    );
    assert!(all.own_problems.is_empty() && all.stray.is_empty());
    let git = &all.servers["git"];
    let bridge = git.bridge().unwrap();
    assert_eq!(
        program(&all, "git"),
        (
            "npx".to_owned(),
            vec!["more".to_owned(), "filled".to_owned()],
            vec![("TOKEN".to_owned(), "hush".to_owned())]
        )
    );
    assert_eq!(bridge.stubs, ["a", "b"]);
    assert_eq!(
        ["a", "ab", "c"].map(|tool| bridge.filter.shows(tool)),
        [true, false, false]
    );
    assert_eq!(bridge.patience(), Duration::from_secs(3));
    assert_eq!(
        (bridge.changes.on_change, bridge.share),
        (OnChange::Block, true)
    );
    assert_eq!(git.prefix.as_deref(), Some("g"));
    assert_eq!(git.instance, Some(Instance::PerSession));
    assert_eq!(git.from, [Client::Cursor, Client::Codex]);
    assert_eq!(git.limits.timeout, Duration::from_secs(7));
    assert_eq!(git.settings["x"], 1);
    assert_eq!(git.grants.env, ["TZ"]);
    // It is another launch now, of which nothing is known yet.
    assert_ne!(
        bridge.fingerprint,
        with("").servers["git"].bridge().unwrap().fingerprint
    );
    let Some(Launch::Http(web)) = all.servers["web"].bridge().map(|bridge| &bridge.launch) else {
        panic!("{all:?}");
    };
    assert_eq!(web.url, "https://example.com/mcp");
    assert_eq!(web.transport, HttpTransport::Sse);
    assert_eq!(web.headers["X-Key"].expose(), "hush");
    assert_eq!(web.oauth.client_id.as_deref(), Some("mine"));
}

#[test]
fn what_a_client_denies_stays_denied_whatever_the_users_own_table_denies() {
    let home = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write(
        ".claude.json",
        r#"{"mcpServers": {"hub": {"command": "hub"}}}"#,
    );
    write(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["mcp__hub__del"]}}"#,
    );
    write(
        ".gemini/settings.json",
        r#"{"mcpServers": {"few": {"command": "few", "includeTools": ["get", "put"]}}}"#,
    );
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let shown = |server: &str, own: &str| {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let trust = TestTrust::new(&home.path().join("data"));
        let all = Configured::new(own, Some(&around), &trust);
        let bridge = all.servers[server].bridge().unwrap().clone();
        let client = match server {
            "hub" => Client::ClaudeCode,
            _ => Client::Gemini,
        };
        let filter = bridge.rules.filter(&bridge.filter, Some(client));
        let tools = ["get", "put", "del", "echo"].into_iter();
        tools
            .filter(|tool| filter.shows(tool))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (server, own, tools) in [
        ("hub", "", "get put echo"),
        (
            "hub",
            "[servers.hub]\nexclude_tools = ['echo']\n",
            "get put",
        ),
        ("hub", "[servers.hub]\nexclude_tools = []\n", "get put echo"),
        (
            "hub",
            "[servers.hub]\ninclude_tools = ['del', 'get']\n",
            "get",
        ),
        (
            "hub",
            "[servers.hub.clients.claude-code]\nexclude_tools = ['echo']\n",
            "get put",
        ),
        ("few", "", "get put"),
        (
            "few",
            "[servers.few]\ninclude_tools = ['*t', 'del']\n",
            "get put",
        ),
        (
            "few",
            "[servers.few]\ninclude_tools = ['del', 'put']\n",
            "put",
        ),
        (
            "few",
            "[servers.few.clients.gemini]\ninclude_tools = ['del', 'put']\n",
            "put",
        ),
    ] {
        assert_eq!(shown(server, own), tools, "{server}: {own}");
    }
}

#[test]
fn what_is_said_of_limits_leaves_the_others_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    let codex = home.path().join(".codex");
    std::fs::create_dir(&codex).unwrap();
    let text = "[mcp_servers.slow]\ncommand = 'slow'\ntool_timeout_sec = 500\n";
    std::fs::write(codex.join("config.toml"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let own = "[servers.slow.limits]\nmemory = '1MiB'\n";
    let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let all = Configured::new(
        own,
        Some(&around),
        &TestTrust::new(&home.path().join("data")),
    );
    let limits = &all.servers["slow"].limits;
    assert_eq!(limits.timeout, Duration::from_secs(500));
    assert_eq!(limits.memory, 1 << 20);
}

#[test]
fn a_variable_that_is_given_is_missed_no_longer() {
    let home = tempfile::tempdir().unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    let text = r#"{"mcpServers": {"hub": {"command": "hub", "args": ["${input:x}"],
        "env": {"TOKEN": "${env:DORMOUSE_TEST_NOT_SET}", "KEY": "${input:key}"}}}}"#;
    std::fs::write(cursor.join("mcp.json"), text).unwrap();
    let vscode = home.path().join(".config/Code/User");
    std::fs::create_dir_all(&vscode).unwrap();
    let text = text.replace("mcpServers", "servers");
    std::fs::write(vscode.join("mcp.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let needs = |own: &str| {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let trust = TestTrust::new(&home.path().join("data"));
        let all = Configured::new(own, Some(&around), &trust);
        let needs = &all.servers["hub"].bridge().unwrap().needs;
        let mut places: Vec<_> = needs.iter().map(|need| need.place.clone()).collect();
        places.sort();
        places.into_iter().flatten().collect::<Vec<_>>()
    };
    let before = needs("");
    assert!(!before.is_empty());
    let rest = needs("[servers.hub.env]\nKEY = 'mine'\nTOKEN = 'mine'\n");
    assert!(
        rest.iter().all(|place| place.starts_with("args")),
        "{rest:?}"
    );
    let none = needs("[servers.hub]\nargs = []\nenv = { KEY = 'a', TOKEN = 'b' }\n");
    assert_eq!(none, [""; 0]);
    // What is missing in the changes themselves is missed.
    let more = needs("[servers.hub.env]\nMORE = '${DORMOUSE_TEST_NOT_SET}'\n");
    assert!(more.contains(&"env.MORE".to_owned()), "{more:?}");
}

#[test]
fn a_wrong_table_costs_its_server_and_nothing_else() {
    for (wrong, message) in [
        ("[servers.git]\nenabled = 'no'", "has to be true or false"),
        ("[servers.git]\ncomand = 'x'", "did you mean `command`?"),
        (
            "[servers.git]\nheaders = { X = 'y' }",
            "has a `command`, and no `url`",
        ),
        (
            "[servers.git]\nargs = ['x']\nheaders = { X = 'y' }",
            "`args` and `headers`",
        ),
        // Under another name, it is reached in the same way.
        (
            "[servers.mine]\ncommand = ['npx', 'git']\nenabled = 1",
            "has to be true or false",
        ),
    ] {
        let all = with(&format!("{wrong}\n[servers.other]\ncommand = 'other'\n"));
        let refused: Vec<_> = all
            .servers
            .values()
            .filter_map(ServerConfig::refused)
            .collect();
        let [refused] = refused[..] else {
            panic!("{wrong}: {:?}", all.servers);
        };
        assert!(refused.to_string().contains(message), "{refused}");
        let usable = all
            .servers
            .values()
            .filter(|server| server.bridge().is_some());
        let usable: Vec<_> = usable.map(|server| server.name.as_str()).collect();
        assert_eq!(usable, ["other", "web"], "{wrong}");
        assert!(all.own_problems.is_empty(), "{:?}", all.own_problems);
    }
    for wrong in ["[servers.dormouse]\ncommand = 'x'", "[limits]\nmemory = 5"] {
        let all = with(wrong);
        assert_eq!(names(&all), ["git", "web"], "{wrong}");
        assert_eq!(all.own_problems.len(), 1, "{wrong}: {:?}", all.own_problems);
    }
    // Nobody else's servers are taken than those that were named.
    let all = with("[discovery]\nclients = ['cursr']");
    assert_eq!(names(&all), [""; 0]);
    let not_toml = file::parse_usable(Path::new("/d/dormouse.toml"), "[servers").unwrap_err();
    assert!(
        not_toml.to_string().contains("this is not TOML"),
        "{not_toml}"
    );
}

#[test]
fn a_project_that_takes_a_users_name_gets_nothing_that_is_meant_for_them() {
    let home = tempfile::tempdir().unwrap();
    let claude = |folder: &Path, file: &str, command: &str| {
        std::fs::create_dir_all(folder).unwrap();
        let text = format!(r#"{{"mcpServers": {{"hub": {{"command": "{command}"}}}}}}"#);
        std::fs::write(folder.join(file), text).unwrap();
    };
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    claude(&project, ".mcp.json", "theirs");
    let own = "[servers.hub]\nexclude_tools = ['x']\nenv = { TOKEN = 'hush' }\nenabled = true\n\
               on_change = 'accept'\nlimits = { memory = '9GiB' }\n";
    let project = project.canonicalize().unwrap();
    let env = |own: &str| {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
        let trust = TestTrust::new(&home.path().join("data"));
        let before = Configured::for_review(own.clone(), Some(&around), &trust, &project);
        let review = before.review(&project).unwrap();
        trust.grant(&project, &review.content).unwrap();
        let all = Configured::new(own, Some(&around), &trust);
        let (command, _, env) = program(&all, "hub");
        assert_eq!(command, "theirs");
        let hub = &all.servers["hub"];
        let bridge = hub.bridge().unwrap();
        assert!(!bridge.filter.shows("x"));
        let is_cautious = bridge.changes.on_change == OnChange::Freeze;
        assert_eq!(is_cautious, hub.limits.memory == Limits::default().memory);
        // Whoever is asked to trust it is told what it is given.
        for said in [
            "`variable TOKEN`",
            "`enabled = true`",
            "`on_change = accept`",
            "`limits`",
        ] {
            assert_eq!(review.text.contains(said), !is_cautious, "{}", review.text);
        }
        (env.len(), is_cautious, all.notes.len())
    };
    assert_eq!(env(own), (0, true, 1));
    let of_project = own.replace(
        "[servers.hub]",
        &format!("[servers.hub]\nproject = '{}'", project.display()),
    );
    assert_eq!(env(&of_project), (1, false, 0));
    claude(home.path(), ".claude.json", "yours");
    assert_eq!(env(own), (0, true, 2));
    // Elsewhere, what is said of the project's is not for the user's.
    for (own, variables) in [(own, 1), (of_project.as_str(), 0)] {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let around = Surroundings::new(home.path().to_owned(), [].into(), None);
        let all = Configured::new(
            own,
            Some(&around),
            &TestTrust::new(&home.path().join("data")),
        );
        let (command, _, env) = program(&all, "hub");
        assert_eq!((command.as_str(), env.len()), ("yours", variables));
    }
}

#[test]
fn what_a_wrong_table_switches_off_does_not_come_back_under_another_name() {
    let home = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {
        "hub": {"command": "npx", "args": ["gh"]}, "gh": {"command": "npx", "args": ["gh"]},
        "aa": {"command": "npx", "args": ["gh"]}, "other": {"command": "other"}
    }}"#;
    std::fs::write(home.path().join(".claude.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    for own in [
        "[servers.gh]\nenabled = false\nlimits = { memory = 'x' }\n",
        "[server.gh]\nenabled = false\n",
    ] {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let all = Configured::new(
            own,
            Some(&around),
            &TestTrust::new(&home.path().join("data")),
        );
        assert_eq!(names(&all), ["gh", "other"]);
        assert!(all.servers["gh"].refused().is_some());
    }
    // Of a `[discovery]` that is wrong nobody knows whom it would have asked.
    for own in ["discovery = false", "[discovery]\nclient = []"] {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let all = Configured::new(
            own,
            Some(&around),
            &TestTrust::new(&home.path().join("data")),
        );
        assert_eq!(names(&all), [""; 0]);
    }
}
