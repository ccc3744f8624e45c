use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

use super::*;

/// Some user who is neither root nor has a home here.
const OTHER: u32 = 54_321;

#[test]
fn what_others_can_have_written_does_not_count() {
    let all = tempfile::tempdir().unwrap();
    let (data, inner) = (all.path().join("data"), all.path().join("data/servers"));
    let file = inner.join("a.json");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(&file, "{}").unwrap();
    for (modes, is_fine) in [
        ([0o700, 0o700, 0o600], true),
        ([0o755, 0o755, 0o644], true),
        ([0o777, 0o700, 0o600], false),
        ([0o1777, 0o700, 0o600], false),
        ([0o775, 0o700, 0o600], false),
        ([0o755, 0o777, 0o600], false),
        ([0o755, 0o755, 0o666], false),
        ([0o755, 0o755, 0o664], false),
        // A folder of Dormouse's own that is private now need not have been so before.
        ([0o700, 0o777, 0o600], false),
        ([0o700, 0o700, 0o666], false),
        ([0o755, 0o700, 0o666], false),
        ([0o700, 0o755, 0o644], true),
    ] {
        for (path, mode) in [&data, &inner, &file].into_iter().zip(modes) {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        let checked = check(&file, &data);
        assert_eq!(checked.is_ok(), is_fine, "{modes:?}");
        assert_eq!(counts(&file, &data), is_fine, "{modes:?}");
        if let Err(error) = checked {
            assert!(
                error.to_string().contains("\nhint: `chmod go-w` it"),
                "{error}"
            );
        }
    }
    assert!(counts(&data.join("none/none"), &data));
    // Nobody else gets there.
    for path in [&data, &file] {
        std::fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    std::fs::set_permissions(all.path(), Permissions::from_mode(0o700)).unwrap();
    assert!(counts(&file, &data));
}

#[test]
fn what_others_can_put_in_the_place_of_the_folder_does_not_count() {
    let all = tempfile::tempdir().unwrap();
    let all = all.path().canonicalize().unwrap();
    let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
    // Others get here.
    set(&all, 0o755).unwrap();
    let (shared, elsewhere) = (all.join("shared"), all.join("elsewhere"));
    let data = shared.join("data");
    for folder in [&data, &elsewhere.join("data")] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("trust.json"), "{}").unwrap();
    }
    let links = elsewhere.join("links");
    std::fs::create_dir(&links).unwrap();
    symlink(&data, links.join("absolute")).unwrap();
    symlink("../../shared/data", links.join("relative")).unwrap();
    symlink("relative", links.join("twice")).unwrap();
    // Itself in a folder of others, to one that is not.
    symlink("../elsewhere/data", shared.join("link")).unwrap();
    let ways = ["absolute", "relative", "twice"].map(|link| links.join(link));
    let ways = ways.into_iter().chain([data.clone(), shared.join("link")]);
    for data in ways {
        let file = data.join("trust.json");
        for (mode, is_fine, may_be_made) in [
            (0o755, true, true),
            (0o700, true, true),
            (0o777, false, false),
            // Others can make files there, and neither remove nor rename those of this user.
            (0o1777, true, false),
            (0o1757, true, false),
        ] {
            set(&shared, mode).unwrap();
            let why = format!("{} {mode:o}", data.display());
            assert_eq!(counts(&file, &data), is_fine, "{why}");
            assert_eq!(check(&file, &data).is_ok(), is_fine, "{why}");
            assert_eq!(may_read(&file).is_ok(), is_fine, "{why}");
            let none = shared.join("none");
            assert_eq!(counts(&none.join("a.json"), &none), may_be_made, "{why}");
            assert_eq!(may_read(&none).unwrap_or_default(), may_be_made, "{why}");
        }
    }
    assert!(check(&shared.join("none"), &shared.join("none")).is_ok());
    // A file may be somewhere where the umask lets a group write that has nobody else in it.
    if rustix::process::geteuid().is_root() {
        set(&shared, 0o775).unwrap();
        assert!(counts(&data.join("trust.json"), &data));
        chown(&shared, None, Some(OTHER)).unwrap();
        assert!(!counts(&data.join("trust.json"), &data));
    }
    set(&shared, 0o755).unwrap();
    let (loops, file) = (all.join("loop"), all.join("loop/a.json"));
    symlink("loop", &loops).unwrap();
    assert!(counts(&file, &loops));
}

#[test]
fn what_is_another_users_does_not_count() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give files away.
        assert!(!is_own(OTHER) && is_own(0));
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let (data, file) = (all.path().join("data"), all.path().join("data/trust.json"));
    std::fs::create_dir(&data).unwrap();
    std::fs::write(&file, "{}").unwrap();
    assert!(counts(&file, &data));
    for path in [&file, &data] {
        chown(path, Some(OTHER), None).unwrap();
        let error = check(&file, &data).unwrap_err().to_string();
        let shown = format!("`{}` is another user's (uid {OTHER})", path.display());
        assert!(error.starts_with(&shown), "{error}");
        chown(path, Some(0), None).unwrap();
    }
    // A folder above, and a link.
    let link = all.path().join("link");
    symlink(&data, &link).unwrap();
    assert!(counts(&link.join("trust.json"), &link));
    for path in [all.path(), &link] {
        lchown(path, Some(OTHER), None).unwrap();
        let error = check(&link.join("trust.json"), &link).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(may_read(&link.join("trust.json")).is_err());
        lchown(path, Some(0), None).unwrap();
    }
}

#[test]
fn root_does_not_write_into_the_home_of_somebody_else() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let (home, folder) = (all.path().join("home"), all.path().join("home/.config"));
    std::fs::create_dir_all(&folder).unwrap();
    let new = folder.join("new/deep");
    assert!(check_within_home(&new, &home).is_ok());
    chown(&home, Some(OTHER), None).unwrap();
    // A folder of root's own.
    assert!(check_within_home(&new, &home).is_ok());
    chown(&folder, Some(OTHER), None).unwrap();
    for folder in [&new, &folder, &home.join("new")] {
        let error = check_within_home(folder, &home).unwrap_err().to_string();
        let why = format!("is another user's (uid {OTHER}), who could not read");
        assert!(error.contains(&why), "{error}");
        assert!(error.contains("\nhint: run it as that user, without `sudo`"));
    }
    // Outside of the home, as in a container that somebody's folder is mounted into.
    assert!(check_within_home(&new, &all.path().join("none")).is_ok());
    assert!(check_within_home(&new, &folder.join("new")).is_ok());
}

#[test]
fn what_another_user_has_put_where_anybody_may_is_not_run() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let (shared, own) = (all.path().join("shared"), all.path().join("own"));
    for folder in [&shared, &own] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("a.wasm"), "").unwrap();
    }
    symlink(own.join("a.wasm"), shared.join("link.wasm")).unwrap();
    std::fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
    let is_run = |file: &Path| check_program(file, &std::fs::metadata(file).unwrap()).is_ok();
    let files = [
        shared.join("a.wasm"),
        shared.join("link.wasm"),
        own.join("a.wasm"),
    ];
    assert!(files.iter().all(|file| is_run(file)));
    for file in [&files[0], &files[2]] {
        chown(file, Some(OTHER), None).unwrap();
    }
    // Somebody whom the user trusts may have written what is in a folder of theirs, and the user's own
    // link leads there. But not below a folder for all, where these may be.
    let mode = |folder: &Path| std::fs::metadata(folder).unwrap().permissions().mode();
    let is_apart = all
        .path()
        .ancestors()
        .all(|folder| mode(folder) & 0o002 == 0);
    let run: Vec<_> = files.iter().map(|file| is_run(file)).collect();
    assert_eq!(run, [false, is_apart, is_apart]);
    // What was opened is what counts, wherever the path leads by now.
    std::fs::write(shared.join("b.wasm"), "").unwrap();
    let opened = std::fs::metadata(&files[0]).unwrap();
    assert!(check_program(&shared.join("b.wasm"), &opened).is_err());
    // A link of another user's leads wherever they want.
    chown(&files[2], Some(0), None).unwrap();
    assert!(is_run(&files[1]));
    lchown(&files[1], Some(OTHER), None).unwrap();
    assert!(!is_run(&files[1]));
    // Also where it is on the way of a link of the user's.
    symlink(&own, shared.join("team")).unwrap();
    symlink(shared.join("team"), all.path().join("plugins")).unwrap();
    let passed = all.path().join("plugins/a.wasm");
    assert!(is_run(&passed));
    lchown(shared.join("team"), Some(OTHER), None).unwrap();
    assert!(!is_run(&passed));
}
