//! Files in which something is wrong, or whose reading takes long or fails.

use super::*;

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
        let found = catalog.entries(&paths, ReadRound::begin()).into_iter();
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
        next.entries(&[path, other], ReadRound::begin())
            .iter()
            .all(Result::is_ok)
    );
    let counts = next.counts();
    assert_eq!((counts.read, counts.indexed), (0, 2));
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
    let mut found = slow.entries(&paths, ReadRound::of(millis(200), millis(500)));
    assert!(begun.elapsed() < millis(10_000), "{:?}", begun.elapsed());
    assert!(found.pop().unwrap().is_ok(), "what is packed takes no time");
    for error in found.into_iter().map(Result::unwrap_err) {
        assert!(matches!(error.problem, Problem::NotYet), "{error}");
    }
    slow.save().unwrap();
    // It goes on at the next start.
    let next = place.open().entries(&paths, ReadRound::begin());
    assert!(next.iter().all(Result::is_ok));
}
