//! The own places of a host.

mod written_files;

use super::*;
use crate::file::parse;
use crate::project::trusted::TestTrust;

/// Returns the paths of a host.
fn host() -> HostPaths<'static> {
    let [config, cache, data] = ["/e/d/x.toml", "/e/cache", "/e/data"].map(Path::new);
    HostPaths {
        config,
        cache,
        data,
        token_file: None,
    }
}

#[test]
fn files_of_secrets_are_kept_from_grants() {
    let text = "[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
        s = { file = \"/keys/s\", hosts = [\"a.example\"], query = \"q\" }\n";
    let (config, problems) = parse(Path::new("/e/d/x.toml"), text);
    assert_eq!(problems, []);
    let configured = Configured::new(config, None, &TestTrust::new(Path::new("/e/data")));
    let filled_in = FilledInFiles::default();
    filled_in.note(&configured, None, Ok(BTreeMap::new()));
    let own = own_places(host(), None, &filled_in);
    let mut kept = own.places.iter();
    let kept = kept.find(|own| own.path == Path::new("/keys/s"));
    assert_eq!(kept.unwrap().what, "which the server `t` takes values from");
}

#[test]
fn those_of_projects_that_were_trusted_are_kept_whichever_is_worked_in() {
    let (config, _) = parse(Path::new("/e/d/x.toml"), "");
    let configured = Configured::new(config, None, &TestTrust::new(Path::new("/e/data")));
    let filled_in = FilledInFiles::default();
    let of_projects = BTreeMap::from([["/keys/of/p", "/work/p"].map(PathBuf::from).into()]);
    let known = || Ok(of_projects.clone());
    let unknown = || Err("it is damaged".to_owned());
    for (project, of_projects) in [
        (None, known()),
        (Some("/work/p"), known()),
        (Some("/work/other"), known()),
        (Some("/keys"), known()),
        // They cannot be read at the moment.
        (None, unknown()),
    ] {
        filled_in.note(&configured, project.map(Path::new), of_projects);
        let own = own_places(host(), None, &filled_in);
        let mut kept = own.places.iter();
        let kept = kept.find(|own| own.path == Path::new("/keys/of/p"));
        let told = &kept.unwrap().what;
        let expected = "which has a secret of the project `/work/p`: ";
        assert!(told.starts_with(expected), "{told}");
    }
    let is_kept = |filled_in: &FilledInFiles, path: &Path| {
        let own = own_places(host(), None, filled_in).places;
        own.iter().any(|own| own.path == path)
    };
    filled_in.note(&configured, None, Ok(BTreeMap::new()));
    assert!(!is_kept(&filled_in, Path::new("/keys/of/p")));
    // What was never known may be anywhere, and what is no file keeps nothing else from being granted.
    let root = Path::new("/");
    let filled_in = FilledInFiles::default();
    filled_in.note(&configured, None, unknown());
    assert!(is_kept(&filled_in, root));
    let long = format!("/{}", "x".repeat(1000));
    let odd = ["/", "/e", &long].map(|file| (PathBuf::from(file), PathBuf::from("/work/p")));
    filled_in.note(&configured, None, Ok(odd.into()));
    for path in [root, Path::new("/e"), Path::new(&long)] {
        assert!(!is_kept(&filled_in, path), "{}", path.display());
    }
}

#[test]
fn all_of_ours_and_all_user_files_of_clients_are_on_the_list() {
    let home = Path::new("/home/somebody");
    let project = home.join("project");
    let mut around = Surroundings::new(home.to_owned(), [].into(), None);
    around.project = Some(project.clone());
    let [config, cache, data] = ["/e/d/x.toml", "/e/cache", "/e/data"].map(Path::new);
    let token_file = Some(Path::new("/e/keys/token"));
    let host = HostPaths {
        config,
        cache,
        data,
        token_file,
    };
    let own = own_places(host, Some(&around), &FilledInFiles::default());
    let paths: Vec<_> = own.places.iter().map(|own| own.path.as_path()).collect();
    for ours in [
        "/e/cache",
        "/e/data",
        "/e/d",
        "/e/d/x.toml",
        "/e/keys/token",
    ] {
        assert!(paths.contains(&Path::new(ours)), "{ours}");
    }
    let usual = paths::config_file(None).unwrap();
    let folders = own.folders.iter().map(|own| own.path.as_path());
    let folders: Vec<_> = folders.collect();
    let expected = ["/e/cache", "/e/data"].map(Path::new);
    assert_eq!(folders[..2], expected);
    assert_eq!(folders[2..], [usual.parent().unwrap()]);
    for of_client in [
        ".claude.json",
        ".claude/settings.json",
        ".cursor/mcp.json",
        ".config/Code/User/mcp.json",
        ".config/Code/User/globalStorage",
        ".codex/config.toml",
        ".continue/mcpServers",
        ".config/goose/config.yaml",
        ".config/goose/permission.yaml",
        ".gemini/policies",
    ] {
        if cfg!(target_os = "linux") {
            assert!(
                paths.contains(&home.join(of_client).as_path()),
                "{of_client}"
            );
        }
    }
    for client in Client::all() {
        let theirs = places::files(client, &around);
        let mut theirs = theirs.iter().filter(|place| place.scope == Scope::User);
        assert!(
            theirs.all(|place| paths.contains(&place.file.as_path())),
            "{client}"
        );
    }
    assert!(!paths.iter().any(|path| path.starts_with(&project)));
    assert!(!paths.iter().any(|path| path.starts_with("/etc")));
}

/// Whoever keeps a list has to know when it is another one.
#[test]
fn all_that_the_list_was_made_of_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let around = Surroundings::new(home.clone(), [].into(), None);
    let user = around.app_data.join("Code/User");
    let list = || own_places(host(), Some(&around), &FilledInFiles::default());
    let storage = r#"{"userDataProfiles": [{"location": "a/b", "name": "n"}]}"#;
    for (file, text) in [
        (user.join("profiles/x/mcp.json"), ""),
        (user.join("globalStorage/storage.json"), storage),
        (home.join(".continue/mcpServers/x.yaml"), ""),
        (home.join(".gemini/policies/x.toml"), ""),
    ] {
        let before = list();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let after = list();
        assert_ne!(before.places, after.places, "{}", file.display());
        let mut on_the_way = file.ancestors();
        assert!(
            on_the_way.any(|path| before.read.iter().any(|read| read == path)),
            "{}: {:?}",
            file.display(),
            before.read
        );
    }
    // Whose the folders of sockets are is asked each time.
    let around = None;
    let own = own_places(host(), around, &FilledInFiles::default());
    for folder in paths::runtime_dirs_of_system() {
        assert!(own.looked_at.contains(&folder), "{}", folder.display());
    }
}

#[test]
fn other_files_that_values_are_taken_from_are_another_version() {
    let configured = |file: &str| {
        let text = format!(
            "[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
             s = {{ file = \"{file}\", hosts = [\"a.example\"], query = \"q\" }}\n"
        );
        let (config, problems) = parse(Path::new("/e/d/x.toml"), &text);
        assert_eq!(problems, []);
        Configured::new(config, None, &TestTrust::new(Path::new("/e/data")))
    };
    let filled_in = FilledInFiles::default();
    filled_in.note(&configured("/keys/a"), None, Ok(BTreeMap::new()));
    let first = filled_in.version();
    filled_in.note(&configured("/keys/a"), None, Ok(BTreeMap::new()));
    assert_eq!(filled_in.version(), first);
    filled_in.note(&configured("/keys/b"), None, Ok(BTreeMap::new()));
    assert_ne!(filled_in.version(), first);
}
