//! `dormouse revoke`

mod session_answers;

use std::process::ExitCode;

use anyhow::bail;
use clap::{ArgGroup, Args};
use dormouse_config::ServerConfig;
use dormouse_config::edit::Editor;
use dormouse_files::paths;
use dormouse_policy::{FsGrant, Grants, HttpGrant, HttpSecret, real_path};
use dormouse_text::visible::{visible_line, visible_path};
use dormouse_wit::SettingRequest;
use serde_json::Value;

use self::session_answers::{SessionAnswers, folder_answer};
use super::grant::{check_changeable, server_named};
use super::plugin_inputs::secret_in_words;
use super::{grant_args, hosts, output};
use crate::roster::{Places, RevokedAnswers, Roster, requested_settings};

/// Use of answers for the session, in words behind "may no longer".
const SESSION_ANSWERS: &str = "use what it was given for the session";

/// Takes grants away from a plugin.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("what").required(true).multiple(true)),
    override_usage = "dormouse revoke [OPTIONS] <SERVER>\n       \
    dormouse revoke <SERVER> --all",
    after_help = "Examples:\n  \
    dormouse revoke notes --grant-fs ~/notes\n  \
    dormouse revoke issues --grant-http https://api.example.com\n  \
    dormouse revoke clock --all\n\n\
    `dormouse grants SERVER` shows the option for each grant. Running hosts follow at once."
)]
pub(super) struct RevokeArgs {
    /// The server's name.
    server: String,
    /// Take away a folder; with `:ro` or `:rw` only if it is granted so. May be repeated.
    #[arg(long, group = "what", value_name = "PATH[:ro|rw]")]
    grant_fs: Vec<String>,
    /// Take away sight of an environment variable. May be repeated.
    #[arg(long, group = "what", value_name = "NAME")]
    grant_env: Vec<String>,
    /// Take away HTTP requests, as they are granted. May be repeated.
    #[arg(long, group = "what", value_name = "[METHODS ]URL[ private]")]
    grant_http: Vec<HttpGrant>,
    /// Take away a setting, and the folder that it names where that was granted with it. May be
    /// repeated.
    #[arg(long, group = "what", value_name = "NAME")]
    setting: Vec<String>,
    /// Take away a secret of its requests. May be repeated.
    #[arg(long, group = "what", value_name = "NAME")]
    secret: Vec<String>,
    /// Take away all that it is granted, and all secrets.
    #[arg(
        long, group = "what",
        conflicts_with_all = ["grant_fs", "grant_env", "grant_http", "setting", "secret"],
    )]
    all: bool,
}

impl RevokeArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places.clone())?;
        let configured = roster.configured()?;
        let name = &self.server;
        let server = server_named(&configured, name)?;
        let session = SessionAnswers::new(&places.config, name, &self.answers()?)?;
        let mut less = self.granted(server)?;
        let settings = self.setting.iter();
        let settings = settings.filter(|setting| server.settings.contains_key(*setting));
        let settings: Vec<String> = settings.cloned().collect();
        if let Err(error) = check_changeable(&places, server) {
            // What a project's file grants, that says; what a user has answered, they take back.
            let taken = session.revoke()?;
            if taken.is_any() {
                let lines = [SESSION_ANSWERS.to_owned()];
                let lines = grant_args::listed(&lines);
                output::print(&format!("`{name}` may no longer\n{lines}"))?;
            }
            let is_configured = match self.all {
                true => has_any(server),
                false => {
                    less != Grants::default() || !settings.is_empty() || !self.secret.is_empty()
                }
            };
            taken.check_hosts(name)?;
            if is_configured || !taken.is_any() {
                return Err(error);
            }
            self.check_known(server, &taken.answers, &server.grants)?;
            return Ok(ExitCode::SUCCESS);
        }
        less.fs
            .extend(self.folders_of_settings(server, &settings, &roster));
        for secret in &self.secret {
            if !server.secrets.iter().any(|own| own.name == *secret) {
                bail!("server `{name}` has no secret `{}`", visible_line(secret));
            }
        }
        let secrets: Vec<String> = match self.all {
            true => server
                .secrets
                .iter()
                .map(|secret| secret.name.clone())
                .collect(),
            false => self.secret.clone(),
        };
        let is_configured =
            less != Grants::default() || !settings.is_empty() || !secrets.is_empty();
        // Whatever hosts answer, and however long that takes, it is written.
        let is_written = is_configured && {
            let editor = Editor::new(&places.config)?;
            let has_lost_inputs = editor.remove_inputs(name, &settings, &secrets)?;
            editor.revoke(name, &less)? || has_lost_inputs
        };
        let taken = session.revoke()?;
        let is_taken = taken.is_any();
        if is_configured && !is_written && !is_taken {
            bail!(
                "the grants of `{name}` are not in `{}`, as they were a moment ago\nhint: try again",
                visible_path(&places.config)
            );
        }
        let left = without(&server.grants, &less);
        if is_written || is_taken {
            hosts::reload(&places.config)?;
            let mut text = format!("`{name}` may no longer\n");
            text.push_str(&grant_args::listed(&grant_args::words(&less, &[])));
            let settings = settings.iter();
            let mut lines: Vec<_> = settings
                .map(|setting| format!("be told its setting `{setting}`"))
                .collect();
            let is_lost = |secret: &&HttpSecret| secrets.contains(&secret.name);
            lines.extend(server.secrets.iter().filter(is_lost).map(secret_in_words));
            if is_taken {
                lines.push(SESSION_ANSWERS.to_owned());
            }
            text.push_str(&grant_args::listed(&lines));
            match left == Grants::default() {
                true => text.push_str("It is granted nothing now\n"),
                false => text.push_str("It still may\n"),
            }
            let kept = server.secrets.iter().filter(|secret| !is_lost(secret));
            let kept: Vec<_> = kept.cloned().collect();
            text.push_str(&grant_args::listed(&grant_args::words(&left, &kept)));
            output::print(&text)?;
        }
        taken.check_hosts(name)?;
        self.check_known(server, &taken.answers, &left)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns all that may have been given for the session, and is to be taken back.
    ///
    /// # Errors
    /// A folder is no path, or this folder is gone.
    fn answers(&self) -> anyhow::Result<RevokedAnswers> {
        let folders = self.grant_fs.iter().map(|text| folder_answer(text));
        Ok(RevokedAnswers {
            all: self.all,
            folders: folders.collect::<anyhow::Result<_>>()?,
            variables: self.grant_env.clone(),
            requests: self.grant_http.iter().map(HttpGrant::to_string).collect(),
            settings: self.setting.clone(),
        })
    }

    /// Returns the folders that were granted with the settings that are to be taken away.
    fn folders_of_settings(
        &self,
        server: &ServerConfig,
        settings: &[String],
        roster: &Roster,
    ) -> Vec<FsGrant> {
        let snapshot = roster.snapshot();
        let found = snapshot.servers().get(&self.server);
        let listing = found.and_then(|found| found.listing());
        let requests = listing.map_or(&[][..], |listing| &listing.grants);
        let mut folders = Vec::new();
        for name in settings {
            let grants =
                |setting: &SettingRequest| setting.name == *name && setting.grant.is_some();
            if let Some(path) = server.settings.get(name).and_then(Value::as_str)
                && requested_settings(requests).any(grants)
            {
                let is_meant = |grant: &&FsGrant| grant.path.as_os_str() == path;
                folders.extend(server.grants.fs.iter().find(is_meant).cloned());
            }
        }
        folders
    }

    /// Returns those grants of a server's configuration that are to be taken away.
    ///
    /// # Errors
    /// A folder is no path, or this folder is gone.
    fn granted(&self, server: &ServerConfig) -> anyhow::Result<Grants> {
        let granted = &server.grants;
        if self.all {
            return Ok(granted.clone());
        }
        let mut less = Grants::default();
        for text in &self.grant_fs {
            let is_meant = folder(text)?;
            less.fs
                .extend(granted.fs.iter().find(|grant| is_meant(grant)).cloned());
        }
        let env = granted.env.iter();
        less.env = env
            .filter(|own| self.grant_env.contains(own))
            .cloned()
            .collect();
        let http = granted.http.iter();
        less.http = http
            .filter(|own| self.grant_http.contains(own))
            .cloned()
            .collect();
        Ok(less)
    }

    /// Checks that each option names something that was configured or given for the session, of which
    /// that was `taken` back. `left` it is granted now.
    ///
    /// # Errors
    /// One of them does not.
    fn check_known(
        &self,
        server: &ServerConfig,
        taken: &RevokedAnswers,
        left: &Grants,
    ) -> anyhow::Result<()> {
        let granted = &server.grants;
        if self.all && !has_any(server) && !taken.all {
            bail!("server `{}` is granted nothing", server.name);
        }
        for text in &self.grant_fs {
            let is_meant = folder(text)?;
            let is_configured = granted.fs.iter().any(is_meant);
            if !is_configured && !taken.folders.contains(&folder_answer(text)?) {
                return Err(not_granted(server, left, text));
            }
        }
        for name in &self.grant_env {
            if !granted.env.contains(name) && !taken.variables.contains(name) {
                return Err(not_granted(server, left, name));
            }
        }
        for grant in &self.grant_http {
            let text = grant.to_string();
            if !granted.http.contains(grant) && !taken.requests.contains(&text) {
                return Err(not_granted(server, left, &text));
            }
        }
        for name in &self.setting {
            if !server.settings.contains_key(name) && !taken.settings.contains(name) {
                bail!(
                    "server `{}` has no setting `{}`",
                    server.name,
                    visible_line(name)
                );
            }
        }
        Ok(())
    }
}

/// Returns the test of which folder is meant, by its path as it is written or as it is.
fn folder(text: &str) -> anyhow::Result<impl Fn(&FsGrant) -> bool> {
    let here = std::env::current_dir()?;
    let (path, mode) = grant_args::path_and_mode(text);
    let path = paths::expand(path, &here).map_err(anyhow::Error::msg)?;
    let real = real_path(&path);
    Ok(move |grant: &FsGrant| {
        let is_path = grant.path == path || grant.path == real || grant.real_path() == real;
        is_path && mode.is_none_or(|mode| mode == grant.mode)
    })
}

/// Whether the configuration gives a server's plugin anything.
fn has_any(server: &ServerConfig) -> bool {
    server.grants != Grants::default() || !server.secrets.is_empty()
}

/// Returns the error for a grant that a server has not had. `left` it is granted now.
fn not_granted(server: &ServerConfig, left: &Grants, text: &str) -> anyhow::Error {
    let name = &server.name;
    if !has_any(server) {
        return anyhow::anyhow!("server `{name}` is granted nothing");
    }
    let options: Vec<_> = grant_args::options(left);
    if options.is_empty() {
        return anyhow::anyhow!(
            "server `{name}` is not granted `{}`\n\
             hint: `dormouse grants {name}` shows what it is granted",
            visible_line(text)
        );
    }
    let options: Vec<_> = options
        .iter()
        .map(|option| format!("`{}`", visible_line(option)))
        .collect();
    anyhow::anyhow!(
        "server `{name}` is not granted `{}`\nhint: it is granted {}",
        visible_line(text),
        options.join(", ")
    )
}

/// Returns grants without some of them.
fn without(granted: &Grants, less: &Grants) -> Grants {
    let mut left = granted.clone();
    left.fs
        .retain(|grant| !less.fs.iter().any(|other| other.path == grant.path));
    left.env.retain(|name| !less.env.contains(name));
    left.http.retain(|grant| !less.http.contains(grant));
    left
}

#[cfg(test)]
mod tests {
    use dormouse_policy::FsMode;

    use super::*;

    #[test]
    fn a_folder_is_meant_by_its_path_or_by_where_that_leads() {
        let folder_ = tempfile::tempdir().unwrap();
        let real = folder_.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        let link = folder_.path().join("link");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let grant = |path: &std::path::Path| FsGrant {
            path: path.to_owned(),
            real: Some(real.clone()),
            mode: FsMode::ReadOnly,
        };
        let is_meant = |path: &std::path::Path, suffix: &str, grant: &FsGrant| {
            folder(&format!("{}{suffix}", path.display())).unwrap()(grant)
        };
        for written in [&real, &link] {
            for path in [&real, &link] {
                assert!(is_meant(path, "", &grant(written)), "{path:?}");
                assert!(is_meant(path, ":ro", &grant(written)), "{path:?}");
                assert!(!is_meant(path, ":rw", &grant(written)), "{path:?}");
            }
            assert!(!is_meant(folder_.path(), "", &grant(written)));
        }
        // One that is gone can be taken away, too.
        let gone = FsGrant {
            path: "/nonexistent/notes".into(),
            real: None,
            mode: FsMode::ReadWrite,
        };
        assert!(folder("/nonexistent/notes").unwrap()(&gone));
        assert!(folder("/nonexistent/notes/:rw").unwrap()(&gone));
    }
}
