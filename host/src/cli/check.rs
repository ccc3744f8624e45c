//! `dormouse check`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use dormouse_wit::error::Severity;
use serde_json::json;

use super::{Format, output};

/// Says everything that is wrong with a component
///
/// The verdict of `wasm-tools validate`, and more: whether what it declares is what
/// it exports, whether its tools' names and schemas are fit for agents, whether
/// this host offers what it imports. Exits with 1 where there is an error.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The component's file
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let bytes = std::fs::read(&self.file)
            .with_context(|| format!("`{}` cannot be read", self.file.display()))?;
        let findings = dormouse_catalog::check(&bytes);
        let failed = findings
            .iter()
            .any(|found| found.severity == Severity::Error);
        if self.format.json {
            let rows = findings.iter().map(|found| {
                json!({
                    "severity": if found.severity == Severity::Error { "error" } else { "warning" },
                    "item": found.item,
                    "message": found.message,
                    "hint": found.hint,
                })
            });
            output::print_json(&rows.collect::<Vec<_>>())?;
        } else if findings.is_empty() {
            output::print(&format!("`{}`: nothing is wrong\n", self.file.display()))?;
        } else {
            let rows: Vec<_> = findings.iter().map(|found| format!("{found}\n")).collect();
            output::print(&rows.concat())?;
        }
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}
