//! `dormouse pack`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_wit::{Declaration, section, source};

use super::{component, output};
use crate::config::units;
use crate::replace::{Access, replace};

/// Puts a plugin's declaration in front of its file, where it is found at once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse pack plugin.wasm --wit wit/        declare what the WIT says, comments included\n  \
    dormouse pack plugin.wasm -o packed.wasm    move what it declares already to its front\n  \
    dormouse pack plugin.wasm --strip           remove it\n\n\
    Compilers drop the comments of WIT, and with them what tools are for; this puts them back, \
    whatever language the plugin is written in. Strip debugging information before, since \
    `wasm-tools strip` would remove the declaration, too.")]
pub(super) struct Pack {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    /// The WIT that it was built from: a file or a folder.
    #[arg(long, value_name = "DIR")]
    wit: Option<PathBuf>,
    /// The world that it was built for, where the WIT has several.
    #[arg(long, requires = "wit")]
    world: Option<String>,
    /// Where to write it, instead of over the file itself.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Remove the declaration.
    #[arg(long, conflicts_with = "wit")]
    strip: bool,
}

impl Pack {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let file = self.file.display();
        let bytes = component::bytes(&self.file)?;
        let packed = if self.strip {
            section::strip(&bytes).map_err(|error| anyhow::anyhow!("`{file}`: {error}"))?
        } else {
            let declaration = match &self.wit {
                Some(wit) => Some(declaration(wit, self.world.as_deref())?),
                None => None,
            };
            dormouse_catalog::pack(&bytes, declaration)
                .map_err(|error| anyhow::anyhow!("`{file}`: {error}"))?
        };
        let target = self.output.as_deref().unwrap_or(&self.file);
        // What is made of a file may be used by whoever may use that one.
        let access = Access::Given(self.file.metadata()?.permissions());
        replace(target, &packed, access)
            .with_context(|| format!("`{}` cannot be written", target.display()))?;
        let what = if self.strip { "stripped" } else { "packed" };
        output::say(&format!(
            "{what} {}: {}",
            target.display(),
            units::human_size(packed.len() as u64)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// What the WIT of a component declares.
fn declaration(wit: &Path, world: Option<&str>) -> anyhow::Result<Declaration> {
    let declared = source::from_wit(&[wit], world)?;
    for finding in &declared.findings {
        output::say(component::told(finding).trim_end());
    }
    if component::is_bad(&declared.findings) {
        bail!(
            "`{}` has mistakes in it, so nothing is written",
            wit.display()
        );
    }
    Ok(declared.declaration)
}
