//! Files that values are written to be in count as they are written, whatever becomes of what names
//! them.

use super::*;
use crate::file::parse_usable;

/// A home, with what is configured in it.
struct Home(tempfile::TempDir);

impl Home {
    fn of(files: &[(&str, &str)]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        for (file, text) in files {
            let file = home.0.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        home
    }

    fn configured(&self, own: &str) -> (Configured, Surroundings) {
        let home = self.0.path().canonicalize().unwrap();
        let project = home.join("project");
        let mut around = Surroundings::new(home.clone(), [].into(), Some(&project));
        (around.config_home, around.app_data) = (home.join(".config"), home.join(".config"));
        around.system = home.join("system");
        let own = parse_usable(Path::new("/e/d/x.toml"), own).unwrap();
        let trust = TestTrust::new(&home.join("data"));
        (Configured::new(own, Some(&around), &trust), around)
    }

    /// Returns what is told of a file that no plugin is granted; none where it is granted.
    fn kept(&self, own: &str, file: &str) -> Option<String> {
        let (configured, around) = self.configured(own);
        let filled_in = FilledInFiles::default();
        filled_in.note(&configured, around.project.as_deref(), Ok(BTreeMap::new()));
        let places = own_places(host(), Some(&around), &filled_in).places;
        let mut of_file = places.iter().filter(|own| own.path == Path::new(file));
        of_file.next().map(|own| own.what.clone())
    }
}

/// A client's file with one server, `u`.
fn with_env_file(servers: &str, program: &str, file: &str) -> String {
    format!(r#"{{"{servers}": {{"u": {{"type": "stdio", {program}, "envFile": "{file}"}}}}}}"#)
}

const CURSOR: &str = ".cursor/mcp.json";
const CODE: &str = ".config/Code/User/mcp.json";

#[test]
fn those_of_a_server_that_has_lost_its_name_are_kept() {
    let cursor = with_env_file("mcpServers", r#""command": "x""#, "/of/cursor");
    let code = with_env_file("servers", r#""command": "y""#, "/of/code");
    let home = Home::of(&[(CURSOR, &cursor), (CODE, &code)]);
    let own = [
        "",
        "[servers.u]\ncommand = \"z\"\n",
        "[servers.u]\ncomponent = \"z.wasm\"\n",
        "[servers.u]\nprefixx = \"z\"\n",
        "[servers.u]\nenabled = false\n",
        "[servers.u]\nargs = [\"z\"]\n",
        "[servers.u]\nheaders = { A = \"z\" }\n",
        "[servers.same]\ncommand = \"x\"\n",
    ];
    for own in own {
        let of_cursor = home.kept(own, "/of/cursor");
        let told = "which the server `u` of cursor takes values from";
        assert_eq!(of_cursor.as_deref(), Some(told), "{own}");
        assert!(home.kept(own, "/of/code").is_some(), "{own}");
    }
}

#[test]
fn those_of_an_entry_or_a_table_in_which_something_is_wrong_are_kept() {
    for program in [
        r#""command": "x", "env": 5"#,
        r#""command": ["x"]"#,
        r#""command": {}"#,
        r#""cmd": "x""#,
        r#""command": "x", "disabled": "no""#,
        r#""command": "x", "type": "of-pigeons""#,
        r#""command": "x", "type": 5"#,
        r#""command": "x""y""#,
        "\"command\": \"x\",, \"args\": \"\u{0}\"",
    ] {
        let text = with_env_file("mcpServers", program, "/an/\\u0065nv");
        let home = Home::of(&[(CURSOR, &text)]);
        assert!(home.kept("", "/an/env").is_some(), "{text}");
    }
    let place = "hosts = [\"a.example\"], query = \"q\"";
    let secret = format!("secrets.s = {{ file = \"/keys/s\", {place} }}\n");
    for (table, what) in [
        (
            format!("[servers.t]\ncomponent = 5\n{secret}"),
            "server `t`",
        ),
        (
            format!("[servers.t]\ncomponent = \"t\"\nprefixx = 5\n{secret}"),
            "server `t`",
        ),
        (
            format!("[servers.t]\ncomponent = \"t\"\nlimits = 5\n{secret}"),
            "server `t`",
        ),
        (
            format!("[servers.t]\ncomponent = \"t\"\ngrants.fs = 5\n{secret}"),
            "server `t`",
        ),
        (format!("[servers.t]\n{secret}"), "server `t`"),
        (
            format!("[servers.\"t t\"]\ncomponent = \"t\"\n{secret}"),
            "server `t t`",
        ),
        (
            format!("[server.t]\ncomponent = \"t\"\n{secret}"),
            "server `t`",
        ),
        (
            "[servers.t]\nsecrets.s = { fil = \"/keys/s\" }\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t]\nsecrets.s = { file = [\"/keys/s\"] }\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t]\nsecrets = [{ file = \"/keys/s\" }]\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t]\nsecretss.s.file = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[[servers.t]]\nsecrets.s.file = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers]\nt = [{ secrets.s.file = \"/keys/s\" }]\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t.grants.secrets]\ns.file = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t.grants]\nfs = [{ secret.s.file = \"/keys/s\" }]\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t]\nsecrets.env.path = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[servers.t.unknown.s]\nfile = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[[providers]]\np.client_secret.file = \"/keys/s\"\n".to_owned(),
            "provider `p`",
        ),
        (
            "[servers.t]\nproject = \"/p\"\nsecrets.s.file = \"/keys/s\"\n".to_owned(),
            "server `t`",
        ),
        (
            "[providers.p]\nclient_secret = { file = \"/keys/s\" }\n".to_owned(),
            "provider `p`",
        ),
        (
            "[providers.p]\nissuer = \"https://a.example\"\nclient_id = \"c\"\n\
             client_secret = { file = \"/keys/s\" }\n"
                .to_owned(),
            "provider `p`",
        ),
    ] {
        let told = format!("which the {what} takes values from");
        assert_eq!(Home::of(&[]).kept(&table, "/keys/s"), Some(told), "{table}");
    }
}

/// What else a table has the path of may be granted.
#[test]
fn a_path_for_something_else_is_not_kept() {
    let own = "[servers.t]\ncomponent = \"/a/t\"\ngrants.fs = [{ path = \"/a/t\" }]\n\
        settings = { file = \"/a/t\", path = \"/a/t\" }\nenv = { FILE = \"/a/t\", path = \"/a/t\" }\n";
    let entry = r#""command": "/a/t", "cwd": "/a/t", "env": {"ENVFILE": "/a/t"}"#;
    let home = Home::of(&[(CURSOR, &with_env_file("mcpServers", entry, "${userHome}"))]);
    assert_eq!(home.kept(own, "/a/t"), None);
    for slip in [
        "[servers.t.grant]\nfs = [{ path = \"/a/t\" }]\n",
        "[servers.t]\nfs = [{ path = \"/a/t\" }]\n",
        "[servers.t]\nsetings = { path = \"/a/t\" }\n",
        "[servers.t]\nunknown.grants.fs = [{ path = \"/a/t\" }]\n",
        "[servers.t]\ngrants.sf = [{ path = \"/a/t\" }]\n",
    ] {
        assert_eq!(home.kept(slip, "/a/t"), None, "{slip}");
    }
    // Where nothing is filled in, most of the user's own would be kept.
    let of_user = home.0.path().canonicalize().unwrap();
    let own = "[discovery]\nclients = []\n";
    assert_eq!(home.kept(own, of_user.to_str().unwrap()), None);
}

/// Their server takes them from there wherever its user works; what it takes from whichever project is
/// worked in is trusted with that project.
#[test]
fn those_in_a_project_are_kept_unless_they_are_those_of_whichever_is_worked_in() {
    let folder = |home: &Home| home.0.path().canonicalize().unwrap();
    for (written, file) in [
        ("HOME/project/.env", Some("project/.env")),
        ("~/project/.env", Some("project/.env")),
        ("${userHome}/project/.env", Some("project/.env")),
        ("HOME/project/sub/../.env", Some("project/sub/../.env")),
        (
            "${workspaceFolder}/../other/.env",
            Some("project/../other/.env"),
        ),
        ("~/${workspaceFolderBasename}/.env", Some("project/.env")),
        ("${workspaceFolder}-keys/.env", Some("project-keys/.env")),
        ("${workspaceFolder}/.env", None),
        ("${workspaceFolder}/./sub/.env", None),
        // Where no project is worked in, it is one of the home.
        ("./sub/.env", Some("sub/.env")),
        (".env", Some(".env")),
    ] {
        for program in [r#""command": "x""#, r#""command": 5"#] {
            let home = Home::of(&[("project/.git", "")]);
            let at = folder(&home);
            let written = written.replace("HOME", at.to_str().unwrap());
            let text = with_env_file("mcpServers", program, &written);
            std::fs::create_dir_all(at.join(".cursor")).unwrap();
            std::fs::write(at.join(CURSOR), text).unwrap();
            let (configured, around) = home.configured("");
            let filled_in = FilledInFiles::default();
            filled_in.note(&configured, around.project.as_deref(), Ok(BTreeMap::new()));
            let kept: Vec<_> = filled_in.all().files.into_keys().collect();
            let expected: Vec<_> = file.iter().map(|file| at.join(file)).collect();
            assert_eq!(kept, expected, "{written} {program}");
        }
    }
}

/// The user's client reads it wherever they work, and the project where it lies is one of many. Nothing in
/// one that nobody has ever trusted is read by a link.
#[cfg(unix)]
#[test]
fn those_of_a_clients_file_that_lies_in_the_project_are_kept() {
    let cursor = with_env_file("mcpServers", r#""command": "x""#, "/of/cursor");
    let files = [
        ("project/.git", ""),
        ("project/mcp.json", &cursor),
        (CURSOR, ""),
    ];
    let home = Home::of(&files);
    let link = home.0.path().join(CURSOR);
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../project/mcp.json", link).unwrap();
    let at = home.0.path().canonicalize().unwrap();
    for was_trusted in [false, true] {
        if was_trusted {
            let trust = TestTrust::new(&at.join("data"));
            trust.grant(&at.join("project"), "as it was").unwrap();
        }
        for own in ["", "[discovery]\nclients = []\n"] {
            assert_eq!(home.kept(own, "/of/cursor").is_some(), was_trusted, "{own}");
        }
    }
}

#[test]
fn those_of_clients_that_are_left_out_are_kept() {
    let cursor = with_env_file("mcpServers", r#""command": "x""#, "/of/cursor");
    let code = with_env_file("servers", r#""command": "y""#, "/of/code");
    let windsurf = r#"{"mcpServers": {"w": {"command": "${file:token}", "args": "x"}}}"#;
    let files = [
        (CURSOR, &*cursor),
        (CODE, &code),
        (".codeium/windsurf/mcp_config.json", windsurf),
        (
            ".continue/config.yaml",
            "mcpServers:\n  - command: ${{ secrets.A }}\n",
        ),
        (
            ".config/opencode/opencode.json",
            r#"{"mcp": {"o": ["{file:~/o}"]}}"#,
        ),
    ];
    let home = Home::of(&files);
    let folder = home.0.path().canonicalize().unwrap();
    for clients in ["[]", "[\"goose\"]", "[\"vscode\"]", "[\"cursor\"]", "5"] {
        let own = format!("[discovery]\nclients = {clients}\n");
        for file in ["/of/cursor", "/of/code"] {
            assert!(home.kept(&own, file).is_some(), "{file} {clients}");
        }
        for file in [".codeium/windsurf/token", ".continue/.env", "o"] {
            let file = folder.join(file);
            let kept = home.kept(&own, file.to_str().unwrap());
            assert!(kept.is_some(), "{file:?} {clients}");
        }
        // A host that runs hears of changes.
        let (configured, _) = home.configured(&own);
        for (file, _) in files {
            let mut watched = configured.files().flat_map(|file| file.paths());
            assert!(watched.any(|watched| watched.ends_with(file)), "{file}");
        }
    }
}

/// Others have stopped it from being used, and its client starts what is in it.
#[cfg(unix)]
#[test]
fn those_of_a_clients_file_that_others_can_write_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let cursor = with_env_file("mcpServers", r#""command": "x""#, "/of/cursor");
    let home = Home::of(&[(CURSOR, &cursor)]);
    let file = home.0.path().join(CURSOR);
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&file, permissions).unwrap();
    };
    set(0o666);
    for own in ["", "[discovery]\nclients = []\n"] {
        let (configured, _) = home.configured(own);
        assert_eq!(configured.servers.len(), 0, "{own}");
        let told = "which a file of cursor that others can write takes values from";
        assert_eq!(home.kept(own, "/of/cursor").as_deref(), Some(told), "{own}");
    }
    // Each of very many would be looked at whenever something is granted.
    let many = (0..3000).map(|number| format!("\"envFile\": \"/of/{number}\"\n"));
    std::fs::write(&file, many.collect::<String>()).unwrap();
    set(0o666);
    let kept = |home: &Home| home.configured("").0.found.named_files.iter().count();
    assert_eq!(kept(&home), 1000);
    set(0o644);
    assert_eq!(kept(&home), 3000);
}

/// Whoever names one for a file, by mistake or so that nothing is granted.
#[test]
fn a_folder_that_much_else_is_in_is_not_kept() {
    let home = Home::of(&[("project/.git", ""), ("config/x", "")]);
    let folder = home.0.path().canonicalize().unwrap();
    let mut paths = vec![
        PathBuf::from("/"),
        folder.clone(),
        folder.parent().unwrap().to_owned(),
        folder.join("config/.."),
        folder.join("project"),
        // The configuration is in it.
        PathBuf::from("/e/d"),
        PathBuf::from("/e"),
    ];
    #[cfg(unix)]
    for (link, target) in [("to-root", "/"), ("to-home", "..")] {
        let link = folder.join("config").join(link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        paths.push(link);
    }
    for path in &paths {
        let own = format!("[servers.t]\nsecrets.s.file = '{}'\n", path.display());
        let kept = home.kept(&own, path.to_str().unwrap());
        let is_kept = kept.is_some_and(|kept| kept.contains("takes values from"));
        assert!(!is_kept, "{own}");
    }
    let own = "[servers.t]\nsecrets.s.file = '/e/d/key'\n";
    assert!(home.kept(own, "/e/d/key").is_some());
}

/// What cannot be looked at would be taken for each file that has several names.
#[test]
fn a_path_that_no_file_can_have_is_not_kept() {
    for path in [
        format!("/a/{}", "n".repeat(1000)),
        format!("/a{}", "/b".repeat(50_000)),
        "/a/\\u0000b".to_owned(),
    ] {
        let cursor = with_env_file("mcpServers", r#""command": "x""#, &path);
        let home = Home::of(&[(CURSOR, &cursor)]);
        let (configured, around) = home.configured("");
        let filled_in = FilledInFiles::default();
        filled_in.note(&configured, around.project.as_deref(), Ok(BTreeMap::new()));
        assert_eq!(filled_in.all().files, BTreeMap::new());
    }
}

#[test]
fn of_a_long_name_the_beginning_is_told() {
    let own = format!(
        "[servers.{}]\nsecrets.s.file = '/keys/s'\n",
        "n".repeat(9000)
    );
    let told = Home::of(&[]).kept(&own, "/keys/s").unwrap();
    assert!(told.len() < 200, "{told}");
}

/// Its content is another one than its user was shown.
#[test]
fn a_project_that_has_changed_since_it_was_trusted_keeps_nothing() {
    let own = "[servers.t]\ncommand = \"x\"\n[providers.p]\nclient_secret.file = \"/keys/s\"\n";
    let home = Home::of(&[("project/.git", ""), ("project/dormouse.toml", own)]);
    let folder = home.0.path().canonicalize().unwrap();
    let project = folder.join("project");
    let trust = TestTrust::new(&folder.join("data"));
    trust.grant(&project, "of something else").unwrap();
    assert_eq!(home.kept("", "/keys/s"), None);
    let (_, around) = home.configured("");
    let none = || parse_usable(Path::new("/e/d/x.toml"), "").unwrap();
    let review = Configured::for_review(none(), Some(&around), &trust, &project);
    let review = review.review(&project).unwrap();
    trust.grant(&project, &review.content).unwrap();
    assert!(home.kept("", "/keys/s").is_some());
    std::fs::write(project.join("dormouse.toml"), format!("{own}\n")).unwrap();
    assert_eq!(home.kept("", "/keys/s"), None);
}

/// Nobody has a say in what is granted by writing a project.
#[test]
fn a_project_that_nobody_trusts_keeps_nothing() {
    let own = "[servers.t]\nsecrets.s.file = \"/keys/s\"\n";
    let cursor = with_env_file("mcpServers", r#""command": "x""#, "/of/cursor");
    let home = Home::of(&[
        ("project/.cursor/mcp.json", &cursor),
        ("project/dormouse.toml", own),
        (
            "project/.vscode/mcp.json",
            &with_env_file("servers", "", "/of/code"),
        ),
    ]);
    for clients in ["", "[discovery]\nclients = []\n"] {
        for file in ["/keys/s", "/of/cursor", "/of/code"] {
            assert_eq!(home.kept(clients, file), None, "{file} {clients}");
        }
    }
}
