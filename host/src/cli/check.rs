//! `dormouse check`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dormouse_text::visible::visible_path;
use serde_json::json;

use super::output::GOOD;
use super::{Format, component, output};

/// Says everything that is wrong with a plugin's file.
#[derive(Debug, Args)]
#[command(
    after_help = "The verdict of `wasm-tools validate`, and more: whether what it declares is \
    what it exports, whether its tools' names and schemas are fit for agents, and whether this \
    version of Dormouse offers what it imports. Nothing of it is run. Exit code 1 where there is \
    an error; warnings alone are fine."
)]
pub(super) struct CheckArgs {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl CheckArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut findings = component::check(&self.file)?;
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let bad = component::is_bad(&findings);
        if self.format.json {
            let rows = findings.iter().map(|finding| {
                json!({
                    "severity": component::word(finding.severity),
                    "item": finding.item,
                    "message": finding.message,
                    "hint": finding.hint,
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
        } else {
            let mut text: String = findings.iter().map(component::told).collect();
            if !bad {
                let file = visible_path(&self.file);
                text.push_str(&format!(
                    "{}: {file} is a plugin\n",
                    output::styled(GOOD, "ok")
                ));
            }
            output::print(&text)?;
        }
        Ok(if bad {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}
