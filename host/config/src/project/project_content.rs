//! Hashes of the content of a project's files: trust is given to them, and compared with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_files::ownership;

use crate::configured::PROJECT;
use crate::discovery::{ContentHash, ProjectContent};

/// A project besides its clients' files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProjectText<'t> {
    /// Text of the project's `dormouse.toml`, where it has one.
    text: Option<&'t str>,
    /// User that the project's folder belongs to, where that is another one than this process's:
    /// whoever has the folder decides what the programs in it are. A folder that changes hands is
    /// another project.
    owner: Option<u32>,
}

impl<'t> ProjectText<'t> {
    pub(crate) fn of(folder: &Path, text: Option<&'t str>) -> Self {
        Self {
            text,
            owner: ownership::foreign_owner(folder),
        }
    }
}

/// Hashes over all of a project's files: its clients' ones and its own `dormouse.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectHashes {
    /// Hash over the files that servers are written in; empty where there are none.
    own_files: String,
    /// Hash over these, and the files that the project's servers are filled in from.
    with_filled_in: String,
    /// Hash over these, and the files that servers of the user's are filled in from.
    all: String,
    /// Digits that tell the content of each single file.
    files: BTreeMap<PathBuf, String>,
    /// Whether a file was not the same at two looks: then the hashes stand for nothing.
    pub(crate) changed: bool,
}

/// Separator of two hashes in the file of trusted folders. Versions before there were
/// two wrote one, over the files of the project and those that its servers are filled in from.
const BETWEEN: char = '.';

/// Separator of the hashes and the digits of single files behind them, which only tell what has
/// changed.
const BEFORE_FILE: char = ' ';

/// Most files of which a record has digits. A project chooses how many there are.
const MAX_FILES: usize = 64;

impl ProjectHashes {
    /// Makes the hashes of a project.
    pub(crate) fn new(clients: Option<&ProjectContent>, own: ProjectText<'_>) -> Self {
        let of = |part: fn(&ProjectContent) -> Option<&ContentHash>| {
            with_own(clients.and_then(part), own)
        };
        let mut files = clients.map_or_else(BTreeMap::new, |content| content.files.clone());
        if let Some(text) = own.text {
            let (name, hash) = (Path::new(PROJECT), blake3::hash(text.as_bytes()));
            files.insert(name.to_owned(), ContentHash::of_file(name, hash));
        }
        Self {
            files,
            own_files: of(|content| content.own_files.as_ref()),
            with_filled_in: of(|content| content.with_filled_in.as_ref()),
            all: of(|content| content.with_users_servers.as_ref()),
            changed: clients.is_some_and(|content| content.changed),
        }
    }

    /// Returns the entry in the file of trusted folders for a project that is trusted as it is now.
    pub(crate) fn recorded(&self) -> String {
        let mut record = self.both();
        if self.files.len() <= MAX_FILES {
            for digits in self.files.values() {
                record.push(BEFORE_FILE);
                record.push_str(digits);
            }
        }
        record
    }

    fn both(&self) -> String {
        format!("{}{BETWEEN}{}", self.own_files, self.all)
    }

    /// Whether a record is of just these files. An older record need not be of those that servers
    /// of the user's are filled in from.
    pub(crate) fn is_recorded(&self, record: &str) -> bool {
        let (hashes, _) = parts(record);
        !self.changed && (hashes == self.both() || hashes == self.with_filled_in)
    }

    /// Whether a record is of all of these files.
    pub(crate) fn is_wholly_recorded(&self, record: &str) -> bool {
        let (hashes, _) = parts(record);
        !self.changed && (hashes == self.both() || hashes == self.all)
    }

    /// Returns the files that are new or others than when a record was made, as far as it says that.
    pub(crate) fn changed_since(&self, record: &str) -> Vec<PathBuf> {
        let (_, Some(known)) = parts(record) else {
            return Vec::new();
        };
        let known: BTreeSet<&str> = known.split(BEFORE_FILE).collect();
        let changed = self.files.iter();
        let changed = changed.filter(|(_, digits)| !known.contains(digits.as_str()));
        changed.map(|(file, _)| file.clone()).collect()
    }
}

/// Returns the hashes of a record, and the digits of single files, where it has some.
fn parts(record: &str) -> (&str, Option<&str>) {
    match record.split_once(BEFORE_FILE) {
        Some((hashes, files)) => (hashes, Some(files)),
        None => (record, None),
    }
}

/// Whether a record can be of a project, by the files alone that its servers are written in.
/// `clients` is the content of the clients' files.
pub(crate) fn may_be_recorded(
    record: &str,
    clients: Option<&ContentHash>,
    own: ProjectText<'_>,
) -> bool {
    match parts(record).0.split_once(BETWEEN) {
        Some((own_files, _)) => own_files == with_own(clients, own),
        // Of an older version, which can be told only with all files.
        None => true,
    }
}

fn with_own(clients: Option<&ContentHash>, own: ProjectText<'_>) -> String {
    let both = |one: &str, other: &str| {
        let both = blake3::hash(format!("{one} {other}").as_bytes());
        both.to_hex().to_string()
    };
    let clients = clients.map_or("", ContentHash::as_str);
    let files = match own.text {
        None => clients.to_owned(),
        Some(own) => both(clients, &blake3::hash(own.as_bytes()).to_hex()),
    };
    match own.owner {
        None => files,
        Some(owner) => both(&files, &format!("owner {owner}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> ProjectText<'_> {
        ProjectText {
            text: Some(text),
            owner: None,
        }
    }

    const NOTHING: ProjectText<'_> = ProjectText {
        text: None,
        owner: None,
    };

    #[test]
    fn files_that_changed_while_they_were_read_are_recorded_as_nothing() {
        let content = |changed| ProjectContent {
            own_files: None,
            with_filled_in: None,
            with_users_servers: None,
            files: BTreeMap::new(),
            changed,
        };
        let [same, changed] =
            [false, true].map(|it| ProjectHashes::new(Some(&content(it)), NOTHING));
        let record = same.recorded();
        assert!(same.is_recorded(&record) && same.is_wholly_recorded(&record));
        for record in [record, changed.recorded()] {
            assert!(!changed.is_recorded(&record) && !changed.is_wholly_recorded(&record));
        }
    }

    #[test]
    fn a_record_of_other_files_is_told_before_what_they_name_is_opened() {
        let first = ProjectHashes::new(None, text("first"));
        let record = first.recorded();
        assert!(may_be_recorded(&record, None, text("first")));
        assert!(first.is_recorded(&record) && first.is_wholly_recorded(&record));
        assert!(!may_be_recorded(&record, None, text("second")));
        assert!(!may_be_recorded(&record, None, NOTHING));
        let second = ProjectHashes::new(None, text("second"));
        assert!(!second.is_recorded(&record) && !second.is_wholly_recorded(&record));
    }

    #[test]
    fn what_has_changed_is_told_by_its_name_and_trusts_nothing() {
        let first = ProjectHashes::new(None, text("first"));
        let second = ProjectHashes::new(None, text("second"));
        let record = first.recorded();
        assert!(first.changed_since(&record).is_empty());
        assert_eq!(second.changed_since(&record), [Path::new(PROJECT)]);
        // Of records of versions that wrote no files, nobody knows.
        assert!(second.changed_since(&first.both()).is_empty());
        assert!(first.is_recorded(&first.both()) && first.is_wholly_recorded(&first.both()));
        let (_, files) = parts(&record);
        let mixed = format!("{}{BEFORE_FILE}{}", second.both(), files.unwrap());
        assert!(!first.is_recorded(&mixed) && !first.is_wholly_recorded(&mixed));
        assert!(second.is_recorded(&mixed) && !may_be_recorded(&mixed, None, text("first")));
    }

    #[test]
    fn a_folder_that_changes_hands_is_another_project() {
        let of = |owner| ProjectText {
            owner,
            ..text("same")
        };
        let all = [None, Some(1001), Some(1002)];
        for trusted in all {
            let record = ProjectHashes::new(None, of(trusted)).recorded();
            for owner in all {
                let hashes = ProjectHashes::new(None, of(owner));
                let is_same = owner == trusted;
                assert_eq!(may_be_recorded(&record, None, of(owner)), is_same);
                assert_eq!(hashes.is_recorded(&record), is_same);
                assert_eq!(hashes.is_wholly_recorded(&record), is_same);
            }
        }
    }
}
