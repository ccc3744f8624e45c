//! Files and folders that a host reads and writes.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_config::discovery::Surroundings;
use dormouse_config::{Client, Configured};
use dormouse_policy::{OwnPlaces, real_path};

use super::ExposureChoice;
use super::snapshot::{AnalysedTools, SnapshotFiles};
use crate::store::RecordedFolders;

/// Files and directories that a roster reads and writes.
#[derive(Debug, Clone)]
pub struct Places {
    /// The configuration file.
    pub config: PathBuf,
    /// Dormouse's cache directory: the catalog's index and compiled components.
    pub cache: PathBuf,
    /// Its data directory: records of upstreams, trusted projects.
    pub data: PathBuf,
    /// File with the token of clients over HTTP. None where there is none, or the environment has
    /// it.
    pub token_file: Option<PathBuf>,
    /// Folders and variables by which the files of the user's clients are found. None if these are
    /// not to be read.
    pub around: Option<Surroundings>,
    /// Dormouse's own executable, which is run once more to end the children of a host that is
    /// killed; they outlive it where there is none.
    pub program: Option<PathBuf>,
    /// Client that is served. Servers that it loads itself are not shown a second time.
    pub client: Option<Client>,
    /// Exposure of tools, where that is not left to the configuration.
    pub exposure: ExposureChoice,
    /// Files that servers take values from, as of the configuration that was read last.
    pub filled_in: dormouse_config::FilledInFiles,
}

impl Places {
    /// Returns the path of the catalog's index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.cache.join("catalog.index")
    }

    /// Returns the path of the numbers of tokens that texts have.
    #[must_use]
    pub fn token_counts(&self) -> PathBuf {
        self.cache.join("tokens.json")
    }

    /// Returns what snapshots read of the cache directory, with nothing in memory yet.
    pub(super) fn snapshot_files(&self) -> SnapshotFiles {
        SnapshotFiles {
            token_counts: Some(self.token_counts()),
            analysed_tools: Arc::new(AnalysedTools::new(Some(self.cache.join("search")))),
        }
    }

    /// Notes the files that servers take values from, so that no server is granted them.
    pub fn note_filled_in(&self, configured: &Configured) {
        let around = self.around.as_ref();
        let project = around.and_then(|around| around.project.as_deref());
        let recorded = RecordedFolders::new(&self.data);
        if let Some(project) = project.filter(|_| configured.trusts_own_project()) {
            let files = || {
                configured
                    .files_of_project_secrets()
                    .map(real_path)
                    .collect()
            };
            if let Err(error) = recorded.record_first_secrets(project, files) {
                tracing::error!("files with secrets of the project are not recorded: {error:#}");
            }
        }
        let of_projects = recorded.files_with_secrets().map_err(|error| {
            tracing::error!("files with secrets of projects are not known anew: {error:#}");
            format!("{error:#}")
        });
        self.filled_in.note(configured, project, of_projects);
    }

    /// Returns all places of Dormouse's own, which no server is granted.
    pub(super) fn own(&self) -> OwnPlaces {
        let (places, filled_in) = (self.clone(), self.filled_in.clone());
        OwnPlaces::new(move || {
            let host = dormouse_config::HostPaths {
                config: &places.config,
                cache: &places.cache,
                data: &places.data,
                token_file: places.token_file.as_deref(),
            };
            dormouse_config::own_places(host, places.around.as_ref(), &places.filled_in)
        })
        .with_version(move || filled_in.version())
    }
}
