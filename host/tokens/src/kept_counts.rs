//! Counts that are kept in a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use anyhow::Context as _;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use serde::{Deserialize, Serialize};

use crate::count_process::{self, CountCommand};
use crate::{MAX_TEXT_BYTES, TOKENIZER, TextHash, TokenCount};

/// Most counts that are kept.
const MAX_COUNTS: usize = 100_000;

/// Largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Counts of texts, by their hashes, as one file has them. Many processes may read and complete one
/// file: each writes it as a whole, and what one of them loses that way is counted once more.
#[derive(Debug, Default)]
pub struct KeptCounts(HashMap<TextHash, Option<u64>>);

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    tokenizer: String,
    /// Number of tokens of each text; null where it cannot be counted.
    counts: BTreeMap<TextHash, Option<u64>>,
}

impl KeptCounts {
    /// Reads the counts of a file. There are none where it is damaged or of another tokenizer, or where
    /// others could have written it: they are only counted once more.
    #[must_use]
    pub fn read(file: &Path) -> Self {
        // How tools are shown depends on them.
        if !ownership::counts(file, file.parent().unwrap_or(file)) {
            return Self::default();
        }
        let bytes = read_regular_file(file, MAX_FILE_BYTES).ok().flatten();
        let read = bytes.and_then(|bytes| serde_json::from_slice::<File>(&bytes).ok());
        let read = read.filter(|read| read.tokenizer == TOKENIZER);
        Self(read.map_or_else(HashMap::new, |read| read.counts.into_iter().collect()))
    }

    /// Returns the number of tokens of a text, an estimate where it is not known.
    #[must_use]
    pub fn of(&self, text: &str) -> TokenCount {
        let known = match text.is_empty() {
            true => Some(0),
            false => self.0.get(&TextHash::of(text)).copied().flatten(),
        };
        // Each token is a byte at least: a file that says anything else was not written here.
        let known = known.filter(|count| usize::try_from(*count).is_ok_and(|n| n <= text.len()));
        known.map_or_else(|| TokenCount::estimated(text.len()), TokenCount::counted)
    }

    /// Whether it is known of a text how many tokens it has, or that this cannot be counted.
    fn has(&self, text: &str) -> bool {
        text.is_empty() || text.len() > MAX_TEXT_BYTES || self.0.contains_key(&TextHash::of(text))
    }

    /// Counts those texts whose counts the file does not have, in a process of their own, and writes
    /// the file. Where there are too many, the first ones are counted. Returns all counts.
    ///
    /// # Errors
    /// The process fails, or the file cannot be written.
    pub fn complete(
        file: &Path,
        texts: impl IntoIterator<Item = String>,
        command: CountCommand,
    ) -> anyhow::Result<Self> {
        let mut kept = Self::read(file);
        let mut hashes = HashSet::new();
        let mut unknown = Vec::new();
        for text in texts {
            if hashes.len() == MAX_COUNTS {
                break;
            }
            if hashes.insert(TextHash::of(&text)) && !kept.has(&text) {
                unknown.push(text);
            }
        }
        if unknown.is_empty() {
            return Ok(kept);
        }
        let folder = file.parent().context("it is in no folder")?;
        paths::make_private(folder)?;
        let texts: Vec<&str> = unknown.iter().map(String::as_str).collect();
        let counts = count_process::count(command, folder, &texts)?;
        // Somebody else may have counted other texts meanwhile.
        let mut all = Self::read(file).0;
        all.extend(kept.0);
        let counted = texts.iter().map(|text| TextHash::of(text)).zip(counts);
        all.extend(counted);
        if all.len() > MAX_COUNTS {
            let mut room = MAX_COUNTS - hashes.len();
            all.retain(|hash, _| {
                let stays = hashes.contains(hash) || room > 0;
                room -= usize::from(stays && !hashes.contains(hash));
                stays
            });
        }
        kept = Self(all);
        let written = File {
            tokenizer: TOKENIZER.to_owned(),
            counts: kept.0.iter().map(|(hash, count)| (*hash, *count)).collect(),
        };
        replace(file, &serde_json::to_vec(&written)?, Access::Private)?;
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::count_process::tests::counting;

    fn no_process() -> io::Result<std::process::Command> {
        Err(io::Error::other("nothing is to be counted"))
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_text_is_counted_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/tokens.json");
        assert_eq!(
            KeptCounts::read(&file).of("hello world").to_string(),
            "about 3"
        );
        KeptCounts::complete(&file, texts(&["hello world", ""]), counting).unwrap();
        let kept = KeptCounts::complete(&file, texts(&["hello world"]), no_process).unwrap();
        assert_eq!(kept.of("hello world"), TokenCount::counted(2));
        KeptCounts::complete(&file, texts(&["2"]), counting).unwrap();
        let kept = KeptCounts::read(&file);
        assert_eq!(kept.of("hello world").to_string(), "2");
        assert_eq!(kept.of("2").to_string(), "1");
        assert_eq!(kept.of("").to_string(), "0");
        assert_eq!(kept.of("never counted").to_string(), "about 4");
        KeptCounts::complete(&file, texts(&["3"]), no_process).unwrap_err();
    }

    #[test]
    fn what_cannot_be_read_or_is_of_another_tokenizer_counts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        KeptCounts::complete(&file, texts(&["hello world"]), counting).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        assert!(written.contains("o200k_base"), "{written}");
        for other in [
            written.replace("o200k", "o100k"),
            written.replace('2', "x"),
            written.replace(":2}", ":12}"),
            written.replace(":2}", ":18446744073709551615}"),
            "[".repeat(1 << 20),
            String::new(),
        ] {
            assert_ne!(other, written);
            std::fs::write(&file, other).unwrap();
            assert!(KeptCounts::read(&file).of("hello world").is_estimate);
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_others_could_have_written_counts_nothing() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        KeptCounts::complete(&file, texts(&["hello world"]), counting).unwrap();
        let is_known = || !KeptCounts::read(&file).of("hello world").is_estimate;
        assert!(is_known());
        for (path, others, own) in [
            (file.as_path(), 0o666, 0o600),
            (folder.path(), 0o777, 0o700),
        ] {
            set_permissions(path, Permissions::from_mode(others)).unwrap();
            assert!(!is_known(), "{}", path.display());
            set_permissions(path, Permissions::from_mode(own)).unwrap();
        }
        assert!(is_known());
    }

    #[test]
    fn the_file_has_no_more_counts_than_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens.json");
        let hash = |number: usize| TextHash::of(&number.to_string());
        let old = File {
            tokenizer: TOKENIZER.to_owned(),
            counts: (0..MAX_COUNTS)
                .map(|number| (hash(number), Some(1)))
                .collect(),
        };
        replace(&file, &serde_json::to_vec(&old).unwrap(), Access::Private).unwrap();
        let kept = KeptCounts::complete(&file, texts(&["hello world", "7"]), counting).unwrap();
        assert_eq!(kept.0.len(), MAX_COUNTS);
        assert_eq!(kept.of("hello world").to_string(), "2");
        assert_eq!(kept.of("7").to_string(), "1");
        assert!(std::fs::metadata(&file).unwrap().len() < MAX_FILE_BYTES);
        assert_eq!(KeptCounts::read(&file).0.len(), MAX_COUNTS);
    }
}
