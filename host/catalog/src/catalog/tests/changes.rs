//! Files that change, go, or are replaced.

use super::*;

#[test]
fn a_change_within_the_clocks_tick_is_noticed() {
    let place = Place::new();
    let time = SystemTime::now();
    let same = |path: &Path| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    };
    let path = place.plugin("a.wasm", "One.");
    same(&path);
    let catalog = place.open();
    assert_eq!(described(&catalog, &path), "One.");
    catalog.save().unwrap();
    // In place, of the same length and with the same time of change.
    place.plugin("a.wasm", "Two.");
    same(&path);
    assert_eq!(described(&catalog, &path), "Two.");
    assert_eq!(place.anew(&path), ("Two.".into(), true));
}

#[test]
fn a_replaced_file_is_read_again() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "One.");
    let catalog = place.open();
    assert_eq!(described(&catalog, &path), "One.");
    catalog.save().unwrap();
    place.pass(10);
    assert_eq!(place.anew(&path), ("One.".into(), false));
    // As builds and downloads do it: another file in its place.
    let other = place.plugin("b.wasm", "Two.");
    fs::rename(other, &path).unwrap();
    assert_eq!(place.anew(&path), ("Two.".into(), true));
    assert_eq!(described(&catalog, &path), "Two.");
    assert!(catalog.save().unwrap());
    place.pass(10);
    assert_eq!(place.anew(&path), ("Two.".into(), false));
}

/// The caller decides how to treat the error: a host shows the last declaration of a damaged file,
/// which may be one that is being written.
#[test]
fn a_removed_or_damaged_file_is_an_error_until_it_is_back() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "One.");
    let good = fs::read(&path).unwrap();
    let catalog = place.open();
    assert_eq!(described(&catalog, &path), "One.");
    catalog.save().unwrap();
    place.pass(10);

    fs::write(&path, &good[..20]).unwrap();
    for catalog in [&catalog, &place.open()] {
        let error = catalog.entry(&path).unwrap_err();
        assert!(matches!(error.problem, Problem::Truncated { size: 20 }));
        assert!(
            error
                .to_string()
                .starts_with(&format!("`{}`: ", path.display()))
        );
    }
    fs::remove_file(&path).unwrap();
    for catalog in [&catalog, &place.open()] {
        let error = catalog.entry(&path).unwrap_err();
        assert!(matches!(error.problem, Problem::Missing), "{error}");
    }
    fs::write(&path, &good).unwrap();
    assert_eq!(described(&catalog, &path), "One.");
    assert_eq!(place.anew(&path), ("One.".into(), true));
    // One bad file among many does no harm to the others.
    let paths = [
        path.clone(),
        place.index(),
        path.with_extension("none"),
        path,
    ];
    let found = catalog.entries(&paths, ReadRound::begin());
    let good: Vec<_> = found.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, true]);
}

/// A file that was written a moment ago is read again, as it may have been changed at that very moment. It
/// is shown until there is time for that.
#[test]
fn what_was_read_a_moment_after_its_change_stays_until_it_is_read_again() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    fs::write(&path, typed()).unwrap();
    let paths = [path.clone()];
    let first = place.open();
    assert!(first.entries(&paths, ReadRound::begin())[0].is_ok());
    first.save().unwrap();
    let second = place.open();
    for catalog in [&first, &second] {
        let found = catalog.entries(&paths, ReadRound::over());
        assert!(found[0].is_ok(), "{found:?}");
        assert_eq!(catalog.unread(), paths);
        let before = catalog.counts().read;
        assert!(catalog.entries(&paths, ReadRound::begin())[0].is_ok());
        assert_eq!(catalog.counts().read, before + 1);
        assert!(catalog.unread().is_empty());
    }
    // Of another content there is nothing yet.
    fs::write(&path, "no component").unwrap();
    let found = second.entries(&paths, ReadRound::over());
    assert!(found[0].is_err(), "{found:?}");
}
