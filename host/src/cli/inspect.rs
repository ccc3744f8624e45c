//! `dormouse inspect`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use dormouse_catalog::{Inspection, Provenance};
use dormouse_config::units;
use dormouse_policy::Grants;
use dormouse_text::visible::visible_line;
use dormouse_wit::Instance;
use serde_json::Map;
use serde_json::value::RawValue;

use super::output::{FAINT, STRONG};
use super::{Format, component, describe, output};
use crate::child_commands::read_command;
use crate::roster::HeldByPlugin;

/// Function that describes an MCP object of a key.
type Describe = fn(&RawValue, &str) -> String;

/// Shows what is in a plugin's file: what it declares, its WIT, what it imports.
#[derive(Debug, Args)]
#[command(after_help = "Nothing of it is run. Whether it is sound: `dormouse check FILE`.")]
pub(super) struct InspectArgs {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl InspectArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let found = dormouse_catalog::inspect_file(&self.file, read_command);
        let found = found.map_err(component::told_by_path)?;
        if self.format.json {
            output::print_json(&found)?;
        } else {
            output::print(&text(&found)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text(found: &Inspection) -> anyhow::Result<String> {
    let heading = |text: &str| format!("\n{}\n", output::styled(STRONG, text));
    let declared = &found.declaration;
    let mut text = describe::headline(
        declared.title.as_ref().or(declared.name.as_ref()),
        declared.version.as_ref(),
        declared.description.as_ref(),
    );
    text.push_str(&format!(
        "\n{}, {}\n",
        units::human_size(found.size as u64),
        output::styled(FAINT, format!("sha256:{}", found.sha256)),
    ));
    text.push_str(match found.provenance {
        Provenance::Front => "declared in a section in front: packed\n",
        Provenance::Section => "declared in a section of its core module\n",
        Provenance::Derived => "declared by its types alone, without descriptions\n",
    });
    text.push_str(match declared.instance {
        Instance::PerCall => "a fresh instance for each call\n",
        Instance::PerSession => "one instance for an agent's session\n",
    });
    text.push_str(&describe::missing(
        "NAME",
        &declared.grants,
        HeldByPlugin::new(&Grants::default(), &Map::new()),
    )?);
    text.push_str(&heading(&output::counted(
        declared.tools.len() as u64,
        "tool",
    )));
    for tool in &declared.tools {
        text.push_str(&describe::ToolDescription::new(&tool.tool, &tool.name).long());
    }
    let shown: [(_, _, Describe); 3] = [
        ("prompt", &declared.prompts, describe::prompt),
        ("resource", &declared.resources, describe::resource),
        ("resource template", &declared.templates, describe::resource),
    ];
    for (what, items, long) in shown {
        if !items.is_empty() {
            text.push_str(&heading(&output::counted(items.len() as u64, what)));
        }
        for item in items {
            text.push_str(&long(&item.object, &item.key));
        }
    }
    for (what, names) in [("imports", &found.imports), ("exports", &found.exports)] {
        text.push_str(&heading(what));
        for name in names {
            text.push_str(&format!("{}\n", visible_line(name)));
        }
    }
    text.push_str(&heading("WIT"));
    text.push_str(&output::clean(&found.wit));
    Ok(text.trim_start().to_owned())
}
