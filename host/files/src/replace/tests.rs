use super::*;

#[test]
fn a_file_is_replaced_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/a.txt");
    replace(&file, b"1", Access::Private).unwrap();
    replace(&file, &[0xff, 0], Access::Kept).unwrap();
    assert_eq!(fs::read(&file).unwrap(), [0xff, 0]);
    let inside = file.parent().unwrap();
    let error = replace(inside, b"1", Access::Kept).unwrap_err();
    assert!(error.to_string().starts_with("it is a folder"), "{error}");
    let mut permissions = file.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    assert!(replace(&file, b"2", Access::Kept).is_err());
    assert_eq!(fs::read(&file).unwrap(), [0xff, 0]);
    // Nothing is left of what was not put in place.
    assert_eq!(fs::read_dir(inside).unwrap().count(), 1);
}

#[test]
fn what_others_write_until_the_new_file_is_ready_stays() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    fs::write(&file, "before").unwrap();
    let others = |path: &Path| {
        // The new file is there as a whole.
        let names = fs::read_dir(folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().path());
        let new: Vec<_> = names.filter(|path| *path != file).collect();
        assert_eq!(new.len(), 1);
        assert_eq!(fs::read_to_string(&new[0]).unwrap(), "after");
        fs::write(&file, "written by others").unwrap();
        Ok(fs::read_to_string(path)? == "before")
    };
    assert!(!replace_if(&file, b"after", Access::Kept, others).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "written by others");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(replace_if(&file, b"after", Access::Kept, |_| Ok(true)).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "after");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let new = folder.path().join("new.txt");
    assert!(replace_if(&new, b"after", Access::Kept, |path| Ok(!path.exists())).unwrap());
    assert_eq!(fs::read_to_string(&new).unwrap(), "after");
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn what_others_write_in_the_last_moment_stays() {
    // As clients do: a new file takes the place of the old one.
    let write = |file: &Path, text: &str| {
        let new = file.with_extension("client");
        fs::write(&new, text).unwrap();
        fs::rename(&new, file).unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    fs::write(&file, "before").unwrap();
    let others = |path: &Path| {
        let is_unchanged = fs::read_to_string(path)? == "before";
        // Right after the look at it, and once more before it gets that back.
        let text = if path == file { "first" } else { "second" };
        write(&file, text);
        Ok(is_unchanged)
    };
    assert!(!replace_if(&file, b"after", Access::Kept, others).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "second");
    let others = |path: &Path| {
        let is_unchanged = fs::read_to_string(path)? == "second";
        if path == file {
            write(&file, "third");
        }
        Ok(is_unchanged)
    };
    assert!(!replace_if(&file, b"after", Access::Kept, others).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "third");
    let new = folder.path().join("new.txt");
    let others = |path: &Path| {
        let is_unchanged = !path.exists();
        fs::write(&new, "others").unwrap();
        Ok(is_unchanged)
    };
    assert!(!replace_if(&new, b"after", Access::Kept, others).unwrap());
    assert_eq!(fs::read_to_string(&new).unwrap(), "others");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn folders_on_the_way_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/deep/a.txt");
    replace(&file, b"1", Access::Private).unwrap();
    for above in file.ancestors().skip(1).take(2) {
        let mode = above.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", above.display());
    }
}

#[cfg(unix)]
#[test]
fn access_is_what_was_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    let link = folder.path().join("b");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    fs::write(&file, "").unwrap();
    let given = fs::Permissions::from_mode(0o754);
    for (access, mode) in [
        (Access::Given(given), 0o754),
        (Access::Kept, 0o754),
        (Access::Private, 0o600),
    ] {
        replace(&link, b"x", access).unwrap();
        let now = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(now, mode);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
#[test]
fn what_others_write_into_the_old_file_right_after_stays() {
    use std::io::{Seek as _, Write as _};

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    for is_removed in [false, true] {
        fs::write(&file, "before").unwrap();
        // As clients do that write in place: they have opened the file already.
        let opened = fs::File::options().write(true).open(&file).unwrap();
        let looks = std::cell::Cell::new(0);
        let is_unchanged = |path: &Path| {
            looks.set(looks.get() + 1);
            let is_unchanged = fs::read_to_string(path)? == "before";
            if looks.get() == 2 {
                assert!(is_unchanged && path != file);
                let mut opened = opened.try_clone()?;
                opened.set_len(0)?;
                opened.rewind()?;
                opened.write_all(b"written by others")?;
            }
            Ok(is_unchanged)
        };
        let done = match is_removed {
            false => replace_if(&file, b"after", Access::Kept, is_unchanged),
            true => remove_if(&file, is_unchanged),
        };
        assert!(!done.unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), "written by others");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_is_removed_if_it_is_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    fs::write(&file, "1").unwrap();
    let is = |text: &'static str| move |path: &Path| Ok(fs::read_to_string(path)? == text);
    assert!(!remove_if(&file, is("2")).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "1");
    // One that somebody makes anew meanwhile is theirs.
    let others = |path: &Path| {
        if path != file {
            fs::write(&file, "theirs")?;
        }
        Ok(path == file)
    };
    assert!(!remove_if(&file, others).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    assert!(remove_if(&file, is("theirs")).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn what_killed_processes_have_left_is_removed_when_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let left = [".dormouse-new-aB3dE6.toml"];
    let kept = [
        ".dormouse-new-aB3dE6.json",
        ".dormouse-new-aB3dE.toml",
        ".dormouse-backup.toml",
        "dormouse.toml",
    ];
    for name in left.into_iter().chain(kept) {
        fs::write(folder.path().join(name), "secret").unwrap();
    }
    // One that another process may be at work with stays.
    let file = folder.path().join("dormouse.toml");
    replace(&file, b"secret", Access::Private).unwrap();
    assert!(folder.path().join(left[0]).exists());
    sweep_beside(&file, Duration::ZERO);
    assert!(!folder.path().join(left[0]).exists());
    assert!(kept.iter().all(|name| folder.path().join(name).exists()));
}

/// Somebody else would choose which file of the user's is written over.
#[cfg(unix)]
#[test]
fn a_link_of_another_user_where_anybody_may_put_one_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    if !rustix::process::geteuid().is_root() {
        // Only root can give links away.
        return;
    }
    let all = tempfile::tempdir().unwrap();
    let [shared, own] = ["shared", "own"].map(|name| all.path().join(name));
    for folder in [&shared, &own] {
        fs::create_dir(folder).unwrap();
    }
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let kept = own.join("a.txt");
    let [to_file, to_folder] = ["file", "folder"].map(|name| shared.join(name));
    symlink(&kept, &to_file).unwrap();
    symlink("../own", &to_folder).unwrap();
    let files = [
        to_file.clone(),
        to_folder.join("a.txt"),
        to_folder.join("new.txt"),
        shared.join("b.txt"),
    ];
    fs::write(&kept, "0").unwrap();
    for file in &files {
        replace(file, b"1", Access::Kept).unwrap();
        assert!(replace_if(file, b"2", Access::Kept, |_| Ok(true)).unwrap());
        assert_eq!(fs::read(file).unwrap(), b"2");
    }
    for link in [&to_file, &to_folder] {
        lchown(link, Some(54_321), None).unwrap();
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    }
    fs::remove_file(own.join("new.txt")).unwrap();
    for file in &files[..3] {
        for done in [
            replace(file, b"3", Access::Kept),
            replace_if(file, b"3", Access::Kept, |_| Ok(true)).map(drop),
            remove_if(file, |_| Ok(true)).map(drop),
        ] {
            let error = done.unwrap_err().to_string();
            assert!(error.contains("is another user's (uid 54321)"), "{error}");
        }
    }
    assert_eq!(fs::read(&kept).unwrap(), b"2");
    assert_eq!(fs::read_dir(&own).unwrap().count(), 1);
    replace(&files[3], b"3", Access::Kept).unwrap();
}

/// A link may lead to a device, which would be gone for the whole system.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, link) = (folder.path().join("socket"), folder.path().join("link"));
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::os::unix::fs::symlink(&socket, &link).unwrap();
    for path in [&socket, &link] {
        for replaced in [
            replace(path, b"x", Access::Private),
            replace_if(path, b"x", Access::Kept, |_| Ok(true)).map(drop),
        ] {
            let error = replaced.unwrap_err().to_string();
            assert!(error.starts_with("it is no file"), "{error}");
        }
    }
    assert!(!fs::metadata(&socket).unwrap().is_file());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn files_that_take_the_place_of_others_are_known_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let (temporary, target) = prepare(&folder.path().join("a.toml"), b"x", Access::Kept).unwrap();
    assert!(is_temporary(temporary.path()));
    assert!(!is_temporary(&target));
}
