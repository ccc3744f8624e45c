//! Programs and plugins that a server may write over.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{FsGrant, FsMode};
use dormouse_text::visible::visible_path;

/// File that runs for one server and lies in a folder that this or another server may write to:
/// code that is written there has the rights of the server that it runs for, and declares of itself
/// what it likes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WritableCode {
    /// The server that may write.
    pub writer: String,
    /// The folder that it is granted.
    pub folder: PathBuf,
    /// The server that the file runs for.
    pub server: String,
    /// The file.
    pub file: PathBuf,
}

impl fmt::Display for WritableCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { writer, server, .. } = self;
        let why = match writer == server {
            true => "it can make itself another one",
            false => "what the one writes there runs as the other",
        };
        write!(
            f,
            "server `{writer}` may write to `{}`, and `{}` of server `{server}` lies in it: {why}\n\
             hint: keep what runs outside of what is granted to be written to, or grant `ro` in \
             `fs` of `[servers.{writer}.grants]`",
            visible_path(&self.folder),
            visible_path(&self.file),
        )
    }
}

impl WritableCode {
    /// Finds all such files among the grants and the files of several servers; paths of files
    /// have no links in them.
    pub fn all<'g>(
        grants: impl Iterator<Item = (&'g str, &'g FsGrant)>,
        files: impl Iterator<Item = (&'g str, PathBuf)>,
    ) -> Vec<Self> {
        let mut writers: HashMap<&Path, Vec<(&str, &FsGrant)>> = HashMap::new();
        for (server, grant) in grants {
            if grant.mode == FsMode::ReadWrite {
                let all = writers.entry(grant.real_path()).or_default();
                all.push((server, grant));
            }
        }
        let mut found = Vec::new();
        for (server, file) in files {
            let above = file.ancestors().filter_map(|above| writers.get(above));
            found.extend(above.flatten().map(|(writer, grant)| Self {
                writer: (*writer).to_owned(),
                folder: grant.path.clone(),
                server: server.to_owned(),
                file: file.clone(),
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_written_over_is_told() {
        let grant = |path: &str, mode| FsGrant {
            path: path.into(),
            real: None,
            mode,
        };
        let grants = [
            ("writer", grant("/w", FsMode::ReadWrite)),
            ("reader", grant("/r", FsMode::ReadOnly)),
        ];
        let files = [
            ("tool", "/w/plugins/tool.wasm"),
            ("writer", "/w/own.wasm"),
            ("other", "/r/other.wasm"),
            ("near", "/w-not/near.wasm"),
        ];
        let found = WritableCode::all(
            grants.iter().map(|(server, grant)| (*server, grant)),
            files.iter().map(|(server, file)| (*server, (*file).into())),
        );
        let found: Vec<_> = found
            .iter()
            .map(|found| (found.writer.as_str(), found.server.as_str()))
            .collect();
        assert_eq!(found, [("writer", "tool"), ("writer", "writer")]);
    }
}
