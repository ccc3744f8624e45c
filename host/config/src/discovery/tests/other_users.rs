//! Files that another user has written, or can write: they say what is run.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use super::*;

/// Some user who is neither root nor has a home here.
const OTHER: u32 = 54_321;

const SERVER: &str = r#"{"mcpServers": {"a": {"command": "x"}}}"#;

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Makes a home in whose folders others get, as in most homes.
fn home() -> Home {
    let home = Home::empty();
    for folder in ["", "home", "project"] {
        set(&home.path(folder), 0o755);
    }
    home
}

fn cursor(home: &Home) -> Discovery {
    discover_all(&home.around(), &[Client::Cursor], &Inputs::new())
}

/// Checks that a file is not used, and that its problem says this of a path and what can be done.
fn is_refused(discovery: &Discovery, file: &Path, why: &str) {
    assert!(discovery.found.is_empty(), "{}", describe(discovery));
    let problems: Vec<_> = discovery.problems().collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].file, file);
    assert_eq!(problems[0].message, format!("the file is not read: {why}"));
    assert!(problems[0].hint.is_some());
}

#[test]
fn what_others_can_have_written_is_not_run() {
    let home = home();
    home.write("home/.cursor/mcp.json", SERVER);
    let (folder, file) = (
        home.path("home/.cursor"),
        home.path("home/.cursor/mcp.json"),
    );
    for (folder_mode, mode, open) in [
        (0o755, 0o644, None),
        (0o700, 0o666, None),
        (0o1777, 0o644, None),
        (0o755, 0o666, Some((&file, "666"))),
        (0o777, 0o644, Some((&folder, "777"))),
    ] {
        set(&folder, folder_mode);
        set(&file, mode);
        let discovery = cursor(&home);
        match open {
            None => {
                assert_eq!(discovery.found.len(), 1, "{folder_mode:o} {mode:o}");
                assert_eq!(discovery.problems().count(), 0);
            }
            Some((path, mode)) => {
                let why = format!(
                    "`{}` can be written to by others (mode {mode}), and so nothing in it counts",
                    path.display()
                );
                is_refused(&discovery, &file, &why);
            }
        }
    }
    // Where there is nothing, there is nothing to tell of.
    fs::remove_file(&file).unwrap();
    set(&folder, 0o777);
    let discovery = cursor(&home);
    assert_eq!(discovery.found.len() + discovery.problems().count(), 0);
}

#[test]
fn what_is_another_users_is_not_run() {
    if dormouse_files::ownership::effective_user() != 0 {
        // Only root can give files away.
        return;
    }
    let home = home();
    home.write("home/.cursor/mcp.json", SERVER);
    home.write("dotfiles/mcp.json", SERVER);
    home.write("elsewhere/.cursor/mcp.json", SERVER);
    let (folder, file) = (
        home.path("home/.cursor"),
        home.path("home/.cursor/mcp.json"),
    );
    let why = |path: &Path| {
        let shown = path.display();
        format!("`{shown}` is another user's (uid {OTHER}), and so nothing in it counts")
    };
    for path in [&file, &folder] {
        chown(path, Some(OTHER), None).unwrap();
        is_refused(&cursor(&home), &file, &why(path));
        chown(path, Some(0), None).unwrap();
    }
    // A link leads to a folder of files that are kept apart, and is as good as what it leads to.
    fs::remove_file(&file).unwrap();
    let kept = home.path("dotfiles/mcp.json");
    symlink(&kept, &file).unwrap();
    assert_eq!(cursor(&home).found.len(), 1);
    chown(&kept, Some(OTHER), None).unwrap();
    is_refused(&cursor(&home), &file, &why(&kept));
    chown(&kept, Some(0), None).unwrap();
    assert_eq!(cursor(&home).found.len(), 1);
}

/// Nobody knows what they would deny.
#[test]
fn rules_that_others_can_have_written_deny() {
    let home = home();
    home.write("home/.copilot/mcp-config.json", SERVER);
    home.write("home/.copilot/settings.json", "{}");
    let rules = home.path("home/.copilot/settings.json");
    let is_on = || {
        let discovery = discover_all(&home.around(), &[Client::Copilot], &Inputs::new());
        assert_eq!(discovery.found.len(), 1);
        discovery.found[0].server.enabled
    };
    assert!(is_on());
    set(&rules, 0o666);
    assert!(!is_on());
    set(&rules, 0o644);
    assert!(is_on());
}

/// Variables decide which code a program loads.
#[test]
fn variables_that_others_can_have_written_are_not_set() {
    let home = home();
    let text = r#"{"mcpServers": {"a": {"command": "x", "envFile": "PATH/.env"}}}"#;
    let shared = home.path("shared");
    let text = text.replace("PATH", shared.to_str().unwrap());
    home.write("home/.cursor/mcp.json", &text);
    home.write("shared/.env", "LD_PRELOAD=theirs.so\n");
    let file = shared.join(".env");
    let is_set = || {
        let discovery = cursor(&home);
        assert_eq!(discovery.found.len(), 1);
        describe(&discovery).contains("LD_PRELOAD")
    };
    assert!(is_set());
    set(&file, 0o666);
    assert!(!is_set());
    let needs = describe(&cursor(&home));
    assert!(needs.contains("can be written to by others"), "{needs}");
    set(&file, 0o644);
    assert!(is_set());
}

/// The files of a project are trusted by what is in them, whoever has written it.
#[test]
fn files_of_a_project_are_read_whoever_can_write_them() {
    let home = home();
    home.write("project/.cursor/mcp.json", SERVER);
    set(&home.path("project/.cursor/mcp.json"), 0o666);
    set(&home.path("project"), 0o777);
    assert_eq!(cursor(&home).found.len(), 1);
}
