use std::path::PathBuf;
use std::thread;

use super::*;
use crate::tests::logged;

const KEY: IndexKey = IndexKey {
    stamp: Stamp {
        size: 1,
        mtime: 2,
        ctime: 3,
        inode: 4,
    },
    read: 5,
    used: 6,
    failures: 0,
};

/// Returns entries for files of these names in the folder, which it makes.
fn entries(folder: &Path, names: &[&str]) -> BTreeMap<String, (IndexKey, String)> {
    let used = stamp::now();
    let entry = |name: &&str| {
        let file = folder.join(name);
        fs::write(&file, "").unwrap();
        let body = format!("{{\"name\":\"{name} für {name}\"}}");
        (
            file.to_str().unwrap().to_owned(),
            (IndexKey { used, ..KEY }, body),
        )
    };
    names.iter().map(entry).collect()
}

fn content(index: &Index) -> BTreeMap<String, (IndexKey, String)> {
    let paths = index.slots.keys();
    paths
        .map(|path| {
            let (key, body) = index.get(path).unwrap();
            (path.clone(), (key, body.to_owned()))
        })
        .collect()
}

/// Returns an index of two entries, on disk, and its entries.
fn made() -> (
    tempfile::TempDir,
    PathBuf,
    BTreeMap<String, (IndexKey, String)>,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/er/index");
    let entries = entries(folder.path(), &["a", "b"]);
    Index::write(&file, &entries).unwrap();
    (folder, file, entries)
}

#[test]
fn what_is_written_is_read() {
    let (_folder, file, entries) = made();
    let (index, log) = logged(|| Index::open(&file));
    assert_eq!(content(&index), entries);
    assert!(!index.damaged);
    assert_eq!(log, [""; 0]);
}

#[cfg(unix)]
#[test]
fn only_its_user_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, file, _) = made();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().unwrap()), 0o700);
}

#[test]
fn a_missing_index_is_no_news() {
    let folder = tempfile::tempdir().unwrap();
    let (index, log) = logged(|| Index::open(&folder.path().join("none")));
    assert!(index.slots.is_empty() && !index.damaged);
    assert_eq!(log, [""; 0]);
}

#[test]
fn an_unusable_index_is_empty_and_said_once() {
    let (_folder, file, _) = made();
    let good = fs::read_to_string(&file).unwrap();
    let header = good.lines().next().unwrap();
    let newer = good.replacen(env!("CARGO_PKG_VERSION"), "99.0.0", 1);
    let layout = good.replacen(&format!(":{LAYOUT},"), ":5,", 1);
    assert!(newer != good && layout != good);
    for (bytes, why) in [
        (Vec::new(), "no index of Dormouse's"),
        (header.as_bytes()[..10].to_vec(), "no index of Dormouse's"),
        (b"\x00\x01\x02".to_vec(), "no index of Dormouse's"),
        (
            b"[package]\nname = \"a\"\n".to_vec(),
            "no index of Dormouse's",
        ),
        (
            b"{\"dormouse-index\":[]}\n".to_vec(),
            "no index of Dormouse's",
        ),
        (newer.into_bytes(), "another version of Dormouse (`99.0.0`)"),
        (layout.into_bytes(), "another version of Dormouse"),
        (
            [header.as_bytes(), b"\n\xff\xff"].concat(),
            "it is damaged, ",
        ),
    ] {
        fs::write(&file, &bytes).unwrap();
        let (index, log) = logged(|| Index::open(&file));
        assert!(index.slots.is_empty() && index.damaged, "{why}");
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(
            log[0].contains(why) && log[0].contains("made anew"),
            "{log:?}"
        );
        assert!(log[0].contains(file.to_str().unwrap()), "{log:?}");
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let (index, log) = logged(|| Index::open(&file));
    assert!(index.slots.is_empty() && log.len() == 1, "{log:?}");
}

/// A file that is cut off or changed anywhere never gives an entry that is not
/// one of those written.
#[test]
fn what_is_before_the_damage_is_kept() {
    let (_folder, file, entries) = made();
    let good = fs::read(&file).unwrap();
    let mut counts = Vec::new();
    for end in 0..good.len() {
        fs::write(&file, &good[..end]).unwrap();
        let (index, log) = logged(|| Index::open(&file));
        let found = content(&index);
        assert!(
            found
                .iter()
                .all(|(path, entry)| entries.get(path) == Some(entry))
        );
        // Where a line has just ended, nothing tells that there were more.
        assert_eq!(log.len(), usize::from(index.damaged), "{log:?}");
        counts.push(found.len());
    }
    assert!(counts.is_sorted() && counts.contains(&1), "{counts:?}");
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] = b'\n';
        fs::write(&file, &bytes).unwrap();
        let (_, log) = logged(|| content(&Index::open(&file)));
        assert!(log.len() <= 1, "{log:?}");
    }
}

#[test]
fn a_length_that_lies_is_damage() {
    let (_folder, file, _) = made();
    let good = fs::read_to_string(&file).unwrap();
    let length = good.split("\"length\":").nth(1).unwrap();
    let length = length.split('}').next().unwrap();
    for lie in ["0", "1", "4096", "18446744073709551615", "-1", "1e3"] {
        let bad = good.replace(
            &format!("\"length\":{length}"),
            &format!("\"length\":{lie}"),
        );
        fs::write(&file, bad).unwrap();
        let index = Index::open(&file);
        assert!(index.slots.is_empty() && index.damaged, "{lie}");
    }
}

#[test]
fn entries_of_other_configurations_stay_while_they_are_of_use() {
    let (folder, file, mut old) = made();
    let fresh = entries(folder.path(), &["c"]);
    Index::write(&file, &fresh).unwrap();
    let mut all = old.clone();
    all.extend(fresh.clone());
    assert_eq!(content(&Index::open(&file)), all);
    // One whose file has gone goes, and so does one that nobody has used.
    fs::remove_file(folder.path().join("a")).unwrap();
    for (key, _) in old.values_mut() {
        key.used -= MAX_UNUSED_NANOSECONDS + DAY;
    }
    old.retain(|path, _| path.ends_with('b'));
    Index::write(&file, &old).unwrap();
    Index::write(&file, &fresh).unwrap();
    assert_eq!(content(&Index::open(&file)), fresh);
}

#[test]
fn what_has_failed_is_tried_again_a_few_times_and_then_when_time_has_passed() {
    for (failures, passed, is_tried) in [
        (0, 0, false),
        (0, 100 * DAY, false),
        (1, 0, true),
        (2, 0, true),
        (3, 0, false),
        (3, RETRIED, false),
        (3, RETRIED + 1, true),
        (9, 0, false),
        (9, RETRIED + 1, true),
        (u32::MAX, RETRIED + 1, true),
    ] {
        let key = IndexKey { failures, ..KEY };
        let now = KEY.read + passed;
        assert_eq!(key.may_be_tried_again(now), is_tried, "{failures} {passed}");
    }
}

#[test]
fn no_index_is_written_that_would_not_be_read() {
    let (folder, file, _) = made();
    fs::remove_file(&file).unwrap();
    let mut all = entries(folder.path(), &["a", "large", "b", "larger"]);
    for (path, (_, body)) in &mut all {
        let bytes = match path {
            path if path.ends_with("larger") => 3000,
            path if path.ends_with("large") => 2000,
            _ => 10,
        };
        *body = serde_json::to_string(&"x".repeat(bytes)).unwrap();
    }
    Index::write(&file, &all).unwrap();
    let whole = fs::metadata(&file).unwrap().len();
    for (limit, names) in [
        (whole, &["a", "b", "large", "larger"][..]),
        (whole - 1, &["a", "b", "large"]),
        (whole - 3001, &["a", "b", "large"]),
        (whole - 5000, &["a", "b"]),
        (10, &[]),
    ] {
        fs::remove_file(&file).unwrap();
        let ((), log) = logged(|| Index::write_within(limit, &file, &all).unwrap());
        let bytes = fs::metadata(&file).unwrap().len();
        assert!(bytes <= limit || names.is_empty(), "{bytes} > {limit}");
        let found = content(&Index::open(&file));
        let kept: Vec<_> = names
            .iter()
            .map(|name| folder.path().join(name).to_str().unwrap().to_owned())
            .collect();
        assert_eq!(found.keys().cloned().collect::<Vec<_>>(), kept, "{limit}");
        assert!(found.iter().all(|(path, entry)| all[path] == *entry));
        match all.len() - names.len() {
            0 => assert_eq!(log, [""; 0]),
            left_out => assert!(
                log[0].contains("no room") && log[0].contains(&format!("{left_out} of 4")),
                "{log:?}"
            ),
        }
    }
}

/// A reader meanwhile sees one whole index, and the last one stays.
#[test]
fn writers_at_once_leave_a_whole_index() {
    let (folder, file, first) = made();
    let sets: Vec<_> = ["c", "d", "e", "f"]
        .map(|name| entries(folder.path(), &[name]))
        .into();
    thread::scope(|scope| {
        for set in &sets {
            scope.spawn(|| {
                for _ in 0..50 {
                    Index::write(&file, set).unwrap();
                }
            });
        }
        for _ in 0..200 {
            let index = Index::open(&file);
            assert!(!index.damaged);
            assert!(first.keys().all(|path| index.get(path).is_some()));
        }
    });
    let index = content(&Index::open(&file));
    assert!(
        sets.iter()
            .any(|set| set.keys().all(|path| index.contains_key(path)))
    );
    let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "temporary files are left behind");
}
