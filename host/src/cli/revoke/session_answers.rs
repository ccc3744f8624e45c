//! Answers for the session, which running hosts alone know.

use std::path::Path;

use dormouse_files::paths;
use dormouse_policy::FsMode;
use serde_json::{Value, json};

use crate::cli::{grant_args, hosts};
use crate::roster::{RevokedAnswers, RevokedFolder};

/// What a server's plugin was given for the session in running hosts, as far as it is taken back.
pub(super) struct SessionAnswers<'a> {
    config: &'a Path,
    params: Value,
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

    /// Takes answers back in running hosts. Returns those that any of them has had.
    ///
    /// # Errors
    /// The hosts cannot be asked.
    pub(super) fn revoke(self) -> anyhow::Result<RevokedAnswers> {
        let mut taken = RevokedAnswers::default();
        let hear = |result: &Value| {
            let answers = result.get("answers").cloned();
            if let Ok(had) = serde_json::from_value(answers.unwrap_or_default()) {
                taken.extend(had);
            }
        };
        hosts::tell_and_hear("revoke", self.params, self.config, "revoked", hear)?;
        Ok(taken)
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
