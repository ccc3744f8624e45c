//! `dormouse remove`

use std::process::ExitCode;

use clap::Args;
use dormouse_config::edit::Editor;

use super::{hosts, output};
use crate::roster::{Places, Roster};

/// Removes a server and everything configured for it; the plugin's file stays.
#[derive(Debug, Args)]
#[command(after_help = "To hide its tools for a while only: `dormouse disable NAME`.")]
pub(super) struct RemoveArgs {
    /// The server's name.
    name: String,
}

impl RemoveArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let here = dormouse_config::load(&places.config)?;
        let name = &self.name;
        let is_here = here.servers.contains_key(name)
            || here.overlays.contains_key(name)
            || here
                .refused
                .iter()
                .any(|refused| refused.written_name == *name);
        let roster = Roster::open(places.clone())?;
        let origin = |roster: &Roster| {
            let snapshot = roster.snapshot();
            let server = snapshot.servers().get(name)?;
            let origin = server.config().origin.clone();
            (origin.file != places.config).then_some(origin)
        };
        if let (false, Some(origin)) = (is_here, origin(&roster)) {
            anyhow::bail!(
                "server `{name}` is not in your dormouse.toml, but at {origin}\n\
                 hint: `dormouse disable {name}` hides it from agents; to be rid of it, remove it there"
            );
        }
        Editor::new(&places.config)?.remove(&self.name)?;
        output::say(&format!("removed `{}`", self.name));
        roster.reload()?;
        if let Some(origin) = origin(&roster) {
            output::say(&format!(
                "hint: there is a server `{name}` at {origin}, which is shown now; `dormouse \
                 disable {name}` hides it"
            ));
        }
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}
