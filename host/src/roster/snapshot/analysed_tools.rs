//! Servers' tools as the search has analysed them, kept in files, and in memory from one snapshot to the
//! next: after a change, the tools of that server alone are analysed once more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_search::{KeptIndices, ServerDocuments, ToolDocument};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Fewest tools of a server for which a file is worth its reading.
const MIN_TOOLS: usize = 8;

/// Largest file that is written or read, in bytes.
const MAX_FILE_BYTES: usize = 64 << 20;

/// Hexadecimal digits of the hash of a server's name by which its file is named.
const NAME_DIGITS: usize = 24;

/// Tools of all servers as the search has analysed them.
#[derive(Debug, Default)]
pub(in crate::roster) struct AnalysedTools {
    /// Folder with a file for each server; none where nothing is kept in files.
    folder: Option<PathBuf>,
    /// Indices and documents in memory.
    pub(super) indices: KeptIndices,
    /// Servers of which it was told that they say more than is read of them.
    told: Mutex<BTreeSet<String>>,
}

/// A file.
#[derive(Serialize, Deserialize)]
struct AnalysedToolsFile<D> {
    /// Hash of all that the tools were analysed of, in hexadecimal digits.
    made_of: String,
    documents: D,
}

impl AnalysedTools {
    pub(in crate::roster) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            ..Self::default()
        }
    }

    /// Returns a server's tools with that hash, analysed: those of its file while they are the same ones,
    /// else they are analysed now, and kept where that is possible.
    pub(super) fn of(
        &self,
        server: &str,
        tools: &[ToolDocument<'_>],
        content: [u8; 32],
    ) -> ServerDocuments {
        let documents = self.read_or_analysed(server, tools, content);
        self.tell_of_unread(server, &documents);
        documents
    }

    fn read_or_analysed(
        &self,
        server: &str,
        tools: &[ToolDocument<'_>],
        content: [u8; 32],
    ) -> ServerDocuments {
        let analyse = || ServerDocuments::analyse(server, tools.iter().copied());
        let Some(folder) = self.folder.as_ref().filter(|_| tools.len() >= MIN_TOOLS) else {
            return analyse();
        };
        let made_of = blake3::Hash::from_bytes(content).to_hex().to_string();
        let mut name = blake3::hash(server.as_bytes()).to_hex().to_string();
        name.truncate(NAME_DIGITS);
        let file = folder.join(name).with_extension("json");
        let known = read(&file, &made_of);
        if let Some(known) = known.filter(|known| known.len() == tools.len() && known.are_bounded())
        {
            return known;
        }
        let documents = analyse();
        let kept = AnalysedToolsFile {
            made_of,
            documents: &documents,
        };
        if let Err(error) = keep(folder, &file, &kept) {
            tracing::debug!("`{}` cannot be kept: {error:#}", file.display());
        }
        documents
    }

    /// Says once of each server that its tools say more than is read of one.
    fn tell_of_unread(&self, server: &str, documents: &ServerDocuments) {
        let number = documents.without_texts();
        if number > 0 && self.told.lock().insert(server.to_owned()) {
            tracing::warn!(
                "server `{server}` says more of its tools than a search reads of one server: the last \
                 {number} of {} are found by their names and titles alone, or by names as a whole\n\
                 hint: `exclude_tools` of that server leaves out those that nobody needs",
                documents.len()
            );
        }
    }
}

fn keep(
    folder: &Path,
    file: &Path,
    kept: &AnalysedToolsFile<&ServerDocuments>,
) -> anyhow::Result<()> {
    let written = serde_json::to_vec(kept)?;
    anyhow::ensure!(written.len() <= MAX_FILE_BYTES, "it is too large");
    paths::make_private(folder)?;
    replace(file, &written, Access::Private)
}

/// Reads a file; none where it was made of something else, is damaged, or others could have written it
/// or a folder that leads there, from the cache folder on.
fn read(file: &Path, made_of: &str) -> Option<ServerDocuments> {
    let folder = file.parent()?;
    // Whoever writes it decides which tools are found.
    if !ownership::counts(file, folder.parent().unwrap_or(folder)) {
        return None;
    }
    let bytes = read_regular_file(file, MAX_FILE_BYTES as u64).ok()??;
    let kept: AnalysedToolsFile<ServerDocuments> = serde_json::from_slice(&bytes).ok()?;
    (kept.made_of == made_of).then_some(kept.documents)
}

#[cfg(test)]
mod tests {
    use dormouse_search::{SearchIndex, SearchOptions};

    use super::*;

    fn of(analysed: &AnalysedTools, tools: &[ToolDocument<'_>]) -> ServerDocuments {
        let content = ServerDocuments::content_hash("server", tools.iter().copied());
        analysed.of("server", tools, content)
    }

    fn found(documents: &ServerDocuments, query: &str) -> Vec<usize> {
        let index = SearchIndex::of_servers([documents]);
        let hits = index.search(query, &SearchOptions::default()).into_iter();
        hits.map(|hit| hit.tool).collect()
    }

    #[test]
    fn tools_are_analysed_once_and_again_when_they_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let analysed = AnalysedTools::new(Some(folder.path().join("search")));
        let names: Vec<_> = (0..20).map(|number| format!("tool_{number}")).collect();
        let tools = |last: &'static str| -> Vec<_> {
            let tools = names.iter().enumerate().map(|(place, name)| ToolDocument {
                server: "server",
                name,
                own_name: name,
                description: Some(if place == 19 { last } else { "Does something." }),
                ..ToolDocument::default()
            });
            tools.collect()
        };
        let first = of(&analysed, &tools("Cooks rice."));
        assert_eq!(found(&first, "rice"), [19]);
        let files = || std::fs::read_dir(folder.path().join("search")).unwrap();
        let file = files().next().unwrap().unwrap().path();
        // What it has is believed, while it is of the same tools.
        let kept = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, kept.replace("rice", "soup")).unwrap();
        let again = of(&analysed, &tools("Cooks rice."));
        assert_eq!(found(&again, "soup"), [19]);
        let changed = of(&analysed, &tools("Cooks pasta."));
        assert_eq!(found(&changed, "pasta"), [19]);
        assert!(!std::fs::read_to_string(&file).unwrap().contains("soup"));
        for damaged in ["", "{", "null", "[[[[", &"[".repeat(1 << 20)] {
            std::fs::write(&file, damaged).unwrap();
            let anew = of(&analysed, &tools("Cooks rice."));
            assert_eq!(found(&anew, "rice"), [19], "{damaged:.9}");
        }
        assert_eq!(files().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_others_could_have_written_is_not_read() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt as _;

        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("search");
        let analysed = AnalysedTools::new(Some(folder.clone()));
        let names: Vec<_> = (0..9).map(|number| format!("tool_{number}")).collect();
        let tools = names.iter().map(|name| ToolDocument {
            server: "server",
            name,
            own_name: name,
            description: Some("Cooks rice."),
            ..ToolDocument::default()
        });
        let tools: Vec<_> = tools.collect();
        of(&analysed, &tools);
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap();
        let file = file.unwrap().path();
        let kept = std::fs::read_to_string(&file).unwrap();
        // No word is like it.
        let steered = kept.replace("rice", "qwertz");
        let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        // Others get into it.
        mode(cache.path(), 0o755);
        let is_read = || {
            std::fs::write(&file, &steered).unwrap();
            !found(&of(&analysed, &tools), "qwertz").is_empty()
        };
        assert!(is_read());
        for (path, own) in [
            (file.as_path(), 0o600),
            (folder.as_path(), 0o700),
            (cache.path(), 0o755),
        ] {
            mode(path, 0o777);
            assert!(!is_read(), "{}", path.display());
            mode(path, own);
        }
        assert!(is_read());
    }

    #[test]
    fn what_cannot_be_kept_is_analysed_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("search");
        std::fs::write(&taken, "a file").unwrap();
        let names: Vec<_> = (0..9).map(|number| format!("tool_{number}")).collect();
        let tools = names.iter().map(|name| ToolDocument {
            server: "server",
            name,
            own_name: name,
            ..ToolDocument::default()
        });
        let tools: Vec<_> = tools.collect();
        let documents = of(&AnalysedTools::new(Some(taken)), &tools);
        assert_eq!(documents.len(), 9);
    }

    #[test]
    fn a_server_that_says_too_much_is_told_of_once() {
        let (logged, _guard) = dormouse_tests::logged::logged();
        let analysed = AnalysedTools::default();
        let long = "Cooks rice. ".repeat(1 << 16);
        let names: Vec<_> = (0..9).map(|number| format!("tool_{number}")).collect();
        let tools = |number: usize| -> Vec<_> {
            let tools = names.iter().take(number).map(|name| ToolDocument {
                server: "server",
                name,
                own_name: name,
                description: Some(&long),
                ..ToolDocument::default()
            });
            tools.collect()
        };
        for number in [5, 9, 8] {
            of(&analysed, &tools(number));
            let told = "says more of its tools than a search reads of one server: the last 4 of 9";
            let lines = logged.lines();
            let lines = lines.iter().filter(|line| line.contains(told));
            assert_eq!(lines.count(), usize::from(number > 5), "{number}");
        }
    }
}
