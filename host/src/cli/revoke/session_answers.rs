//! Answers for the session, which running hosts alone know.

use std::path::Path;

use dormouse_files::paths;
use dormouse_policy::FsMode;
use serde_json::{Value, json};

use crate::cli::{grant_args, hosts};
use crate::roster::{RevokedAnswers, RevokedFolder};

/// Answers that a server's plugin was given for the session in running hosts, as far as they are taken
/// back.
pub(super) struct SessionAnswers<'a> {
    config: &'a Path,
    params: Value,
}

/// Answers that running hosts have had, and have taken back.
pub(super) struct TakenBack {
    pub(super) answers: RevokedAnswers,
    /// Number of hosts that could not be told.
    pub(super) failed_hosts: usize,
}

impl TakenBack {
    /// Whether any host has had one of them.
    pub(super) fn is_any(&self) -> bool {
        self.answers != RevokedAnswers::default()
    }

    /// Checks that all running hosts could be told.
    ///
    /// # Errors
    /// One could not.
    pub(super) fn check_hosts(&self, server: &str) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.failed_hosts == 0,
            "a running host could not be told, and the plugin of `{server}` may keep there what it was \
             given for the session\nhint: end that host, or start the client again that it serves"
        );
        Ok(())
    }
}

impl<'a> SessionAnswers<'a> {
    /// Prepares what hosts are told.
    ///
    /// # Errors
    /// A folder's path is not UTF-8.
    pub(super) fn new(
        config: &'a Path,
        server: &str,
        revoked: &RevokedAnswers,
    ) -> anyhow::Result<Self> {
        let revoked = serde_json::to_value(revoked)?;
        Ok(Self {
            config,
            params: json!({ "server": server, "revoked": revoked }),
        })
    }

    /// Takes answers back in running hosts.
    ///
    /// # Errors
    /// The hosts cannot be asked.
    pub(super) fn revoke(self) -> anyhow::Result<TakenBack> {
        let mut taken = RevokedAnswers::default();
        let hear = |result: &Value| {
            let answers = result.get("answers").cloned();
            if let Ok(had) = serde_json::from_value(answers.unwrap_or_default()) {
                taken.extend(had);
            }
        };
        let told = hosts::tell_and_hear("revoke", self.params, self.config, "revoked", hear)?;
        Ok(TakenBack {
            answers: taken,
            failed_hosts: told.failed,
        })
    }
}

/// Returns the folder that is meant by an option.
///
/// # Errors
/// It is no path, or this folder is gone.
pub(super) fn folder_answer(text: &str) -> anyhow::Result<RevokedFolder> {
    let here = std::env::current_dir()?;
    let (path, mode) = grant_args::path_and_mode(text);
    let path = paths::expand(path, &here).map_err(anyhow::Error::msg)?;
    Ok(RevokedFolder {
        path,
        is_writable: mode.map(|mode| mode == FsMode::ReadWrite),
    })
}
