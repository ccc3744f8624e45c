//! Projects and folders: what is trusted of them, and what is known of servers there.

use super::*;

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
        let all = Configured::new(Config::default(), Some(&around), &TestTrust::new(&data));
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
        Configured::new(Config::default(), Some(&around), &TestTrust::new(&data))
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
    assert!(told.to_string().contains("have changed since,"), "{told}");
    std::fs::write(data.join("trust.json"), "{}").unwrap();
    let all = Configured::new(Config::default(), Some(&around), &TestTrust::new(&data));
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
    let trust = TestTrust::new(&home.path().join("data"));
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
        let file = project.join(project_file::PROJECT);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("[servers.x]\n{command}\n")).unwrap();
        let project = project.canonicalize().unwrap();
        let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
        let trust = TestTrust::new(&home.path().join("data"));
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
        let trust = TestTrust::new(&home.join("data"));
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
    let trust = TestTrust::new(&home.path().join("data"));
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

/// Which files have changed is told to people, and is in nothing that models are told.
#[test]
fn files_that_have_changed_are_told_to_people() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let write = |file: &str, text: &str| std::fs::write(project.join(file), text).unwrap();
    write(".mcp.json", r#"{"mcpServers": {"git": {"command": "x"}}}"#);
    write(
        "opencode.json",
        r#"{"mcp": {"o": {"type": "local", "command": ["x"]}}}"#,
    );
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let trust = TestTrust::new(&home.path().join("data"));
    let review = Configured::for_review(Config::default(), Some(&around), &trust, &project);
    let review = review.review(&project).unwrap();
    trust.grant(&project, &review.content).unwrap();
    let untrusted = || Configured::new(Config::default(), Some(&around), &trust).untrusted;
    assert_eq!(untrusted(), None);
    write(
        "opencode.json",
        r#"{"mcp": {"o": {"type": "local", "command": ["y"]}}}"#,
    );
    let told = untrusted().unwrap();
    assert_eq!(told.changed_files, [Path::new("opencode.json")]);
    assert!(
        told.to_string().contains("since (`opencode.json`), "),
        "{told}"
    );
    let of_models = format!("{} {}", told.hint(), serde_json::to_string(&told).unwrap());
    assert!(!of_models.contains("opencode"), "{of_models}");
    write("dormouse.toml", "[servers.d]\ncommand = ['x']\n");
    let told = untrusted().unwrap().to_string();
    assert!(
        told.contains("since (`dormouse.toml`, `opencode.json`), "),
        "{told}"
    );
}
