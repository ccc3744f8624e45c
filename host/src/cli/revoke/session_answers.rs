//! Answers for the session, which running hosts alone know.

use std::path::Path;

use dormouse_files::paths;
use dormouse_policy::FsMode;
use serde_json::json;

use crate::cli::{grant_args, hosts};
use crate::roster::{RevokedAnswers, RevokedFolder};

/// What a server's plugin was given for the session in running hosts, as far as it is taken back.
pub(super) struct SessionAnswers<'a> {
    config: &'a Path,
    server: &'a str,
    /// Whether any was given and is taken back.
    pub(super) is_any_revoked: bool,
}

impl<'a> SessionAnswers<'a> {
    pub(super) fn new(config: &'a Path, server: &'a str) -> Self {
        Self {
            config,
            server,
            is_any_revoked: false,
        }
    }

    /// Takes answers back in running hosts. Returns whether one has had any.
    ///
    /// # Errors
    /// The hosts cannot be asked.
    pub(super) fn revoke(&mut self, revoked: &RevokedAnswers) -> anyhow::Result<bool> {
        let params = json!({ "server": self.server, "revoked": serde_json::to_value(revoked)? });
        let is_revoked = hosts::tell("revoke", params, self.config, "revoked")?.done > 0;
        self.is_any_revoked |= is_revoked;
        Ok(is_revoked)
    }
}

/// Returns the folder that is meant by an option.
///
/// # Errors
/// It is no path, or this folder is gone.
pub(super) fn folder_answer(text: &str) -> anyhow::Result<RevokedAnswers> {
    let here = std::env::current_dir()?;
    let (path, mode) = grant_args::path_and_mode(text);
    let path = paths::expand(path, &here).map_err(anyhow::Error::msg)?;
    let folder = RevokedFolder {
        path,
        is_writable: mode.map(|mode| mode == FsMode::ReadWrite),
    };
    Ok(RevokedAnswers {
        folders: vec![folder],
        ..RevokedAnswers::default()
    })
}

/// Returns the variable of that name.
pub(super) fn variable_answer(name: &str) -> RevokedAnswers {
    RevokedAnswers {
        variables: vec![name.to_owned()],
        ..RevokedAnswers::default()
    }
}

/// Returns the requests of a grant, as it is written.
pub(super) fn request_answer(grant: String) -> RevokedAnswers {
    RevokedAnswers {
        requests: vec![grant],
        ..RevokedAnswers::default()
    }
}

/// Returns the setting of that name.
pub(super) fn setting_answer(name: &str) -> RevokedAnswers {
    RevokedAnswers {
        settings: vec![name.to_owned()],
        ..RevokedAnswers::default()
    }
}
