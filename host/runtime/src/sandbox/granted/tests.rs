use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use dormouse_policy::{OwnPlace, OwnPlaceList};
use dormouse_tests::artifacts;

use super::*;

#[cfg(target_os = "linux")]
mod own_mounts;

struct Place {
    root: PathBuf,
    _folder: tempfile::TempDir,
}

impl Place {
    fn new(folders: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for folder in folders {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        Self {
            root,
            _folder: folder,
        }
    }

    fn grant(&self, path: &str) -> FsGrant {
        let path = self.root.join(path);
        FsGrant {
            real: Some(real_path(&path)),
            path,
            mode: FsMode::ReadWrite,
        }
    }

    fn open(&self, paths: &[&str]) -> Result<GrantedFolders, GrantError> {
        let grants = Grants {
            fs: paths.iter().map(|path| self.grant(path)).collect(),
            env: Vec::new(),
            http: Vec::new(),
        };
        self.open_all(&grants)
    }

    fn open_all(&self, grants: &Grants) -> Result<GrantedFolders, GrantError> {
        let path = self.root.join("own");
        let own = OwnPlaces::new(move || {
            vec![OwnPlace {
                path: path.clone(),
                what: "a test's".to_owned(),
            }]
        });
        GrantedFolders::open("odd", grants, &own)
    }
}

fn swap_for_link(path: &Path, target: &Path) {
    std::fs::rename(path, path.with_extension("old")).unwrap();
    symlink(target, path).unwrap();
}

#[test]
fn a_folder_is_kept_until_its_path_names_another() {
    let place = Place::new(&["a/b"]);
    let folders = place.open(&["a/b"]).unwrap();
    let first = folders.preopens().unwrap();
    assert!(Arc::ptr_eq(&first, &folders.preopens().unwrap()));
    std::fs::rename(place.root.join("a/b"), place.root.join("a/gone")).unwrap();
    assert!(matches!(folders.preopens(), Err(GrantError::Folder { .. })));
    std::fs::create_dir(place.root.join("a/b")).unwrap();
    std::fs::write(place.root.join("a/b/new"), "").unwrap();
    let second = folders.preopens().unwrap();
    let inside = std::fs::read_dir("/proc/self/fd").is_ok();
    assert!(!Arc::ptr_eq(&first, &second) || !inside);
}

#[test]
fn a_link_in_place_of_a_folder_or_of_one_above_it_is_refused() {
    for (swapped, target) in [("a/b", "secret"), ("a", "other")] {
        let place = Place::new(&["a/b", "secret", "other/b"]);
        let grants = Grants {
            fs: vec![place.grant("a/b")],
            env: Vec::new(),
            http: Vec::new(),
        };
        let folders = place.open_all(&grants).unwrap();
        swap_for_link(&place.root.join(swapped), &place.root.join(target));
        for error in [
            folders.preopens().map(drop).unwrap_err(),
            place.open_all(&grants).map(drop).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(matches!(error, GrantError::Moved { .. }), "{text}");
            // Both paths, and what to do.
            let granted = place.root.join("a/b").display().to_string();
            let now = place.root.join(target).display().to_string();
            assert!(text.contains(&format!("`{granted}`")), "{text}");
            assert!(text.contains(&now), "{text}");
            assert!(text.contains("dormouse grant odd"), "{text}");
        }
    }
}

#[test]
fn a_link_that_was_granted_as_such_leads_where_it_led_then() {
    let place = Place::new(&["real", "secret"]);
    symlink("real", place.root.join("link")).unwrap();
    let grants = Grants {
        fs: vec![place.grant("link")],
        env: Vec::new(),
        http: Vec::new(),
    };
    assert!(place.open_all(&grants).is_ok());
    std::fs::remove_file(place.root.join("link")).unwrap();
    symlink("secret", place.root.join("link")).unwrap();
    assert!(matches!(
        place.open_all(&grants),
        Err(GrantError::Moved { .. })
    ));
    // Where nothing could be recorded, no link is followed at all.
    let mut unrecorded = grants;
    for grant in &mut unrecorded.fs {
        grant.real = None;
    }
    assert!(matches!(
        place.open_all(&unrecorded),
        Err(GrantError::Unrecorded { .. })
    ));
}

#[test]
fn grants_of_one_server_do_not_contain_one_another() {
    let place = Place::new(&["a/b", "c"]);
    symlink(place.root.join("a"), place.root.join("c/link")).unwrap();
    for (paths, outer, inner) in [
        (["a", "a/b"], "a", "a/b"),
        (["a/b", "a"], "a", "a/b"),
        (["a/b", "c/link"], "c/link", "a/b"),
        (["a", "c/link"], "c/link", "a"),
    ] {
        match place.open(&paths).map(drop) {
            Err(GrantError::Nested {
                outer: found_outer,
                inner: found_inner,
                ..
            }) => {
                assert_eq!(found_outer, place.root.join(outer), "{paths:?}");
                assert_eq!(found_inner, place.root.join(inner), "{paths:?}");
            }
            other => panic!("{paths:?}: {other:?}"),
        }
    }
    assert!(place.open(&["a", "c"]).is_ok());
}

#[test]
fn nothing_of_our_own_is_granted_even_where_it_came_later() {
    let place = Place::new(&["a", "b"]);
    let folders = place.open(&["a"]).unwrap();
    // The place is made behind a link into what is granted already.
    std::fs::create_dir(place.root.join("a/dm")).unwrap();
    symlink("a/dm", place.root.join("own")).unwrap();
    assert!(matches!(place.open(&["a"]), Err(GrantError::Own { .. })));
    assert!(matches!(place.open(&["a/dm"]), Err(GrantError::Own { .. })));
    assert!(place.open(&["b"]).is_ok());
    // A folder that was made anew is judged anew.
    std::fs::rename(place.root.join("a"), place.root.join("before")).unwrap();
    std::fs::create_dir_all(place.root.join("a/dm")).unwrap();
    assert!(matches!(folders.preopens(), Err(GrantError::Own { .. })));
}

/// A client's file may become a link into a folder that was granted before.
#[test]
fn an_own_place_that_comes_into_a_folder_is_noticed_at_once() {
    let place = Place::new(&["files"]);
    let open = place.open(&["files"]).unwrap();
    open.preopens().unwrap();
    std::fs::write(place.root.join("files/mine"), "").unwrap();
    symlink("files/mine", place.root.join("own")).unwrap();
    assert!(matches!(open.preopens(), Err(GrantError::Own { .. })));
    std::fs::remove_file(place.root.join("own")).unwrap();
    open.preopens().unwrap();
}

/// An own folder may be renamed into one, with nothing left at its path.
#[cfg(target_os = "linux")]
#[test]
fn an_own_folder_that_is_moved_into_a_folder_is_noticed_at_once() {
    let place = Place::new(&["files", "own"]);
    let own = vec![OwnPlace {
        path: place.root.join("own"),
        what: "a test's".to_owned(),
    }];
    let own = OwnPlaces::new(move || OwnPlaceList {
        places: own.clone(),
        folders: own.clone(),
        ..OwnPlaceList::default()
    });
    let grants = Grants {
        fs: vec![place.grant("files")],
        env: Vec::new(),
        http: Vec::new(),
    };
    let open = GrantedFolders::open("odd", &grants, &own).unwrap();
    open.preopens().unwrap();
    let [from, to] = ["own", "files/moved"].map(|name| place.root.join(name));
    std::fs::rename(&from, &to).unwrap();
    match open.preopens().map(drop) {
        Err(GrantError::Own { own, .. }) => assert_eq!(own, to),
        other => panic!("{other:?}"),
    }
    std::fs::rename(&to, &from).unwrap();
    open.preopens().unwrap();
}

/// A call asks once whether anything has changed, instead of looking at a hundred paths.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_looked_at_again_while_nothing_has_changed() {
    // Where no other test makes anything meanwhile.
    let keep = tempfile::tempdir_in(artifacts::target()).unwrap();
    let place = Place {
        root: keep.path().canonicalize().unwrap(),
        _folder: keep,
    };
    std::fs::create_dir(place.root.join("files")).unwrap();
    let looks = Arc::new(AtomicU32::new(0));
    let (path, looked) = (place.root.join("own"), Arc::clone(&looks));
    let own = OwnPlaces::new(move || {
        looked.fetch_add(1, Ordering::Relaxed);
        let what = "a test's".to_owned();
        vec![OwnPlace {
            path: path.clone(),
            what,
        }]
    });
    let grants = Grants {
        fs: vec![place.grant("files")],
        env: Vec::new(),
        http: Vec::new(),
    };
    let open = GrantedFolders::open("odd", &grants, &own).unwrap();
    let before = looks.load(Ordering::Relaxed);
    let first = open.preopens().unwrap();
    for _ in 0..100 {
        std::fs::write(place.root.join("files/written"), "by a guest").unwrap();
        assert!(Arc::ptr_eq(&first, &open.preopens().unwrap()));
    }
    // Two servers of one host share what is known of its own places.
    GrantedFolders::open("even", &grants, &own).unwrap();
    assert_eq!(looks.load(Ordering::Relaxed), before);
    symlink("files", place.root.join("own")).unwrap();
    assert!(matches!(open.preopens(), Err(GrantError::Own { .. })));
    assert!(looks.load(Ordering::Relaxed) > before);
}
