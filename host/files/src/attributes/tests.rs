use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use rustix::fs::{XattrFlags, getxattr, setxattr};

use super::*;
use crate::replace::replace;

const LIST: &str = "system.posix_acl_access";

/// Some users who are not root.
const OWNER: u32 = 54_321;
const OTHER: u32 = 54_322;

/// Makes an access control list: kinds of entries, what each allows, and of whom.
fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (kind, allowed, of) in entries {
        list.extend(kind.to_le_bytes());
        list.extend(allowed.to_le_bytes());
        list.extend(of.to_le_bytes());
    }
    list
}

/// Lets `OTHER` read and write, and the group do nothing, which looks like mode 0660.
fn for_one_user() -> Vec<u8> {
    let nobody = u32::MAX;
    list(&[
        (1, 6, nobody),
        (2, 6, OTHER),
        (4, 0, nobody),
        (0x10, 6, nobody),
        (0x20, 0, nobody),
    ])
}

fn list_of(file: &Path) -> Option<Vec<u8>> {
    let mut list = vec![0; 1024];
    let length = getxattr(file, LIST, list.as_mut_slice()).ok()?;
    list.truncate(length);
    Some(list)
}

#[test]
fn whose_a_file_is_stays_when_it_is_replaced() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "1").unwrap();
    chown(&file, Some(OWNER), Some(OTHER)).unwrap();
    let given = Access::Given(Permissions::from_mode(0o644));
    for (before, access, after) in [
        (0o640, Access::Kept, 0o640),
        (0o600, Access::Kept, 0o600),
        (0o640, given, 0o644),
    ] {
        fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
        replace(&file, b"2", access).unwrap();
        let now = file.metadata().unwrap();
        assert_eq!((now.uid(), now.gid()), (OWNER, OTHER));
        assert_eq!(now.mode() & 0o7777, after);
    }
    // A file of Dormouse's own is not left to whoever has put another one there.
    replace(&file, b"3", Access::Private).unwrap();
    assert_eq!(file.metadata().unwrap().uid(), 0);
}

#[test]
fn an_access_control_list_stays_when_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "1").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let for_one_user = for_one_user();
    if setxattr(&file, LIST, &for_one_user, XattrFlags::empty()).is_err() {
        // This file system has none.
        return;
    }
    let _ = setxattr(&file, "user.note", b"x", XattrFlags::empty());
    let mode = |file: &Path| file.metadata().unwrap().mode() & 0o7777;
    let had_note = getxattr(&file, "user.note", vec![0; 9].as_mut_slice()).is_ok();
    replace(&file, b"2", Access::Kept).unwrap();
    assert_eq!(mode(&file), 0o660);
    assert_eq!(list_of(&file).as_ref(), Some(&for_one_user));
    let has_note = getxattr(&file, "user.note", vec![0; 9].as_mut_slice()).is_ok();
    assert_eq!(has_note, had_note);
    // Made private and put back: it lets in nobody, and then who it did.
    replace(&file, b"3", Access::Private).unwrap();
    assert_eq!(mode(&file), 0o600);
    let given = Permissions::from_mode(0o660);
    replace(&file, b"4", Access::Given(given)).unwrap();
    assert_eq!(list_of(&file), Some(for_one_user));
}

#[test]
fn who_shares_a_file_is_told_apart_from_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "1").unwrap();
    let set = |mode| fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    let plain = sharing(&file).unwrap();
    assert!(!has_list(&file));
    set(0o600);
    assert_eq!(sharing(&file).unwrap(), plain);
    if rustix::process::geteuid().is_root() {
        chown(&file, None, Some(OTHER)).unwrap();
        assert_eq!(sharing(&file).unwrap(), OTHER.to_string());
        chown(&file, None, Some(0)).unwrap();
    }
    if setxattr(&file, LIST, &for_one_user(), XattrFlags::empty()).is_err() {
        return;
    }
    let listed = sharing(&file).unwrap();
    assert_ne!(listed, plain);
    assert!(has_list(&file));
    // The mode is in the list, too.
    set(0o600);
    assert_eq!(sharing(&file).unwrap(), listed);
    let nobody = u32::MAX;
    let other = [
        (1, 6, nobody),
        (2, 4, OTHER),
        (4, 0, nobody),
        (0x10, 6, nobody),
        (0x20, 0, nobody),
    ];
    setxattr(&file, LIST, &list(&other), XattrFlags::empty()).unwrap();
    assert_ne!(sharing(&file).unwrap(), listed);
}

#[test]
fn a_list_for_new_files_of_a_folder_opens_no_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    fs::write(&file, "1").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o660)).unwrap();
    let default = "system.posix_acl_default";
    if setxattr(folder.path(), default, &for_one_user(), XattrFlags::empty()).is_err() {
        return;
    }
    replace(&file, b"2", Access::Kept).unwrap();
    assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o660);
    assert_eq!(list_of(&file), None);
}
