//! The file of the index: damaged, shared, or not to be written or trusted.

use super::*;

#[test]
fn a_damaged_index_is_made_anew_and_said_once() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "One.");
    let first = place.open();
    described(&first, &path);
    first.save().unwrap();
    place.pass(10);
    let good = fs::read(place.index()).unwrap();
    let newer = String::from_utf8(good.clone()).unwrap();
    let newer = newer.replacen(env!("CARGO_PKG_VERSION"), "99.0.0", 1);
    let start = || {
        let catalog = place.open();
        assert_eq!(described(&catalog, &path), "One.");
        catalog.save().unwrap();
    };
    for bytes in [
        // Cut off, with something behind, foreign, newer.
        good[..good.len() - 1].to_vec(),
        [&good[..], b"and more\n"].concat(),
        b"something else".to_vec(),
        newer.into_bytes(),
    ] {
        fs::write(place.index(), &bytes).unwrap();
        let ((), log) = logged(start);
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].contains("is made anew"), "{log:?}");
        let ((), log) = logged(start);
        assert_eq!(log, [""; 0], "of {:?}", String::from_utf8_lossy(&bytes));
        let index = fs::read_to_string(place.index()).unwrap();
        assert_eq!(index.lines().count(), 3, "{index}");
    }
}

/// A listing that does not parse costs one reading of that component.
#[test]
fn a_damaged_listing_is_read_from_its_component() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "One.");
    let first = place.open();
    described(&first, &path);
    first.save().unwrap();
    place.pass(10);
    let good = fs::read_to_string(place.index()).unwrap();
    let bad = good.replacen("\"provenance\":", "\"provenanze\":", 1);
    assert_ne!(good, bad);
    fs::write(place.index(), bad).unwrap();
    let start = || {
        let found = place.anew(&path);
        let catalog = place.open();
        described(&catalog, &path);
        catalog.save().unwrap();
        found
    };
    let (found, log) = logged(start);
    assert_eq!(found, ("One.".into(), true));
    assert_eq!(log.len(), 2, "one from each of the two catalogs: {log:?}");
    place.pass(10);
    assert_eq!(place.anew(&path), ("One.".into(), false));
}

#[test]
fn an_index_that_cannot_be_written_is_told_and_tried_again() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "One.");
    fs::write(place.folder.path().join("file"), "").unwrap();
    let catalog = Catalog::open(&place.folder.path().join("file/index"), command);
    assert_eq!(described(&catalog, &path), "One.");
    catalog.save().unwrap_err();
    fs::remove_file(place.folder.path().join("file")).unwrap();
    assert!(catalog.save().unwrap());
}

#[test]
fn hosts_at_once_share_an_index() {
    let place = Place::new();
    let paths: Vec<_> = (0..8)
        .map(|n| place.plugin(&format!("{n}.wasm"), &format!("No. {n}.")))
        .collect();
    thread::scope(|scope| {
        for pair in paths.chunks(2) {
            let place = &place;
            scope.spawn(move || {
                for _ in 0..20 {
                    let catalog = place.open();
                    assert!(
                        catalog
                            .entries(pair, ReadRound::begin())
                            .iter()
                            .all(Result::is_ok)
                    );
                    catalog.save().unwrap();
                }
            });
        }
    });
    let (catalog, log) = logged(|| place.open());
    assert_eq!(log, [""; 0]);
    for (n, path) in paths.iter().enumerate() {
        assert_eq!(described(&catalog, path), format!("No. {n}."));
    }
}

/// The index has what agents are shown: where another user could have written it, it is made anew at
/// each start.
#[cfg(unix)]
#[test]
fn an_index_that_others_could_write_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let path = place.plugin("a.wasm", "Adds.");
    let file = place.index();
    let folder = file.parent().unwrap();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let starts = || {
        let catalog = place.open();
        assert!(catalog.entry(&path).is_ok());
        catalog.save().unwrap();
        catalog.counts().read
    };
    assert_eq!(starts(), 1);
    for (path, others, own) in [(file.as_path(), 0o666, 0o600), (folder, 0o777, 0o700)] {
        place.pass(5);
        assert_eq!(starts(), 0, "{}", path.display());
        mode(path, others);
        assert_eq!(starts(), 1, "{}", path.display());
        mode(path, own);
    }
}
