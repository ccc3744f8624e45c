use std::fs;
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use super::*;
use crate::Provenance;
use crate::error::Problem;
use crate::read_process::tests::command;
use crate::tests::{documented, front, logged, nested_types, typed, with_large_types, words};

const SECOND: i64 = 1_000_000_000;

/// A folder with plugins and an index.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn open(&self) -> Catalog {
        Catalog::open(&self.index(), command)
    }

    /// Writes a plugin with this description, in place if it is there.
    fn plugin(&self, name: &str, description: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, front(&typed(), &words(description))).unwrap();
        path
    }

    /// Returns the description of a file from a newly opened catalog, and whether the catalog has
    /// opened the file for it.
    fn anew(&self, path: &Path) -> (String, bool) {
        let catalog = self.open();
        let found = described(&catalog, path);
        (found, catalog.counts().read > 0)
    }

    /// Makes some time pass: the entries in the index are as if they had been read so much later.
    fn pass(&self, seconds: i64) {
        let index = Index::open(&self.index());
        let later = |text: &str| -> BTreeMap<String, (Key, String)> {
            let paths = text.lines().filter(|line| line.starts_with("{\"path\""));
            let paths = paths.map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                line["path"].as_str().unwrap().to_owned()
            });
            paths
                .map(|path| {
                    let (mut key, body) = index.get(&path).unwrap();
                    key.read += seconds * SECOND;
                    let body = body.to_owned();
                    (path, (key, body))
                })
                .collect()
        };
        let later = later(&fs::read_to_string(self.index()).unwrap());
        Index::write(&self.index(), &later).unwrap();
    }
}

fn described(catalog: &Catalog, path: &Path) -> String {
    let entry = catalog.entry(path).unwrap();
    entry.listing.description.clone().unwrap()
}

#[test]
fn a_second_start_reads_one_file() {
    let place = Place::new();
    let paths: Vec<_> = (0..20)
        .map(|n| place.plugin(&format!("{n}.wasm"), &format!("No. {n}.")))
        .collect();
    let first = place.open();
    assert!(
        first
            .entries(&paths, Round::begin())
            .iter()
            .all(Result::is_ok)
    );
    assert_eq!(
        first.counts(),
        Counts {
            read: 20,
            indexed: 0
        }
    );
    assert!(first.save().unwrap());
    assert!(!first.save().unwrap(), "there is nothing new to write");
    place.pass(10);

    let second = place.open();
    for (n, entry) in second
        .entries(&paths, Round::begin())
        .into_iter()
        .enumerate()
    {
        let entry = entry.unwrap();
        assert_eq!(entry.listing.description, Some(format!("No. {n}.")));
        assert_eq!(entry.listing.provenance, Provenance::Front);
        assert_eq!(entry.path, paths[n]);
    }
    assert_eq!(
        second.counts(),
        Counts {
            read: 0,
            indexed: 20
        }
    );
    assert!(!second.save().unwrap(), "there is nothing new to write");
}

#[test]
fn prompts_and_resources_are_indexed() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "");
    let (component, declared) = documented();
    fs::write(&path, front(&component, &declared)).unwrap();
    let declared = serde_json::to_string(&declared).unwrap();
    let found = || {
        let catalog = place.open();
        let listing = &catalog.entry(&path).unwrap().listing;
        let declaration = listing.declaration().unwrap();
        catalog.save().unwrap();
        let json = serde_json::to_string(&declaration).unwrap();
        (json, catalog.counts().indexed)
    };
    assert_eq!(found(), (declared.clone(), 0));
    place.pass(10);
    assert_eq!(found(), (declared, 1));
}

/// The counter of files read could be wrong, so the file is also replaced by one that is no
/// component.
#[test]
fn an_indexed_file_is_not_opened() {
    let place = Place::new();
    let path = place.plugin("a.wasm", "Adds.");
    let listing = read::entry(&path, command).unwrap().listing;
    fs::write(&path, "these are no bytes of a component").unwrap();
    let stamp = Stamp::of(&fs::metadata(&path).unwrap());
    let write = |read: i64| {
        let body = serde_json::to_string(&Ok::<_, Problem>(&listing)).unwrap();
        let entry = (Key::new(stamp, read), body);
        let fresh = BTreeMap::from([(path.to_str().unwrap().to_owned(), entry)]);
        Index::write(&place.index(), &fresh).unwrap();
    };
    write(stamp.ctime.max(stamp.mtime) + 10 * SECOND);
    assert_eq!(place.anew(&path), ("Adds.".into(), false));
    // With the same stamp, but read within the tick in which the file changed.
    write(stamp.ctime.max(stamp.mtime) + SECOND);
    let error = place.open().entry(&path).unwrap_err();
    assert!(matches!(error.problem, Problem::NotWasm { .. }), "{error}");
}

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
    let found = catalog.entries(&paths, Round::begin());
    let good: Vec<_> = found.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, true]);
}

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
                            .entries(pair, Round::begin())
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

/// Other faults than those in the files themselves are gone, maybe, at the next start.
#[test]
fn what_is_wrong_with_a_file_is_read_once() {
    let place = Place::new();
    let file = |name: &str, bytes: &[u8]| {
        let path = place.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let mut long = words("");
    long.tools[0].name = "n".repeat(100_000);
    let paths = [
        file("empty.wasm", b""),
        file("text.wasm", b"no component"),
        file("cut.wasm", &typed()[..20]),
        file("deep.wasm", &nested_types(101)),
        file("long.wasm", &front(&typed(), &long)),
        file("large.wasm", &with_large_types(400)),
    ];
    let faults = |catalog: &Catalog| -> Vec<String> {
        let found = catalog.entries(&paths, Round::begin()).into_iter();
        found.map(|found| found.unwrap_err().to_string()).collect()
    };
    let first = place.open();
    let told = faults(&first);
    assert!(told.iter().all(|fault| fault.len() < 8 << 10), "{told:?}");
    assert!(told[5].contains("what it offers takes"), "{}", told[5]);
    assert!(first.save().unwrap());
    place.pass(10);
    let second = place.open();
    assert_eq!(faults(&second), told);
    assert_eq!(faults(&second), told);
    let counts = second.counts();
    assert_eq!((counts.read, counts.indexed), (0, paths.len() as u64));
    assert!(!second.save().unwrap(), "there is nothing new to write");
    // One that is mended is read again.
    fs::write(&paths[3], front(&typed(), &words("Adds."))).unwrap();
    assert_eq!(described(&second, &paths[3]), "Adds.");
}

#[test]
fn what_may_pass_by_itself_is_tried_at_the_next_start() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    fs::write(&path, typed()).unwrap();
    let failing = Catalog::open(&place.index(), |_| Ok(Command::new("/bin/false")));
    let error = failing.entry(&path).unwrap_err();
    assert!(matches!(error.problem, Problem::Process { .. }), "{error}");
    failing.save().unwrap();
    place.pass(10);
    assert!(place.open().entry(&path).is_ok());
    assert!(failing.entry(&path).is_err());
    assert_eq!(failing.counts().read, 2);
    // What has not been tried is no failed attempt.
    for _ in 0..9 {
        let none = Catalog::open(&place.index(), |_| Ok(Command::new("/nowhere/at/all")));
        let error = none.entry(&path).unwrap_err();
        assert!(
            matches!(error.problem, Problem::NoProcess { .. }),
            "{error}"
        );
        none.save().unwrap();
        place.pass(10);
    }
    assert!(place.open().entry(&path).is_ok());
}

#[test]
fn what_fails_at_each_start_is_not_tried_without_end() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    fs::write(&path, typed()).unwrap();
    let start = || {
        let failing = Catalog::open(&place.index(), |_| Ok(Command::new("/bin/false")));
        let error = failing.entry(&path).unwrap_err();
        assert!(matches!(error.problem, Problem::Process { .. }), "{error}");
        let counts = failing.counts();
        failing.save().unwrap();
        counts.read
    };
    // As long as the file may have changed unseen, no attempt counts.
    start();
    thread::sleep(std::time::Duration::from_millis(2_100));
    let read: Vec<_> = (0..6).map(|_| start()).collect();
    assert_eq!(read, [1, 1, 1, 0, 0, 0]);
    // In one process, too.
    let failing = Catalog::open(&place.index(), |_| Ok(Command::new("/bin/false")));
    assert!((0..3).all(|_| failing.entry(&path).is_err()));
    assert_eq!(failing.counts().read, 0);
    // Nothing of that is about another content.
    fs::write(&path, front(&typed(), &words("Adds."))).unwrap();
    assert_eq!(described(&place.open(), &path), "Adds.");
}

/// A client may give up, and end the host, before all is read.
#[test]
fn what_has_taken_long_is_kept_before_all_is_read() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    fs::write(&path, typed()).unwrap();
    let other = place.plugin("b.wasm", "Adds.");
    let catalog = Catalog::open(&place.index(), |task| {
        let reading = command(task)?;
        let mut slow = Command::new("/bin/sh");
        slow.args(["-c", "sleep 0.6; exec \"$0\" \"$@\""]);
        slow.arg(reading.get_program()).args(reading.get_args());
        Ok(slow)
    });
    described(&catalog, &other);
    assert!(catalog.entry(&path).is_ok());
    assert!(place.index().exists());
    place.pass(10);
    let next = place.open();
    assert!(
        next.entries(&[path, other], Round::begin())
            .iter()
            .all(Result::is_ok)
    );
    let counts = next.counts();
    assert_eq!((counts.read, counts.indexed), (0, 2));
}

#[test]
fn a_file_that_many_servers_name_is_read_once() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    for (bytes, is_good) in [(typed(), true), (typed()[..20].to_vec(), false)] {
        fs::write(&path, bytes).unwrap();
        let other = place.plugin("b.wasm", "Adds.");
        let catalog = place.open();
        let found = catalog.entries(
            &[path.clone(), path.clone(), other, path.clone()],
            Round::begin(),
        );
        let good: Vec<_> = found.iter().map(Result::is_ok).collect();
        assert_eq!(good, [is_good, is_good, true, is_good]);
        assert_eq!(catalog.counts().read, 2);
    }
}

/// A host is silent meanwhile.
#[test]
fn what_takes_long_takes_the_time_of_one_round_in_all() {
    let place = Place::new();
    let unpacked = |n: usize| {
        let path = place.folder.path().join(format!("{n}.wasm"));
        fs::write(&path, typed()).unwrap();
        path
    };
    let mut paths: Vec<_> = (0..20).map(unpacked).collect();
    paths.push(place.plugin("packed.wasm", "Adds."));
    let slow = Catalog::open(&place.index(), |_| {
        let mut command = Command::new("/bin/sleep");
        command.arg("60");
        Ok(command)
    });
    let millis = std::time::Duration::from_millis;
    let begun = std::time::Instant::now();
    let mut found = slow.entries(&paths, Round::of(millis(200), millis(500)));
    assert!(begun.elapsed() < millis(10_000), "{:?}", begun.elapsed());
    assert!(found.pop().unwrap().is_ok(), "what is packed takes no time");
    for error in found.into_iter().map(Result::unwrap_err) {
        assert!(matches!(error.problem, Problem::NotYet), "{error}");
    }
    slow.save().unwrap();
    // It goes on at the next start.
    let next = place.open().entries(&paths, Round::begin());
    assert!(next.iter().all(Result::is_ok));
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
    assert!(first.entries(&paths, Round::begin())[0].is_ok());
    first.save().unwrap();
    let second = place.open();
    for catalog in [&first, &second] {
        let found = catalog.entries(&paths, Round::over());
        assert!(found[0].is_ok(), "{found:?}");
        assert_eq!(catalog.unread(), paths);
        let before = catalog.counts().read;
        assert!(catalog.entries(&paths, Round::begin())[0].is_ok());
        assert_eq!(catalog.counts().read, before + 1);
        assert!(catalog.unread().is_empty());
    }
    // Of another content there is nothing yet.
    fs::write(&path, "no component").unwrap();
    let found = second.entries(&paths, Round::over());
    assert!(found[0].is_err(), "{found:?}");
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
