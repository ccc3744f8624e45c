//! `dormouse uninstall`

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::edit::EditLock;
use dormouse_config::install::backup;
use dormouse_config::{Client, file, install as files};
use dormouse_files::replace;
use dormouse_text::visible::visible_path;

use super::{install, output};
use crate::roster::Places;

/// Takes Dormouse out of the servers that one of your clients loads.
#[derive(Debug, Args)]
#[command(
    after_help = "The servers that `dormouse import --replace` has put Dormouse in place of come \
    back, and what you have written into the file since stays. You are shown what changes. A file \
    that changes is backed up first: `dormouse import --undo` puts it back. One that has nothing \
    but Dormouse in it is removed.\n\n\
    `dormouse.toml` stays as it is, for your other clients: `dormouse remove NAME` removes a \
    server from it."
)]
pub(super) struct UninstallArgs {
    /// The client, like `cursor` or `claude-code`.
    client: Client,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

impl UninstallArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let around = install::users_surroundings(places)?;
        let client = self.client;
        let all = files::uninstall(client, &around, &backup::folder(&places.data))?;
        if all.changes.is_empty() && all.removed.is_empty() {
            output::say(&format!(
                "{client} does not load Dormouse from a file of yours"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        install::show(&all.changes)?;
        for (file, _) in &all.removed {
            let target = std::fs::canonicalize(file).ok();
            let target = target.filter(|_| file.is_symlink());
            let target =
                target.map(|target| format!(", which links to {},", visible_path(&target)));
            output::say(&format!(
                "{}{} has nothing but Dormouse in it, and is removed",
                visible_path(file),
                target.unwrap_or_default()
            ));
        }
        if !all.put_back.is_empty() {
            let names: Vec<_> = all
                .put_back
                .iter()
                .map(|name| format!("`{name}`"))
                .collect();
            output::say(&format!(
                "{client} loads {} itself again",
                output::clean(&names.join(", "))
            ));
        }
        if self.dry_run {
            return Ok(ExitCode::SUCCESS);
        }
        if !all.changes.is_empty() {
            let command = install::command_line("uninstall", &[client.to_string()]);
            install::make(places, &command, &all.changes, &EditLock::take()?)?;
        }
        for (path, text) in &all.removed {
            let shown = visible_path(path);
            let is_unchanged = |path: &Path| Ok(file::read(path)?.as_ref() == Some(text));
            let removed = replace::remove_if(path, is_unchanged)
                .with_context(|| format!("`{shown}` cannot be removed"))?;
            if !removed {
                bail!(
                    "{shown} has been changed meanwhile, and is not removed\n\
                     hint: `dormouse uninstall {client}` again takes Dormouse out of it"
                );
            }
            output::say(&format!("removed {shown}"));
        }
        output::say(&format!(
            "{client} loads Dormouse no more, from its next start on"
        ));
        Ok(ExitCode::SUCCESS)
    }
}
