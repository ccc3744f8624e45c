//! `dormouse grant`

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::edit::Editor;
use dormouse_config::{Configured, Scope, ServerConfig};
use dormouse_policy::{FsGrant, FsMode, Grants, real_path};
use dormouse_text::nearest::nearest;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::{visible_line, visible_path};

use super::grant_args::{self, GrantArgs};
use super::plugin_inputs::{GivenInputs, InputArgs, ask_for_secrets, ask_for_settings};
use super::{consent, grant_requests, hosts, output, secret_hosts};
use crate::roster::{HeldByPlugin, Places, Roster, folders};
use crate::store::{RealPaths, RecordedFolders};

/// Grants a plugin more than it has, or the folders it has as they are now.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse grant notes --grant-fs ~/notes:rw\n  \
    dormouse grant clock --grant-env TZ\n  \
    dormouse grant issues --grant-http 'GET,POST https://api.example.com/v1'\n  \
    dormouse grant weather --setting unit=metric --secret key=env:WEATHER_KEY\n  \
    dormouse grant issues --secret token\n  \
    dormouse grant notes\n\n\
    Where a folder that is named in `fs` of a server's grants really is, is recorded \
    when it is granted. If its path leads somewhere else later, because somebody has put a link in \
    place of a folder, the server is not started. Without options, this asks on a terminal for settings and secrets that \
    the plugin asks for and does not have; where it has them all, it shows where each folder was and where it is \
    now, and asks whether it is granted there.")]
pub(super) struct GrantCommandArgs {
    /// The server's name.
    server: String,
    #[command(flatten)]
    grants: GrantArgs,
    #[command(flatten)]
    inputs: InputArgs,
    /// Do not ask: what is shown is granted. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
}

impl GrantCommandArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let recorded = RecordedFolders::new(&places.data);
        let roster = Roster::open(places.clone())?;
        let configured = roster.configured()?;
        let name = &self.server;
        let server = server_named(&configured, name)?;
        let more = self.grants.grants();
        let given = self.given(&places, &roster, server)?;
        if more != Grants::default() || !given.inputs.is_empty() {
            return self.grant_more(&places, &roster, server, more, given);
        }
        if server.grants.fs.is_empty() {
            bail!(
                "server `{name}` is granted no folder\n\
                 hint: `dormouse grant {name} --grant-fs PATH` grants it one to read, and \
                 `--grant-fs PATH:rw` one to write to, too"
            );
        }
        let mut anew = RealPaths::new();
        let mut missing = Vec::new();
        let mut text = String::new();
        for grant in &server.grants.fs {
            let now = real_path(&grant.path);
            let mode = match grant.mode {
                FsMode::ReadOnly => "ro",
                FsMode::ReadWrite => "rw",
            };
            let line = |path: &Path| visible_line(&path.to_string_lossy()).into_owned();
            let written = line(&grant.path);
            if !now.is_dir() {
                text.push_str(&format!("{written} ({mode})\n  is not there\n"));
                missing.push(grant.path.clone());
                continue;
            }
            text.push_str(&format!("{written} ({mode})\n  is {}\n", line(&now)));
            if grant.real_path() != now {
                let was = line(grant.real_path());
                text.push_str(&format!("  was {was} when it was granted\n"));
                anew.insert(grant.path.clone(), now);
            }
        }
        output::print(&text)?;
        if let Some(folder) = missing.first() {
            bail!(
                "server `{name}` is granted `{}`, and there is no such folder\n\
                 hint: make it, or `dormouse revoke {name} --grant-fs {}` takes it away",
                visible_path(folder),
                shell_word(folder)
            );
        }
        if anew.is_empty() {
            output::say("nothing has changed");
            return Ok(ExitCode::SUCCESS);
        }
        let question = format!("Grant `{name}` its folders as they are now?");
        if !grant_args::agreed(&places, name, &question, &text, self.yes)? {
            return Ok(ExitCode::FAILURE);
        }
        recorded.record_anew(server.project(), &anew)?;
        output::say(&format!("`{name}` is granted its folders as they are now"));
        hosts::reload(roster.config_path())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Returns the settings and secrets that are given: where there are no options, those that the
    /// plugin asks for and has not, as far as its user can be asked on a terminal.
    fn given(
        &self,
        places: &Places,
        roster: &Roster,
        server: &ServerConfig,
    ) -> anyhow::Result<GivenInputs> {
        let name = &server.name;
        let snapshot = roster.snapshot();
        let found = snapshot.servers().get(name);
        let listing = found.and_then(|found| found.listing());
        let requests = listing.map_or(&[][..], |listing| &listing.grants);
        if self.inputs.is_any() {
            check_changeable(places, server)?;
            if listing.is_none() {
                let why = found.and_then(|found| found.problem());
                bail!(
                    "what server `{name}` asks for is not known: {}\n\
                     hint: `dormouse doctor` says more",
                    why.unwrap_or("its file is not read while it is disabled")
                );
            }
            return self.inputs.given(places, name, requests);
        }
        let mut given = GivenInputs::default();
        let is_asked = !self.grants.is_any() && !self.yes && consent::can_ask();
        if is_asked && check_changeable(places, server).is_ok() {
            let held = HeldByPlugin::of(server);
            let missing = requests.iter().filter(|one| !held.has(one));
            let missing: Vec<_> = missing.cloned().collect();
            ask_for_settings(&missing, &mut given)?;
            ask_for_secrets(places, name, &missing, &mut given)?;
        }
        Ok(given)
    }

    /// Grants a plugin more than it has, with settings and secrets that it asks for.
    fn grant_more(
        &self,
        places: &Places,
        roster: &Roster,
        server: &ServerConfig,
        mut more: Grants,
        mut given: GivenInputs,
    ) -> anyhow::Result<ExitCode> {
        let name = &server.name;
        check_changeable(places, server)?;
        let snapshot = roster.snapshot();
        let listing = snapshot.servers().get(name);
        let listing = listing.and_then(|found| found.listing());
        let requests = listing.map_or(&[][..], |listing| &listing.grants);
        given.read_secrets(name, &places.config)?;
        more.fs.append(&mut given.folders);
        // Together with those that it has.
        let mut all = more.clone();
        let is_other = |grant: &&FsGrant| more.fs.iter().all(|other| other.path != grant.path);
        all.fs
            .extend(server.grants.fs.iter().filter(is_other).cloned());
        folders::check(places, name, &all)?;
        grant_requests::warn_of_beyond(&more, requests);
        let mut secrets = server.secrets.clone();
        secrets.extend(given.secrets.iter().cloned());
        let mut shown = grant_args::shown(&more, &secrets, None);
        shown.push_str(&grant_args::listed(&given.in_words()));
        if !grant_args::shown_and_agreed(places, name, &shown, self.yes)? {
            return Ok(ExitCode::FAILURE);
        }
        given.keep_texts(&places.data)?;
        let editor = Editor::new(&places.config)?;
        if !given.inputs.is_empty() {
            editor.set_inputs(name, &given.inputs)?;
        }
        editor.grant(name, &more)?;
        grant_args::record(places, &more)?;
        output::say(&format!("`{name}` is granted this"));
        given.warn_of_missing_texts(&places.data);
        let config = dormouse_config::load(&places.config)?;
        if let Some(now) = config.servers.get(name) {
            for told in secret_hosts::left_behind(now, &now.settings, requests) {
                output::warn(&told);
            }
        }
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the server of a name.
pub(super) fn server_named<'c>(
    configured: &'c Configured,
    name: &str,
) -> anyhow::Result<&'c ServerConfig> {
    let servers = &configured.servers;
    servers.get(name).with_context(|| {
        let nearest = nearest(name, servers.keys().map(String::as_str));
        let meant = nearest.map(|near| format!("did you mean `{near}`? "));
        format!(
            "there is no server `{name}`\nhint: {}`dormouse list` shows them all",
            meant.unwrap_or_default()
        )
    })
}

/// Checks that a server has grants.
pub(super) fn check_plugin(server: &ServerConfig) -> anyhow::Result<()> {
    let name = &server.name;
    if let Some(refused) = server.refused() {
        bail!(
            "server `{name}` is granted nothing, because it cannot be used as it is written\n{refused}"
        );
    }
    if server.component().is_none() {
        bail!(
            "server `{name}` is no plugin, and has what any program of yours has\n\
             hint: `env` and `pass_env` of `[servers.{name}]` give it variables"
        );
    }
    Ok(())
}

/// Checks that the grants of a server are changed by the user's own file.
pub(super) fn check_changeable(places: &Places, server: &ServerConfig) -> anyhow::Result<()> {
    check_plugin(server)?;
    let name = &server.name;
    if let Scope::Project(folder) = &server.origin.scope {
        bail!(
            "server `{name}` is granted what the project's file says, `{}`\n\
             hint: write `project = \"{}\"` and all its `grants` below `[servers.{name}]` in `{}`, or \
             the grants into the project's file, and trust that again with `dormouse trust`",
            visible_path(&server.origin.file),
            visible_path(folder),
            visible_path(&places.config)
        );
    }
    Ok(())
}
