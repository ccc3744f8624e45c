//! `dormouse check`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dormouse_wit::{Finding, Severity};
use serde_json::json;

use super::output::{BAD, DOUBTFUL, GOOD};
use super::{Format, component, output};

/// Finds out whether a file is a plugin that works.
#[derive(Debug, Args)]
#[command(
    after_help = "Looks at whether the file is a valid component, whether a host has all that \
    it imports, and whether what it declares is what it exports. Nothing of it is run. Exit \
    code 1 where anything is wrong; warnings alone are fine."
)]
pub(super) struct Check {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let findings = component::check(&self.file);
        let bad = is_bad(&findings);
        if self.format.json {
            output::print_json(&json!({
                "file": self.file,
                "ok": !bad,
                "findings": findings.iter().map(|finding| json!({
                    "severity": word(finding.severity),
                    "item": finding.item,
                    "message": finding.message,
                    "hint": finding.hint,
                })).collect::<Vec<_>>(),
            }))?;
        } else {
            let mut text: String = findings.iter().map(told).collect();
            if !bad {
                let file = self.file.display();
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

/// Whether a plugin with these findings is refused.
pub(super) fn is_bad(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.severity == Severity::Error)
}

/// A finding for people to read.
pub(super) fn told(finding: &Finding) -> String {
    let style = match finding.severity {
        Severity::Error => BAD,
        Severity::Warning => DOUBTFUL,
    };
    let mut text = format!(
        "{}: {}: {}\n",
        output::styled(style, word(finding.severity)),
        output::clean(&finding.item),
        output::clean(&finding.message)
    );
    if let Some(hint) = &finding.hint {
        text.push_str(&format!(
            "{}: {}\n",
            output::styled(output::HINT, "hint"),
            output::clean(hint)
        ));
    }
    text
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
