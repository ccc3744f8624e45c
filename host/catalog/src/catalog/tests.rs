use std::fs;
use std::process::Command;
use std::thread;
use std::time::SystemTime;

use super::*;
use crate::Provenance;
use crate::error::Problem;
use crate::read_process::tests::command;
use crate::tests::{documented, front, logged, nested_types, typed, with_large_types, words};

mod changes;
mod faults;
mod index_file;

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
        let later = |text: &str| -> BTreeMap<String, (IndexKey, String)> {
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
            .entries(&paths, ReadRound::begin())
            .iter()
            .all(Result::is_ok)
    );
    assert_eq!(
        first.counts(),
        CatalogCounts {
            read: 20,
            indexed: 0
        }
    );
    assert!(first.save().unwrap());
    assert!(!first.save().unwrap(), "there is nothing new to write");
    place.pass(10);

    let second = place.open();
    for (n, entry) in second
        .entries(&paths, ReadRound::begin())
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
        CatalogCounts {
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
        let entry = (IndexKey::new(stamp, read), body);
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
fn a_file_that_many_servers_name_is_read_once() {
    let place = Place::new();
    let path = place.folder.path().join("a.wasm");
    for (bytes, is_good) in [(typed(), true), (typed()[..20].to_vec(), false)] {
        fs::write(&path, bytes).unwrap();
        let other = place.plugin("b.wasm", "Adds.");
        let catalog = place.open();
        let found = catalog.entries(
            &[path.clone(), path.clone(), other, path.clone()],
            ReadRound::begin(),
        );
        let good: Vec<_> = found.iter().map(Result::is_ok).collect();
        assert_eq!(good, [is_good, is_good, true, is_good]);
        assert_eq!(catalog.counts().read, 2);
    }
}
