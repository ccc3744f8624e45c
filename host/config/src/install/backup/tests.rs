use std::time::Duration;

use super::*;

fn change(file: PathBuf, before: Option<&str>, after: &str) -> FileChange {
    FileChange {
        file,
        syntax: Syntax::Json,
        before: before.map(str::to_owned),
        after: after.to_owned(),
        access: Access::Kept,
        own: false,
    }
}

#[test]
fn times_are_names() {
    for (seconds, name) in [
        (0, "1970-01-01T00.00.00.000000Z"),
        (951_782_399, "2000-02-28T23.59.59.000000Z"),
        (951_782_400, "2000-02-29T00.00.00.000000Z"),
        (1_795_261_011, "2026-11-21T11.36.51.000000Z"),
        (4_107_542_399, "2100-02-28T23.59.59.000000Z"),
        (4_107_542_400, "2100-03-01T00.00.00.000000Z"),
    ] {
        assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), name);
    }
}

#[test]
fn what_was_changed_comes_back_unless_it_was_edited() {
    let home = tempfile::tempdir().unwrap();
    let backups = home.path().join("backups");
    assert!(last(&backups).is_none());
    let (old, new) = (home.path().join("old.json"), home.path().join("new.json"));
    fs::write(&old, "old\r\n").unwrap();
    let changes = [
        change(old.clone(), Some("old\r\n"), "changed"),
        change(new.clone(), None, "made"),
    ];
    keep(&backups, "import", &changes.iter().collect::<Vec<_>>()).unwrap();
    for change in &changes {
        change.make().unwrap();
    }
    assert_eq!(fs::read_to_string(&new).unwrap(), "made");
    // Made again from what is not there any more: refused.
    assert!(changes[0].make().is_err());

    fs::write(&old, "edited").unwrap();
    let mut run = last(&backups).unwrap();
    let undo = run.undo(false, &|_, _| None).unwrap();
    assert!(matches!(&undo[..], [Undo::Edited(file), Undo::Remove(..)] if *file == old));
    // What somebody writes before it is removed stays.
    fs::write(&new, "theirs").unwrap();
    assert!(undo[1].make().is_err());
    assert_eq!(fs::read_to_string(&new).unwrap(), "theirs");
    fs::write(&new, "made").unwrap();
    for undo in &undo {
        undo.make().unwrap();
    }
    run.undone(std::slice::from_ref(&old)).unwrap();
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(&old).unwrap(), "edited");

    let mut run = last(&backups).unwrap();
    for undo in run.undo(true, &|_, _| None).unwrap() {
        undo.make().unwrap();
    }
    run.undone(&[]).unwrap();
    assert_eq!(fs::read_to_string(&old).unwrap(), "old\r\n");
    assert!(last(&backups).is_none());
}

/// Nothing is put back from elsewhere, whoever has written the manifest.
#[test]
fn a_copy_is_in_the_folder_of_its_run() {
    let home = tempfile::tempdir().unwrap();
    let (backups, file) = (home.path().join("backups"), home.path().join("a.json"));
    fs::write(&file, "before").unwrap();
    let made = change(file.clone(), Some("before"), "after");
    keep(&backups, "import", &[&made]).unwrap();
    made.make().unwrap();
    let theirs = home.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    for copy in [theirs.to_str().unwrap(), "../../theirs", "..", ""] {
        let mut run = last(&backups).unwrap();
        run.manifest.files[0].copy = Some(copy.to_owned());
        let error = run.undo(true, &|_, _| None).unwrap_err().to_string();
        assert!(error.contains("in another folder"), "{copy}: {error}");
    }
}

#[test]
fn a_run_that_cannot_be_read_hides_no_other() {
    let home = tempfile::tempdir().unwrap();
    let backups = home.path().join("backups");
    let file = home.path().join("a.json");
    fs::write(&file, "before").unwrap();
    let change = change(file.clone(), Some("before"), "after");
    keep(&backups, "import", &[&change]).unwrap();
    fs::write(backups.join("zz"), "a file of somebody else's").unwrap();
    for (folder, manifest) in [("zy", "{"), ("zx", "{\"command\": 1}")] {
        fs::create_dir(backups.join(folder)).unwrap();
        fs::write(backups.join(folder).join(MANIFEST), manifest).unwrap();
    }
    assert_eq!(changes_of(&backups, &file).unwrap().len(), 1);
    assert_eq!(last(&backups).unwrap().command(), "import");
}

#[cfg(unix)]
#[test]
fn a_run_that_others_can_have_written_is_not_undone() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let (backups, file) = (data.join("backups"), home.path().join("a.json"));
    fs::write(&file, "before").unwrap();
    let change = change(file.clone(), Some("before"), "after");
    let folder = keep(&backups, "import", &[&change]).unwrap();
    let mode = |mode| fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o777);
    assert!(last(&backups).is_none());
    assert!(changes_of(&backups, &file).unwrap().is_empty());
    let error = format!("{:#}", keep(&backups, "import", &[&change]).unwrap_err());
    assert!(error.contains("can be written to by others"), "{error}");
    mode(0o755);
    assert!(last(&backups).is_some());
    if rustix::process::geteuid().is_root() {
        for theirs in ["0-a.json", MANIFEST] {
            let theirs = folder.join(theirs);
            std::os::unix::fs::chown(&theirs, Some(54_321), None).unwrap();
            assert!(last(&backups).is_none(), "{}", theirs.display());
            std::os::unix::fs::chown(&theirs, Some(0), None).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn what_was_made_private_is_as_open_as_it_was_when_it_is_put_back() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = tempfile::tempdir().unwrap();
    let backups = home.path().join("backups");
    let file = home.path().join("a.json");
    fs::write(&file, "before").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut change = change(file.clone(), Some("before"), "after");
    change.access = Access::Private;
    keep(&backups, "import", &[&change]).unwrap();
    change.make().unwrap();
    let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let run = last(&backups).unwrap();
    for undo in run.undo(false, &|_, _| None).unwrap() {
        undo.make().unwrap();
    }
    assert_eq!(
        (fs::read_to_string(&file).unwrap().as_str(), mode()),
        ("before", 0o644)
    );
}

#[cfg(unix)]
#[test]
fn what_a_client_has_written_anew_is_not_opened_to_another_group() {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    if !rustix::process::geteuid().is_root() {
        // Only root is in all groups.
        return;
    }
    for (group, mode) in [(54_321, 0o640), (0, 0o600)] {
        let home = tempfile::tempdir().unwrap();
        let backups = home.path().join("backups");
        let file = home.path().join("a.json");
        fs::write(&file, "before").unwrap();
        chown(&file, None, Some(54_321)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let mut change = change(file.clone(), Some("before"), "after");
        change.access = Access::Private;
        keep(&backups, "install", &[&change]).unwrap();
        change.make().unwrap();
        // As clients do that know nothing of groups.
        let new = home.path().join("new");
        fs::write(&new, "after").unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&new, None, Some(group)).unwrap();
        fs::rename(&new, &file).unwrap();
        for undo in last(&backups).unwrap().undo(false, &|_, _| None).unwrap() {
            undo.make().unwrap();
        }
        let now = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(now, mode, "group {group}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn what_comes_back_is_the_same_to_the_byte(
        before in "(\u{feff})?[ -~ä\r\n\t]{0,40}",
        after in "[ -~\n]{0,20}",
    ) {
        let home = tempfile::tempdir().unwrap();
        let (backups, file) = (home.path().join("backups"), home.path().join("a.json"));
        fs::write(&file, &before).unwrap();
        let change = change(file.clone(), Some(&before), &after);
        keep(&backups, "install", &[&change]).unwrap();
        change.make().unwrap();
        for undo in last(&backups).unwrap().undo(false, &|_, _| None).unwrap() {
            undo.make().unwrap();
        }
        proptest::prop_assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn backups_are_for_their_user_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let backups = home.path().join("backups");
    let change = change(home.path().join("a"), Some("secret"), "");
    let folder = keep(&backups, "import", &[&change]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&backups), mode(&folder)), (0o700, 0o700));
    for entry in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}
