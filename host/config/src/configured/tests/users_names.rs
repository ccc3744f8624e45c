//! Names of the user's servers, which no project's server has.

use super::*;

#[test]
fn what_clients_keep_of_projects_is_not_heard_of_a_projects_file() {
    let said = r#"{
        "projects": {"PROJECT": {"disabledMcpServers": ["guard"], "disabledMcpjsonServers": ["gh"]}},
        "disabledMcpServers": ["guard"], "disabledMcpjsonServers": ["guard"],
        "deniedMcpServers": [{"serverName": "guard"}], "allowedMcpServers": [],
        "mcp": {"allowed": ["x"], "excluded": ["guard"]}, "allowManagedMcpServersOnly": true,
        "mcpServers": {}, "servers": {}, "tools": {"guard*": false}, "inputs": []
    }"#;
    for file in [
        ".mcp.json",
        ".copilot/mcp-config.json",
        ".github/mcp.json",
        ".vscode/mcp.json",
        ".cursor/mcp.json",
        "opencode.json",
        ".gemini/settings.json",
        ".zed/settings.json",
        ".amp/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude.json",
    ] {
        for trusted in [false, true] {
            // Without a server there is nothing that could be trusted.
            let server = r#"{"mcpServers": {"theirs": {"command": "theirs"}}}"#;
            let server = (".cursor/mcp.json", server);
            let files: Vec<_> = [server, (file, said)].into_iter().collect();
            let all = in_project(&files, trusted);
            for name in ["gh", "guard", "web"] {
                let server = &all.servers[name];
                assert!(
                    server.enabled && server.denied.is_none(),
                    "{file}: {server:?}"
                );
                assert!(server.bridge().unwrap().filter.shows("guard_it"), "{file}");
            }
        }
    }
}

/// Rules for single clients in the user's own table hold for a project's server of its name, and
/// give it nothing.
#[test]
fn rules_of_single_clients_hold_for_a_projects_server() {
    use crate::Filter;
    let own = "[servers.hub]\nclients = { codex = { enabled = false }, \
               zed = { include_tools = ['a', 'b'] } }\n";
    let server = file::parse_usable(
        Path::new("/d/dormouse.toml"),
        "[servers.hub]\ncommand = ['x']\nclients = { codex = { exclude_tools = ['c'] }, \
         zed = { include_tools = ['b', 'c'] }, cursor = { enabled = false } }\n",
    );
    let mut server = server.unwrap().servers.remove("hub").unwrap();
    server.origin.scope = Scope::Project("/p".into());
    let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    own.overlays["hub"]
        .for_server(&server)
        .apply(&mut server)
        .unwrap();
    let rules = &server.bridge().unwrap().rules;
    assert!(!rules.enable(Some(Client::Codex)) && !rules.enable(Some(Client::Cursor)));
    let shown = rules.filter(&Filter::default(), Some(Client::Zed));
    let shown: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .filter(|name| shown.shows(name))
        .collect();
    assert_eq!(shown, ["b"]);
}

/// Otherwise its approvals, rules and tools would have other names in that folder.
#[test]
fn a_server_keeps_its_name_where_one_of_its_clients_switches_it_off() {
    let home = tempfile::tempdir().unwrap();
    let claude = r#"{
        "mcpServers": {"hub": {"command": "hub"}, "taken": {"command": "yy"}},
        "projects": {"PROJECT": {"disabledMcpServers": ["hub", "taken"]}}
    }"#;
    let cursor = r#"{"mcpServers": {
        "zz": {"command": "hub"}, "other": {"command": "yy"}, "taken": {"command": "xx"}
    }}"#;
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir(home.path().join(".cursor")).unwrap();
    let claude = claude.replace("PROJECT", project.to_str().unwrap());
    std::fs::write(home.path().join(".claude.json"), claude).unwrap();
    std::fs::write(home.path().join(".cursor/mcp.json"), cursor).unwrap();
    let trust = TestTrust::new(&home.path().join("data"));
    for (folder, origin) in [
        (None, Client::ClaudeCode),
        (Some(&*project), Client::Cursor),
    ] {
        let around = Surroundings::new(home.path().to_owned(), [].into(), folder);
        let all = Configured::new(Config::default(), Some(&around), &trust);
        let hub = &all.servers["hub"];
        assert!(hub.enabled && hub.origin.client == Some(origin), "{hub:?}");
        assert_eq!(hub.name, "hub");
        assert!(!all.servers.contains_key("zz"), "{:?}", names(&all));
        let told = all
            .notes
            .iter()
            .any(|(name, note)| name == "hub" && note.contains("`zz`"));
        assert!(told, "{:?}", all.notes);
    }
    // A name that another server has is not free.
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let all = Configured::new(Config::default(), Some(&around), &trust);
    assert_eq!(names(&all), ["hub", "other", "taken"]);
    assert_eq!(program(&all, "taken").0, "xx");
}

#[test]
fn a_project_neither_renames_nor_switches_off_what_the_user_has() {
    let own = "[servers.zz]\ncommand = ['guard']\nenabled = false\n\
               [servers.yy]\ncommand = ['npx', 'gh']\nexclude_tools = ['*']\non_change = 'accept'\n\
               [servers.ww]\nurl = 'https://example.com/mcp'\ntype = 'http'\nprefix = 'x'\n\
               [servers.theirs]\ncommand = ['theirs']\non_change = 'accept'\n\
               new_tools = 'show'\ntools_on_change = { x = 'accept' }\n";
    let gemini = r#"{"mcpServers": {
        "web": {"httpUrl": "https://example.com/mcp", "excludeTools": ["a"]},
        "vv": {"httpUrl": "https://example.com/mcp", "includeTools": []}
    }}"#;
    let all = in_project(
        &[("dormouse.toml", own), (".gemini/settings.json", gemini)],
        true,
    );
    assert_eq!(names(&all), ["gh", "guard", "theirs", "web"]);
    for name in ["gh", "guard", "web"] {
        let server = &all.servers[name];
        assert!(server.enabled, "{server:?}");
        assert_eq!(server.origin.client, Some(Client::ClaudeCode), "{server:?}");
        assert!(server.bridge().unwrap().filter.shows("a"), "{server:?}");
    }
    // Nor does it say what its own servers may change into.
    for server in all.servers.values() {
        let changes = &server.bridge().unwrap().changes;
        assert_eq!(*changes, ChangePolicy::default(), "{server:?}");
    }
    assert!(
        all.notes
            .iter()
            .any(|(name, note)| name == "theirs" && note.contains("not heard"))
    );
}

/// Nothing that a project's files say together takes a name of the user's: not one that looks like
/// it, nor a beginning of names that another of its servers has taken the server of.
#[test]
fn what_is_called_as_the_users_is_the_users() {
    let claude = |names: &[&str]| {
        let servers = names
            .iter()
            .map(|name| format!(r#""{name}": {{"command": "theirs"}}"#));
        let servers: Vec<_> = servers.collect();
        format!(r#"{{"mcpServers": {{{}}}}}"#, servers.join(","))
    };
    let own = |name: &str, more: &str| format!("[servers.{name}]\ncommand = ['other']\n{more}\n");
    for (clients, own, theirs, prefix) in [
        (
            (".mcp.json", claude(&["gh"])),
            own("zz", "prefix = 'gh'"),
            &["gh", "zz"][..],
            None,
        ),
        ((".mcp.json", claude(&["gh"])), own("gh", ""), &["gh"], None),
        (
            (".cursor/mcp.json", claude(&["gh", "Web", "g"])),
            own("gh", "enabled = false"),
            &["g"],
            None,
        ),
        ((".mcp.json", claude(&["GH"])), own("GUARD-", ""), &[], None),
        (
            (".mcp.json", claude(&["zz"])),
            own("yy", "prefix = 'y'"),
            &["yy", "zz"],
            Some("y"),
        ),
    ] {
        let all = in_project(&[(clients.0, &clients.1), ("dormouse.toml", &own)], true);
        let of_project = all.servers.values().filter(|server| server.is_of_project());
        let of_project: Vec<_> = of_project.map(|server| server.name.as_str()).collect();
        assert_eq!(of_project, theirs, "{own}");
        let taken = if theirs.contains(&"gh") { 2 } else { 3 };
        assert_eq!(all.servers.len() - theirs.len(), taken, "{own}");
        let zz = all
            .servers
            .values()
            .find_map(|server| server.prefix.as_deref());
        assert_eq!(zz, prefix, "{own}");
        // What denies its tools by the prefix that is not heard goes on denying them.
        let ignored = all
            .servers
            .values()
            .find_map(|server| server.ignored_prefix.as_deref());
        let is_ignored = own.contains("prefix = 'gh'");
        assert_eq!(ignored, is_ignored.then_some("gh"), "{own}");
        let told = all
            .notes
            .iter()
            .filter(|(_, note)| note.contains("which is not shown:"));
        assert_eq!(
            told.count(),
            all.overridden.len() - (3 - taken),
            "{:?}",
            all.notes
        );
    }
}

/// `trust` says what happens, also of entries that are of no use and of those for one folder.
#[test]
fn a_name_is_the_users_whatever_their_entry_is_worth() {
    for (entry, is_local) in [
        (r#"{"command": "yours"}"#, true),
        ("{}", false),
        (r#"{"command": ""}"#, false),
        (r#"{"url": "not a url"}"#, false),
        (r#"{"type": "weird"}"#, false),
    ] {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let project = project.canonicalize().unwrap();
        let (file, text) = match is_local {
            true => (
                ".claude.json",
                format!(
                    r#"{{"projects": {{"{}": {{"mcpServers": {{"gh": {entry}}}}}}}}}"#,
                    project.display()
                ),
            ),
            false => (
                ".cursor/mcp.json",
                format!(r#"{{"mcpServers": {{"gh": {entry}}}}}"#),
            ),
        };
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(file), text).unwrap();
        let theirs = r#"{"mcpServers": {"gh": {"command": "theirs"}}}"#;
        std::fs::write(project.join(".mcp.json"), theirs).unwrap();
        let trust = TestTrust::new(&home.path().join("data"));
        let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
        let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
        let review = all.review(&project).unwrap();
        assert!(
            review.text.contains("not shown, for your server"),
            "{entry}: {}",
            review.text
        );
        trust.grant(&project, &review.content).unwrap();
        let all = Configured::new(Config::default(), Some(&around), &trust);
        let of_project = all.servers.values().filter(|server| server.is_of_project());
        assert_eq!(of_project.count(), 0, "{entry}");
    }
}

/// A name that the user has written is theirs, also where their server is shown under another.
#[test]
fn a_name_of_a_server_that_is_shown_under_another_is_the_users() {
    let home = tempfile::tempdir().unwrap();
    let server = |name: &str, command: &str| {
        format!(r#"{{"mcpServers": {{"{name}": {{"command": "{command}"}}}}}}"#)
    };
    std::fs::write(home.path().join(".claude.json"), server("github", "gh")).unwrap();
    std::fs::create_dir(home.path().join(".cursor")).unwrap();
    std::fs::write(home.path().join(".cursor/mcp.json"), server("gh", "gh")).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join(".mcp.json"), server("gh", "evil")).unwrap();
    let trust = TestTrust::new(&home.path().join("data"));
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
    let review = all.review(&project).unwrap();
    assert!(
        review.text.contains("not shown, for your server `gh`"),
        "{}",
        review.text
    );
    trust.grant(&project, &review.content).unwrap();
    let all = Configured::new(Config::default(), Some(&around), &trust);
    assert_eq!(names(&all), ["github"]);
    assert_eq!(all.same_as["gh"], "github");
}

#[test]
fn what_the_user_has_is_the_users_whatever_a_project_calls_it() {
    for name in ["aa", "zz"] {
        for file in [".mcp.json", ".cursor/mcp.json", ".gemini/settings.json"] {
            let url = "https://example.com/mcp";
            let server = format!(r#"{{"type": "http", "url": "{url}", "httpUrl": "{url}"}}"#);
            let servers = format!(r#"{{"mcpServers": {{"{name}": {server}}}}}"#);
            let all = in_project(&[(file, &servers)], true);
            assert_eq!(names(&all), ["gh", "guard", "web"], "{file} {name}");
            assert_eq!(all.servers["web"].origin.client, Some(Client::ClaudeCode));
        }
    }
}

/// Digits that a project's server gets because the user has its name do not make it another, nor does
/// what nobody sees in a name.
#[test]
fn a_name_that_would_be_a_users_is_the_users() {
    let claude = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
    let cursor = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "{name}"}}}}}}"#);
    for (users, of_project, is_kept_out) in [
        ("my server", "my_server", true),
        ("my server", "my.server", true),
        ("my_server", "my server", true),
        ("@x/gh", "x_gh", true),
        ("gh", "-gh", true),
        ("gh", "gh\u{200b}", true),
        ("gh", "g\u{200b}h", true),
        ("gh", "GH ", true),
        ("日本", "server-fb52", true),
        ("my server", "myserver", false),
        ("gh", "gh.x", false),
        ("gh", "gh..x", false),
    ] {
        let home = tempfile::tempdir().unwrap();
        let files = [
            (".cursor/mcp.json", &*cursor(users)),
            ("project/.mcp.json", &*claude(of_project)),
        ];
        let all = trusted_in_home(home.path(), &files, "");
        let mut of_project_shown = all.servers.values().filter(|it| it.is_of_project());
        let shown = of_project_shown.next().map(|server| &server.name);
        assert_eq!(
            shown.is_none(),
            is_kept_out,
            "{users} {of_project}: {shown:?}"
        );
        assert_eq!(
            all.overridden.len(),
            usize::from(is_kept_out),
            "{of_project}"
        );
    }
    // What the user's entry is good for makes no difference.
    let home = tempfile::tempdir().unwrap();
    let files = [
        (
            ".cursor/mcp.json",
            r#"{"mcpServers": {"my server": {"command": 1}}}"#,
        ),
        ("project/.mcp.json", &*claude("my.server")),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    assert!(!all.servers.values().any(ServerConfig::is_of_project));
}
