//! Folders of Dormouse, files that a user names, and paths that are expanded.

use super::*;

#[test]
fn a_file_asked_for_has_to_exist() {
    let error = config_file(Some(Path::new("/nonexistent/x.toml"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the configuration file `/nonexistent/x.toml` does not exist\n\
         hint: create it, or leave out `--config` to use your own"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.toml");
    std::fs::write(&file, "").unwrap();
    assert_eq!(config_file(Some(&file)).unwrap(), file);
}

#[cfg(unix)]
#[test]
fn a_folder_is_another_users_only_if_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_another_users(folder.path()));
    assert!(!is_another_users(&folder.path().join("none")));
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
        assert!(is_another_users(folder.path()));
    } else {
        assert!(is_another_users(Path::new("/")));
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let (file, pipe) = (folder.path().join("lock"), folder.path().join("pipe"));
    let mode = lock(&file)
        .unwrap()
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    // Nor where somebody reads from it.
    let reading = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    for reader in [None, Some(reading)] {
        let mode = rustix::fs::Mode::empty();
        let _reader = reader.map(|flags| rustix::fs::open(&pipe, flags, mode).unwrap());
        let error = format!("{:#}", lock(&pipe).unwrap_err());
        assert!(error.contains("pipe` is no file"), "{error}");
        let appended = open_own(&pipe, File::options().append(true));
        assert_eq!(appended.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[cfg(unix)]
#[test]
fn another_users_folder_is_not_made_private() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    std::fs::create_dir(&theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(54_321), None).unwrap();
    let error = make_private(&theirs).unwrap_err().to_string();
    assert!(error.contains("theirs` is another user's"), "{error}");
    assert!(lock(&theirs.join("lock")).is_err());
    assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 0);
}

/// Files that others could have written would count in a private folder.
#[cfg(unix)]
#[test]
fn a_folder_that_others_could_write_to_is_made_private_while_it_is_empty() {
    use std::fs::{Permissions, metadata, set_permissions, write};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let mode = || metadata(folder.path()).unwrap().permissions().mode() & 0o7777;
    for (open, is_refused) in [
        (0o755, false),
        (0o750, false),
        (0o770, true),
        (0o777, true),
        (0o1777, true),
    ] {
        set_permissions(folder.path(), Permissions::from_mode(open)).unwrap();
        make_private(folder.path()).unwrap();
        assert_eq!(mode(), 0o700);
        let file = folder.path().join("x");
        write(&file, "").unwrap();
        set_permissions(folder.path(), Permissions::from_mode(open)).unwrap();
        let made = make_private(folder.path());
        assert_eq!(made.is_err(), is_refused, "{open:o}");
        if let Err(error) = made {
            assert!(error.to_string().contains("by others (mode"), "{error}");
            assert_eq!(mode(), open);
            assert!(lock(&folder.path().join("lock")).is_err());
        }
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn paths_are_expanded() {
    let home = etcetera::home_dir().unwrap();
    let base = Path::new("/etc/dm");
    for (text, path) in [
        ("/a/b", PathBuf::from("/a/b")),
        ("a/b", PathBuf::from("/etc/dm/a/b")),
        ("./a", PathBuf::from("/etc/dm/a")),
        ("~", home.clone()),
        ("~/a", home.join("a")),
        ("~//a", home.join("a")),
    ] {
        assert_eq!(expand(text, base), Ok(path), "{text}");
    }
    for bad in ["", "~other/a", "a\0b"] {
        assert!(expand(bad, base).is_err(), "{bad}");
    }
}
