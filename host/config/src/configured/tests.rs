use std::time::Duration;

use dormouse_launch::{HttpTransport, Launch};
use dormouse_policy::Limits;
use dormouse_wit::Instance;

use super::*;
use crate::trusted::Trust;
use crate::{Adapter, OnChange};

mod random_configurations;
mod users_launches;

/// Servers with a text in `dormouse.toml`, where Cursor has a server `git` and another one.
fn with(own: &str) -> Configured {
    let home = tempfile::tempdir().unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    let text = r#"{"mcpServers": {
        "git": {"command": "npx", "args": ["git"]},
        "web": {"url": "https://example.com/mcp"}
    }}"#;
    std::fs::write(cursor.join("mcp.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let config = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let trust = Trust::new(&home.path().join("data"));
    Configured::new(config, Some(&around), &trust)
}

fn names(all: &Configured) -> Vec<&str> {
    all.servers.keys().map(String::as_str).collect()
}

#[test]
fn one_that_is_reached_in_the_same_way_is_the_same() {
    for own in [
        "[servers.mine]\ncommand = [\"npx\", \"git\"]",
        "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
        "[servers.mine]\ncommand = [\"npx\", \"git\"]\nenabled = false",
        "[servers.git]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
    ] {
        let all = with(own);
        let name = if own.contains("mine") { "mine" } else { "git" };
        assert_eq!(names(&all), [name, "web"], "{own}");
        let server = &all.servers[name];
        assert_eq!(server.from, [Client::Cursor]);
        assert_eq!(server.component().is_some(), own.contains("component"));
        // Somebody who looks for `git` is told where it is.
        let told = all
            .notes
            .iter()
            .any(|(of, note)| of == "mine" && note.contains("`git`"));
        assert_eq!(told, name == "mine", "{own}");
    }
}

#[test]
fn many_servers_take_linear_time() {
    let home = tempfile::tempdir().unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    let servers = (0..1000).map(|n| format!(r#""c{n}": {{"command": "c{n}"}}"#));
    let servers: Vec<_> = servers.collect();
    let text = format!(r#"{{"mcpServers": {{{}}}}}"#, servers.join(","));
    std::fs::write(cursor.join("mcp.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let trust = Trust::new(&home.path().join("data"));
    let own = |size: usize| {
        let servers = (0..size).map(|n| format!("[servers.s{n}]\ncommand = \"x{n}\"\n"));
        let text: String = servers.collect();
        file::parse(Path::new("/d/dormouse.toml"), &text).0
    };
    dormouse_tests::growth::is_linear("servers", 300, own, |own| {
        let all = Configured::new(own.clone(), Some(&around), &trust);
        assert_eq!(all.servers.len(), own.servers.len() + 1000);
    });
}

#[test]
fn the_most_cautious_of_servers_of_one_launch_counts_for_all() {
    let two = |first: &str, second: &str| {
        let all = with(&format!(
            "[servers.one]\ncommand = ['x']\non_change = '{first}'\n\
             [servers.two]\ncommand = ['x']\non_change = '{second}'\n"
        ));
        let of = |name: &str| all.servers[name].bridge().unwrap().changes.on_change;
        let told = all
            .notes
            .iter()
            .any(|(_, note)| note.contains("less cautious"));
        (of("one"), of("two"), told)
    };
    use OnChange::{Accept, Ask, Block, Freeze};
    assert_eq!(two("accept", "accept"), (Accept, Accept, false));
    assert_eq!(two("accept", "freeze"), (Freeze, Freeze, true));
    assert_eq!(two("freeze", "ask"), (Ask, Ask, true));
    assert_eq!(two("accept", "ask"), (Ask, Ask, true));
    assert_eq!(two("block", "accept"), (Block, Block, true));
    assert_eq!(two("block", "ask"), (Block, Block, true));
}

#[test]
fn one_that_is_reached_in_another_way_is_another() {
    let all = with(
        "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\", \"-v\"]\n\
         [servers.web]\ncomponent = \"web.wasm\"",
    );
    assert_eq!(names(&all), ["git", "mine", "web"]);
    // A plugin has no upstream, so that only its name can be another's.
    assert!(matches!(all.servers["web"].adapter, Adapter::Plugin(_)));
    assert_eq!(all.overridden.len(), 1);
}

#[test]
fn a_client_that_loads_all_of_a_project_itself_hears_nothing_of_its_trust() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    for path in [".git", ".cursor"] {
        std::fs::create_dir_all(project.join(path)).unwrap();
    }
    let around = Surroundings::new(folder.path().to_owned(), [].into(), Some(&project));
    let data = folder.path().join("data");
    let told = |client| {
        let all = Configured::new(Config::default(), Some(&around), &Trust::new(&data));
        let told = all.untrusted_for(client)?;
        assert_eq!(told.folder, all.untrusted.unwrap().folder);
        Some(told.servers)
    };
    let write = |file: &str, text: &str| std::fs::write(project.join(file), text).unwrap();
    const GIT: &str = r#"{"mcpServers": {"git": {"command": "git-mcp"}}}"#;
    write(".mcp.json", GIT);
    let (claude, cursor) = (Some(Client::ClaudeCode), Some(Client::Cursor));
    assert_eq!([None, claude, cursor].map(told), [Some(1), None, Some(1)]);
    // Of one name, the first client's is taken, which the other does not load itself.
    write(".cursor/mcp.json", &GIT.replace("git-mcp", "other"));
    assert_eq!([None, claude, cursor].map(told), [Some(1), None, Some(1)]);
    write(".cursor/mcp.json", &GIT.replace("\"git\"", "\"g\""));
    assert_eq!(
        [None, claude, cursor].map(told),
        [Some(2), Some(1), Some(1)]
    );
    // A file of Dormouse's own, which no client reads.
    write(".cursor/mcp.json", "{}");
    write("dormouse.toml", "[servers.own]\ncommand = [\"own\"]");
    assert_eq!(
        [None, claude, cursor].map(told),
        [Some(2), Some(1), Some(2)]
    );
}

/// The file that says who is trusted has the form that it had in 7475b5f: a folder, and
/// a hash over the names and contents of its files.
#[test]
fn trust_that_an_older_version_has_written_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let text = r#"{"mcpServers": {"git": {"command": "git-mcp"}}}"#;
    std::fs::write(project.join(".mcp.json"), text).unwrap();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&9u64.to_le_bytes());
    hasher.update(b".mcp.json");
    hasher.update(blake3::hash(text.as_bytes()).as_bytes());
    let mut hash = hasher.finalize().to_hex().to_string();
    let around = Surroundings::new(folder.path().to_owned(), [].into(), Some(&project));
    let data = folder.path().join("data");
    let configured = |hash: &str| {
        std::fs::create_dir_all(&data).unwrap();
        let text = serde_json::json!({ project.to_str().unwrap(): hash });
        std::fs::write(data.join("trust.json"), text.to_string()).unwrap();
        Configured::new(Config::default(), Some(&around), &Trust::new(&data))
    };
    let all = configured(&hash);
    assert_eq!(names(&all), ["git"]);
    assert_eq!(all.untrusted, None);
    let hash_of_clients = hash.clone();
    // Of what nobody has trusted like that there is nothing but a number.
    hash.replace_range(..1, if hash.starts_with('0') { "1" } else { "0" });
    let all = configured(&hash);
    assert_eq!(names(&all), [""; 0]);
    let told = all.untrusted.unwrap();
    assert_eq!((told.servers, told.changed), (1, true));
    assert!(told.to_string().contains("have changed since"), "{told}");
    std::fs::write(data.join("trust.json"), "{}").unwrap();
    let all = Configured::new(Config::default(), Some(&around), &Trust::new(&data));
    let told = all.untrusted.unwrap();
    assert!(
        !told.changed && told.to_string().contains("not trusted"),
        "{told}"
    );
    // With a file of its own, the hash is of that one and of the first.
    let own = "[servers.mine]\ncommand = ['true']\n";
    std::fs::write(project.join("dormouse.toml"), own).unwrap();
    let clients = hash_of_clients;
    let own = blake3::hash(own.as_bytes()).to_hex();
    let hash = blake3::hash(format!("{clients} {own}").as_bytes()).to_hex();
    assert_eq!(names(&configured(hash.as_str())), ["git", "mine"]);
}

/// The program, the arguments and the variables of a server.
fn program(all: &Configured, name: &str) -> (String, Vec<String>, Vec<(String, String)>) {
    let server = &all.servers[name];
    let Some(Launch::Stdio(stdio)) = server.bridge().map(|bridge| &bridge.launch) else {
        panic!("{server:?}");
    };
    let env = stdio.env.iter();
    let env = env.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    (stdio.command.clone(), stdio.args.clone(), env.collect())
}

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
        let trust = Trust::new(&home.path().join("data"));
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
    let all = Configured::new(own, Some(&around), &Trust::new(&home.path().join("data")));
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
        let trust = Trust::new(&home.path().join("data"));
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
        let trust = Trust::new(&home.path().join("data"));
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
        let all = Configured::new(own, Some(&around), &Trust::new(&home.path().join("data")));
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
        let all = Configured::new(own, Some(&around), &Trust::new(&home.path().join("data")));
        assert_eq!(names(&all), ["gh", "other"]);
        assert!(all.servers["gh"].refused().is_some());
    }
    // Of a `[discovery]` that is wrong nobody knows whom it would have asked.
    for own in ["discovery = false", "[discovery]\nclient = []"] {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let all = Configured::new(own, Some(&around), &Trust::new(&home.path().join("data")));
        assert_eq!(names(&all), [""; 0]);
    }
}

/// Servers in a project with these files, which is trusted or not, where the user has servers of
/// Claude Code's.
fn in_project(files: &[(&str, &str)], trusted: bool) -> Configured {
    let home = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {
        "gh": {"command": "npx", "args": ["gh"]},
        "web": {"url": "https://example.com/mcp", "type": "http"},
        "guard": {"command": "guard"}
    }}"#;
    std::fs::write(home.path().join(".claude.json"), text).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    for (file, text) in files {
        let file = project.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = text.replace("PROJECT", project.to_str().unwrap());
        std::fs::write(file, text).unwrap();
    }
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let trust = Trust::new(&home.path().join("data"));
    if trusted {
        let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
        let review = all.review(&project).unwrap();
        trust.grant(&project, &review.content).unwrap();
    }
    Configured::new(Config::default(), Some(&around), &trust)
}

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
    use super::super::Filter;
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
    let trust = Trust::new(&home.path().join("data"));
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
        let trust = Trust::new(&home.path().join("data"));
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
    let trust = Trust::new(&home.path().join("data"));
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
    let trust = Trust::new(&home.path().join("data"));
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

/// Writes files below a home, and returns the servers where the project in it is trusted.
fn trusted_in_home(home: &Path, files: &[(&str, &str)], own: &str) -> Configured {
    let project = home.join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    for (file, text) in files {
        let file = home.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let trust = Trust::new(&home.join("data"));
    let around = Surroundings::new(home.to_owned(), [].into(), Some(&project));
    let project = around.project.clone().unwrap();
    let all = Configured::for_review(own.clone(), Some(&around), &trust, &project);
    let review = all.review(&project).unwrap();
    trust.grant(&project, &review.content).unwrap();
    Configured::new(own, Some(&around), &trust)
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

/// A project is trusted as it was shown: with none of the user's variables.
#[test]
fn a_projects_server_gets_no_variables_that_were_not_shown() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let launch = r#"{"mcpServers": {"theirs": {"command": "theirs"}}}"#;
    std::fs::write(project.join(".mcp.json"), launch).unwrap();
    let yours = r#"{"mcpServers": {"yours": {"command": "yours"}}}"#;
    std::fs::write(home.path().join(".claude.json"), yours).unwrap();
    let project = project.canonicalize().unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let trust = Trust::new(&home.path().join("data"));
    let configured = |own: &str| {
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
        let all = Configured::for_review(own.clone(), Some(&around), &trust, &project);
        let review = all.review(&project).unwrap();
        trust.grant(&project, &review.content).unwrap();
        (Configured::new(own, Some(&around), &trust), review.text)
    };
    let passed = |all: &Configured, name: &str| {
        let Launch::Stdio(stdio) = &all.servers[name].bridge().unwrap().launch else {
            panic!("{name}");
        };
        stdio.pass_env.clone()
    };
    let (all, text) = configured("[discovery]\npass_env = ['SECRET_*']\n");
    assert!(!text.contains("SECRET_"), "{text}");
    assert_eq!(passed(&all, "yours"), ["SECRET_*"]);
    assert!(passed(&all, "theirs").is_empty());
    // What their user gives them in so many words is shown.
    let table = format!(
        "[servers.theirs]\nproject = '{}'\npass_env = ['SECRET_*']\n",
        project.display()
    );
    let (all, text) = configured(&table);
    assert!(text.contains("SECRET_*"), "{text}");
    assert_eq!(passed(&all, "theirs"), ["SECRET_*"]);
}

/// Two projects may write the same of two programs.
#[test]
fn what_is_known_of_a_projects_server_is_known_of_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let fingerprint = |name: &str, command: &str| {
        let project = home.path().join(name);
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let file = project.join(PROJECT);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("[servers.x]\n{command}\n")).unwrap();
        let project = project.canonicalize().unwrap();
        let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
        let trust = Trust::new(&home.path().join("data"));
        let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
        trust
            .grant(&project, &all.review(&project).unwrap().content)
            .unwrap();
        let all = Configured::new(Config::default(), Some(&around), &trust);
        all.servers["x"].bridge().unwrap().fingerprint.clone()
    };
    for server in [
        "command = ['node', 'server.js']",
        "command = ['node', 'server.js']\ncwd = 'tools'",
        "command = ['node', '${PWD}/server.js']\ncwd = '/tmp'",
        // Each may have its own program behind that port.
        "url = 'http://127.0.0.1:3000/mcp'",
    ] {
        let [a, b] = ["a", "b"].map(|folder| fingerprint(folder, server));
        assert_ne!(a.file_stem(), b.file_stem(), "{server}");
        assert_eq!(a, fingerprint("a", server));
        // Nor is it what a server of the user's says that is written in the same words.
        let text = format!("[servers.x]\n{server}\n");
        let own = file::parse_usable(&home.path().join("dormouse.toml"), &text).unwrap();
        let own = own.servers["x"].bridge().unwrap().fingerprint.clone();
        assert_ne!(a.file_stem(), own.file_stem(), "{server}");
        assert_ne!(a.file_stem_of_folders(), own.file_stem_of_folders());
    }
}

/// The folder that an agent is in decides what is started there without a folder of its own.
#[test]
fn what_is_known_of_the_users_servers_is_known_of_the_folder_that_decides_them() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    for folder in ["a/.git", "a/in", "b", "work"] {
        std::fs::create_dir_all(home.join(folder)).unwrap();
    }
    let fingerprint = |folder: &str, table: &str| {
        let text = format!("[servers.x]\n{table}\n");
        let own = file::parse_usable(&home.join("dormouse.toml"), &text).unwrap();
        let around = Surroundings::new(home.clone(), [].into(), Some(&home.join(folder)));
        let trust = Trust::new(&home.join("data"));
        let all = Configured::new(own, Some(&around), &trust);
        all.servers["x"].bridge().unwrap().fingerprint.clone()
    };
    let decided = "command = ['npx', '-y', 'server']";
    assert_eq!(fingerprint("", decided).folder(), None);
    // Above the home is nobody's project either.
    assert_eq!(fingerprint("..", decided).folder(), None);
    for (folder, of) in [("a", "a"), ("a/in", "a"), ("b", "b")] {
        let found = fingerprint(folder, decided);
        assert_eq!(found.folder(), Some(&*home.join(of)));
        assert_eq!(found.anywhere(), fingerprint("", decided));
        assert_ne!(found.file_stem(), fingerprint("", decided).file_stem());
    }
    for fixed in [
        "command = ['npx', '-y', 'server']\ncwd = '~/work'",
        "url = 'https://example.com/mcp'",
    ] {
        for folder in ["", "a", "b", "work"] {
            assert_eq!(
                fingerprint(folder, fixed).folder(),
                None,
                "{folder} {fixed}"
            );
        }
    }
}

#[test]
fn mistakes_that_are_not_said_any_more_count_as_well() {
    let wrong: String = (0..150)
        .map(|n| format!(r#""w{n}": {{"command": 5}}, "#))
        .collect();
    let text = format!(
        r#"{{"mcpServers": {{{wrong} "zz": {{"command": "x", "args": "y"}}, "ok": {{"command": "x"}}}}}}"#
    );
    let all = in_project(&[(".mcp.json", &text)], true);
    assert_eq!(names(&all), ["gh", "guard", "ok", "web"]);
}

#[test]
fn keys_and_values_of_toml_are_counted_before_they_are_read() {
    let many = format!("a = [{}]\n", "1,".repeat(50_000));
    let (_, problems) = file::parse_of_project(
        Path::new("/x"),
        &many,
        Variables::Kept,
        &crate::Inputs::new(),
    );
    assert!(
        problems[0].message.contains("more than 50000"),
        "{problems:?}"
    );
}

#[test]
fn a_projects_server_that_is_the_users_is_not_shown_beside_it() {
    let servers = r#"{"mcpServers": {"gh2": {"command": "npx", "args": ["gh"]}}}"#;
    for file in [".mcp.json", ".cursor/mcp.json"] {
        let all = in_project(&[(file, servers)], true);
        assert_eq!(names(&all), ["gh", "guard", "web"], "{file}");
    }
    // Another folder may have another program in it.
    let other = servers.replace("]}", r#"], "cwd": "PROJECT/sub"}"#);
    let all = in_project(&[(".cursor/mcp.json", &other)], true);
    assert_eq!(names(&all), ["gh", "gh2", "guard", "web"]);
}

#[test]
fn programs_of_a_projects_own_file_are_those_of_its_folder() {
    let own = "[servers.plain]\ncommand = ['./srv.sh']\n\
               [servers.below]\ncommand = ['./srv.sh']\ncwd = 'tools'\n\
               [servers.lacking]\ncommand = ['./srv.sh', '${DORMOUSE_TEST_NOT_SET}']\n";
    let home = tempfile::tempdir().unwrap();
    let project = home.path().canonicalize().unwrap().join("project");
    let sub = project.join("sub");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir(&sub).unwrap();
    std::fs::write(project.join("dormouse.toml"), own).unwrap();
    let trust = Trust::new(&home.path().join("data"));
    let around = |folder: &Path| Surroundings::new(home.path().into(), [].into(), Some(folder));
    let all = Configured::for_review(Config::default(), Some(&around(&sub)), &trust, &project);
    let review = all.review(&project).unwrap();
    // Whoever trusts it is shown where they run.
    let folders = review
        .text
        .lines()
        .filter(|line| line.contains("in folder:"));
    assert_eq!(folders.count(), 3, "{}", review.text);
    trust.grant(&project, &review.content).unwrap();
    for folder in [&project, &sub] {
        let all = Configured::new(Config::default(), Some(&around(folder)), &trust);
        for (name, cwd) in [
            ("plain", project.clone()),
            ("below", project.join("tools")),
            ("lacking", project.clone()),
        ] {
            let bridge = all.servers[name].bridge().unwrap();
            let Launch::Stdio(stdio) = &bridge.launch else {
                panic!("{bridge:?}");
            };
            assert_eq!(stdio.cwd.as_ref(), Some(&cwd), "{name} in {folder:?}");
        }
    }
}
