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

use self::session_answers::{
    SessionAnswers, folder_answer, request_answer, setting_answer, variable_answer,
};
use super::grant::{check_changeable, server_named};
use super::plugin_inputs::secret_in_words;
use super::{grant_args, hosts, output};
use crate::roster::{Places, RevokedAnswers, Roster, requested_settings};

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
        let mut session = SessionAnswers::new(&places.config, name);
        if let Err(error) = check_changeable(&places, server) {
            // What a project's file grants, that says; what a user has answered, they take back.
            return match session.revoke(&self.answers()?)? {
                true => Ok(ExitCode::SUCCESS),
                false => Err(error),
            };
        }
        let granted = &server.grants;
        if self.all {
            session.revoke(&self.answers()?)?;
            if !has_any(server) && !session.is_any_revoked {
                bail!("server `{name}` is granted nothing");
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
        let mut less = match self.all {
            true => granted.clone(),
            false => self.revoked(server, &mut session)?,
        };
        let folders = self.folders_of_settings(server, &roster, &mut session)?;
        less.fs.extend(folders);
        for secret in &self.secret {
            if !server.secrets.iter().any(|own| own.name == *secret) {
                bail!("server `{name}` has no secret `{}`", visible_line(secret));
            }
        }
        let editor = Editor::new(&places.config)?;
        let has_lost_inputs = editor.remove_inputs(name, &self.setting, &secrets)?;
        let has_lost_grants = editor.revoke(name, &less)?;
        if !has_lost_grants && !has_lost_inputs && !session.is_any_revoked {
            bail!(
                "the grants of `{name}` are not in `{}`, as they were a moment ago\nhint: try again",
                visible_path(&places.config)
            );
        }
        let left = without(granted, &less);
        let mut text = format!("`{name}` may no longer\n");
        text.push_str(&grant_args::listed(&grant_args::words(&less, &[])));
        let settings = self.setting.iter();
        let mut lines: Vec<_> = settings
            .map(|setting| format!("be told its setting `{setting}`"))
            .collect();
        let taken = |secret: &&HttpSecret| secrets.contains(&secret.name);
        lines.extend(server.secrets.iter().filter(taken).map(secret_in_words));
        if session.is_any_revoked {
            lines.push("use what it was given for the session".to_owned());
        }
        text.push_str(&grant_args::listed(&lines));
        match left == Grants::default() {
            true => text.push_str("It is granted nothing now\n"),
            false => text.push_str("It still may\n"),
        }
        let secrets = server
            .secrets
            .iter()
            .filter(|own| !secrets.contains(&own.name));
        let secrets: Vec<_> = secrets.cloned().collect();
        text.push_str(&grant_args::listed(&grant_args::words(&left, &secrets)));
        output::print(&text)?;
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns all that may have been given for the session, and is to be taken back.
    ///
    /// # Errors
    /// A folder is no path, or this folder is gone.
    fn answers(&self) -> anyhow::Result<RevokedAnswers> {
        let mut answers = RevokedAnswers {
            all: self.all,
            variables: self.grant_env.clone(),
            requests: self.grant_http.iter().map(HttpGrant::to_string).collect(),
            settings: self.setting.clone(),
            ..RevokedAnswers::default()
        };
        for text in &self.grant_fs {
            answers.folders.extend(folder_answer(text)?.folders);
        }
        Ok(answers)
    }

    /// Returns the folders that were granted with the settings that are to be taken away.
    ///
    /// # Errors
    /// One of them is not set, and not given for the session.
    fn folders_of_settings(
        &self,
        server: &ServerConfig,
        roster: &Roster,
        session: &mut SessionAnswers<'_>,
    ) -> anyhow::Result<Vec<FsGrant>> {
        let snapshot = roster.snapshot();
        let found = snapshot.servers().get(&server.name);
        let listing = found.and_then(|found| found.listing());
        let requests = listing.map_or(&[][..], |listing| &listing.grants);
        let mut folders = Vec::new();
        for name in &self.setting {
            let is_revoked = session.revoke(&setting_answer(name))?;
            let Some(value) = server.settings.get(name) else {
                if is_revoked {
                    continue;
                }
                bail!(
                    "server `{}` has no setting `{}`",
                    server.name,
                    visible_line(name)
                );
            };
            let grants =
                |setting: &SettingRequest| setting.name == *name && setting.grant.is_some();
            if let Some(path) = value.as_str()
                && requested_settings(requests).any(grants)
            {
                let is_meant = |grant: &&FsGrant| grant.path.as_os_str() == path;
                folders.extend(server.grants.fs.iter().find(is_meant).cloned());
            }
        }
        Ok(folders)
    }

    /// Returns those grants of a server that are to be taken away, and takes back what was given for
    /// the session.
    ///
    /// # Errors
    /// One of them is not granted, and not given for the session.
    fn revoked(
        &self,
        server: &ServerConfig,
        session: &mut SessionAnswers<'_>,
    ) -> anyhow::Result<Grants> {
        let granted = &server.grants;
        let mut less = Grants::default();
        for text in &self.grant_fs {
            let is_meant = folder(text)?;
            let meant = granted.fs.iter().find(|grant| is_meant(grant));
            if !session.revoke(&folder_answer(text)?)? && meant.is_none() {
                return Err(not_granted(server, text));
            }
            less.fs.extend(meant.cloned());
        }
        for name in &self.grant_env {
            let meant = granted.env.iter().find(|own| *own == name);
            if !session.revoke(&variable_answer(name))? && meant.is_none() {
                return Err(not_granted(server, name));
            }
            less.env.extend(meant.cloned());
        }
        for grant in &self.grant_http {
            let meant = granted.http.iter().find(|own| *own == grant);
            if !session.revoke(&request_answer(grant.to_string()))? && meant.is_none() {
                return Err(not_granted(server, &grant.to_string()));
            }
            less.http.extend(meant.cloned());
        }
        Ok(less)
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

fn not_granted(server: &ServerConfig, text: &str) -> anyhow::Error {
    if !has_any(server) {
        return anyhow::anyhow!("server `{}` is granted nothing", server.name);
    }
    let options: Vec<_> = grant_args::options(&server.grants);
    let options: Vec<_> = options
        .iter()
        .map(|option| format!("`{}`", visible_line(option)))
        .collect();
    anyhow::anyhow!(
        "server `{}` is not granted `{}`\nhint: it is granted {}",
        server.name,
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
