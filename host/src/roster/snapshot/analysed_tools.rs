//! Servers' tools as the search has analysed them, kept in files: after a change, the tools of that
//! server alone are analysed once more.

use std::path::{Path, PathBuf};

use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_files::{ownership, paths};
use dormouse_search::{ServerDocuments, ToolDocument};
use serde::{Deserialize, Serialize};

/// Fewest tools of a server for which a file is worth its reading.
const MIN_TOOLS: usize = 8;

/// Largest file that is written or read, in bytes.
const MAX_FILE_BYTES: usize = 64 << 20;

/// Hexadecimal digits of the hash of a server's name by which its file is named.
const NAME_DIGITS: usize = 24;

/// Folder with a file for each server; none where nothing is kept.
pub(super) struct AnalysedTools {
    folder: Option<PathBuf>,
}

/// A file.
#[derive(Serialize, Deserialize)]
struct AnalysedToolsFile<D> {
    /// Hash of all that the tools were analysed of, in hexadecimal digits.
    made_of: String,
    documents: D,
}

impl AnalysedTools {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Returns a server's tools, analysed: those of its file while they are the same ones, else they
    /// are analysed now, and kept where that is possible.
    pub(super) fn of(&self, server: &str, tools: &[ToolDocument<'_>]) -> ServerDocuments {
        let analyse = || ServerDocuments::analyse(server, tools.iter().copied());
        let Some(folder) = self.folder.as_ref().filter(|_| tools.len() >= MIN_TOOLS) else {
            return analyse();
        };
        let made_of = ServerDocuments::content_hash(server, tools.iter().copied());
        let made_of = blake3::Hash::from_bytes(made_of).to_hex().to_string();
        let mut name = blake3::hash(server.as_bytes()).to_hex().to_string();
        name.truncate(NAME_DIGITS);
        let file = folder.join(name).with_extension("json");
        if let Some(known) = read(&file, &made_of).filter(|known| known.len() == tools.len()) {
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
        let first = analysed.of("server", &tools("Cooks rice."));
        assert_eq!(found(&first, "rice"), [19]);
        let files = || std::fs::read_dir(folder.path().join("search")).unwrap();
        let file = files().next().unwrap().unwrap().path();
        // What it has is believed, while it is of the same tools.
        let kept = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, kept.replace("rice", "soup")).unwrap();
        let again = analysed.of("server", &tools("Cooks rice."));
        assert_eq!(found(&again, "soup"), [19]);
        let changed = analysed.of("server", &tools("Cooks pasta."));
        assert_eq!(found(&changed, "pasta"), [19]);
        assert!(!std::fs::read_to_string(&file).unwrap().contains("soup"));
        for damaged in ["", "{", "null", "[[[[", &"[".repeat(1 << 20)] {
            std::fs::write(&file, damaged).unwrap();
            let anew = analysed.of("server", &tools("Cooks rice."));
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
        analysed.of("server", &tools);
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
            !found(&analysed.of("server", &tools), "qwertz").is_empty()
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
        let documents = AnalysedTools::new(Some(taken)).of("server", &tools);
        assert_eq!(documents.len(), 9);
    }
}
