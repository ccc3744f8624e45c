//! `dormouse inspect`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dormouse_catalog::Provenance;
use dormouse_wit::Instance;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::output::{FAINT, STRONG};
use super::{Format, component, describe, output};
use crate::config::units;
use crate::sandbox::Grants;

/// Shows what is in a plugin's file: what it declares, its WIT, what it imports.
#[derive(Debug, Args)]
#[command(after_help = "Nothing of it is run. Whether it is sound: `dormouse check FILE`.")]
pub(super) struct Inspect {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Inspect {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let entry = component::entry(&self.file)?;
        let listing = &entry.listing;
        let bytes = component::bytes(&self.file)?;
        let digest = digest(&bytes);
        let names = component::names(&bytes);
        let wit = component::wit(&bytes)?;
        if self.format.json {
            output::print_json(&json!({
                "file": self.file,
                "size": bytes.len(),
                "sha256": digest,
                "provenance": listing.provenance,
                "declaration": listing.declaration()?,
                "skipped": listing.skipped,
                "imports": names.imports,
                "exports": names.exports,
                "wit": wit,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let heading = |text: &str| format!("\n{}\n", output::styled(STRONG, text));
        let mut text = format!(
            "{}\n{}, {}\n{}\n",
            describe::headline(listing),
            self.file.display(),
            units::human_size(bytes.len() as u64),
            output::styled(FAINT, format!("sha256:{digest}")),
        );
        text.push_str(match listing.provenance {
            Provenance::Front => "declared in a section in front: packed\n",
            Provenance::Section => "declared in a section of its core module\n",
            Provenance::Derived => "declared by its types alone, without descriptions\n",
        });
        text.push_str(match listing.instance {
            Instance::PerCall => "a fresh instance for each call\n",
            Instance::PerSession => "one instance for an agent's session\n",
        });
        text.push_str(&describe::missing(
            "NAME",
            &listing.grants,
            &Grants::default(),
        )?);
        text.push_str(&heading(&format!("{} tools", listing.tools.len())));
        for tool in &listing.tools {
            text.push_str(&describe::Tool::new(tool, &tool.name).long());
        }
        for skipped in &listing.skipped {
            text.push_str(&format!("left out: {}\n", output::clean(skipped)));
        }
        text.push_str(&heading("imports"));
        for name in &names.imports {
            text.push_str(&format!("{}\n", output::clean(name)));
        }
        text.push_str(&heading("WIT"));
        text.push_str(&output::clean(&wit));
        output::print(text.trim_start())?;
        Ok(ExitCode::SUCCESS)
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
