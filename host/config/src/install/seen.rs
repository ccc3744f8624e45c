//! Files that a plan counts on as they were read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use dormouse_text::visible::visible_path;

use crate::discovery::Discovery;
use crate::discovery::places::Syntax;
use crate::reading::settled;
use crate::{Client, Scope};

/// Hashes of files that a plan counts on although it may not change them: of a client's settings,
/// which may deny what the client has, and of the configuration that has a server already. None
/// where there is no such file.
#[derive(Debug, Default)]
pub(super) struct Seen(BTreeMap<PathBuf, Option<blake3::Hash>>);

impl Seen {
    /// Takes the files of those clients as the search has read them.
    pub(super) fn of_clients(clients: &[Client], discovery: &Discovery) -> Self {
        let sources = discovery.sources.iter().filter(|source| {
            clients.contains(&source.client) && !matches!(source.scope, Scope::Project(_))
        });
        let hashes = sources.filter_map(|source| {
            let hash = discovery.hashes.get(&source.file)?;
            Some((source.file.clone(), *hash))
        });
        Self(hashes.collect())
    }

    /// Adds a file with its text.
    pub(super) fn add(&mut self, file: &Path, text: Option<&str>) {
        let hash = text.map(|text| blake3::hash(text.as_bytes()));
        self.0.insert(file.to_owned(), hash);
    }

    /// Checks that the files are what they were.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        for (file, hash) in &self.0 {
            // One that is being written is waited for, whatever it may deny by then.
            let text = settled::read(file, Syntax::of(file))?;
            if text.map(|text| blake3::hash(text.as_bytes())) != *hash {
                bail!("{}", changed_meanwhile(file));
            }
        }
        Ok(())
    }
}

/// Returns the message on a file that is another one by now.
pub(super) fn changed_meanwhile(file: &Path) -> String {
    format!(
        "`{}` has been changed by somebody else meanwhile\nhint: try again",
        visible_path(file)
    )
}
