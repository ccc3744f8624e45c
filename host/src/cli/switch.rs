//! `dormouse enable` and `dormouse disable`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{hosts, output};
use crate::roster::{Places, Roster};

#[derive(Debug, Args)]
#[command(
    after_help = "Running hosts follow at once, and tell their agents. It is kept in your \
    dormouse.toml, also for a server that is in a client's file: that one is left alone."
)]
pub(super) struct SwitchArgs {
    /// The server's name.
    name: String,
    /// Only in the hosts that run now, and only for as long as they do.
    #[arg(long)]
    once: bool,
}

impl SwitchArgs {
    pub(super) fn run(self, places: Places, on: bool) -> anyhow::Result<ExitCode> {
        let state = if on { "enabled" } else { "disabled" };
        let name = &self.name;
        let roster = Roster::open(places)?;
        let config = roster.config_path();
        if self.once {
            super::tools::exists(&roster.snapshot(), name)?;
            let params = json!({ "server": name, "on": on });
            if hosts::tell("switch", params, config, state)?.done == 0 {
                output::say("no host of this configuration is running, so nothing is changed");
            }
            return Ok(ExitCode::SUCCESS);
        }
        let changed = roster.set_enabled(name, on)?;
        let now = if changed { "now" } else { "already" };
        output::say(&format!("`{name}` is {now} {state}"));
        let snapshot = roster.snapshot();
        let found = snapshot.servers().get(name);
        let rules = found.and_then(|found| Some(found.config().bridge()?.rules.told()));
        for told in rules.filter(|_| on).unwrap_or_default() {
            output::say(&format!("  {told}"));
        }
        hosts::reload(config)?;
        Ok(ExitCode::SUCCESS)
    }
}
