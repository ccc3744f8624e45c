//! `dormouse inspect`

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use super::{Format, output};

/// Shows what a component declares, imports and exports, without running it
#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// The component's file
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Inspect {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let bytes = std::fs::read(&self.file)
            .with_context(|| format!("`{}` cannot be read", self.file.display()))?;
        let found = dormouse_catalog::inspect(&bytes)
            .map_err(|problem| anyhow::anyhow!("`{}`: {problem}", self.file.display()))?;
        if self.format.json {
            output::print_json(&found)?;
            return Ok(ExitCode::SUCCESS);
        }
        let declared = &found.declaration;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{} {}",
            declared.name.as_deref().unwrap_or("(no name)"),
            declared.version.as_deref().unwrap_or_default()
        );
        if let Some(description) = &declared.description {
            let _ = writeln!(text, "{description}");
        }
        let _ = writeln!(
            text,
            "\nsize    {} bytes\nsha256  {}",
            found.size, found.sha256
        );
        let _ = writeln!(text, "\ntools");
        for tool in &declared.tools {
            let _ = writeln!(text, "  {}", tool.name);
        }
        for (what, names) in [("imports", &found.imports), ("exports", &found.exports)] {
            let _ = writeln!(text, "\n{what}");
            for name in names {
                let _ = writeln!(text, "  {name}");
            }
        }
        let _ = writeln!(text, "\n{}", found.wit);
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
