//! Last start of an upstream that has failed, until one succeeds.

use std::path::PathBuf;

use dormouse_config::Fingerprint;
use dormouse_files::paths;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::{Access, replace};
use dormouse_text::visible::visible_path;
use dormouse_upstream::Lost;
use serde::{Deserialize, Serialize};

use super::record::seconds_now;
use super::{Store, counts};

/// Longest reason that is kept, in characters: upstreams may send any length.
const MAX_REASON_CHARACTERS: usize = 2000;

/// Largest file with a reason that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Failed start of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStart {
    /// Time of the start, in seconds since the Unix epoch.
    pub at: u64,
    /// Reason, in words for its user.
    pub why: String,
    /// Whether the upstream wants its user to log in, which is no failure of its own.
    #[serde(default)]
    pub needs_login: bool,
}

impl FailedStart {
    /// Returns the time since it, in seconds.
    #[must_use]
    pub fn seconds_ago(&self) -> u64 {
        seconds_now().saturating_sub(self.at)
    }
}

impl Store {
    /// Records that an upstream could not be started, or wants its user to log in first. If that
    /// cannot be written, only the record is missing.
    pub fn note_failed_start(&self, of: &Fingerprint, lost: &Lost) {
        let why = match lost {
            // That is no failure of the upstream's.
            Lost::HostEnds => return,
            lost => lost.to_string(),
        };
        let failed = FailedStart {
            at: seconds_now(),
            why: why.chars().take(MAX_REASON_CHARACTERS).collect(),
            needs_login: matches!(lost, Lost::Auth { .. }),
        };
        let file = self.failed_start_file(of);
        let folders = self.folder.parent().into_iter().chain([&*self.folder]);
        let written = folders
            .map(paths::make_private)
            .collect::<Result<Vec<_>, _>>()
            .map_err(anyhow::Error::from)
            .and_then(|_| {
                let text = serde_json::to_vec(&failed)?;
                replace(&file, &text, Access::Private)
            });
        if let Err(error) = written {
            tracing::warn!("`{}` cannot be written: {error:#}", visible_path(&file));
        }
    }

    /// Returns the last start of an upstream, if it has failed.
    #[must_use]
    pub fn failed_start(&self, of: &Fingerprint) -> Option<FailedStart> {
        let file = self.failed_start_file(of);
        if !counts(&file) {
            return None;
        }
        let bytes = read_regular_file(&file, MAX_FILE_BYTES).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Removes the record of a failed start, because the upstream has been started, or its user has
    /// logged in.
    pub fn clear_failed_start(&self, of: &Fingerprint) {
        // Where there is none, none has to go.
        let _ = std::fs::remove_file(self.failed_start_file(of));
    }

    fn failed_start_file(&self, of: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.failed.json", of.file_stem()))
    }
}
