//! `dormouse pack`

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_wit::{Finding, section, source};

use super::{check, component, output};
use crate::config::units;

/// Puts a plugin's declaration in front of its file, where it is found at once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse pack plugin.wasm --wit wit/        declare what the WIT says, comments included\n  \
    dormouse pack plugin.wasm -o packed.wasm    move the declaration that is in there already\n  \
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
            section::strip(&bytes)?
        } else {
            let declared = match &self.wit {
                Some(wit) => match declare(wit, self.world.as_deref(), &bytes)? {
                    Some(section) => section,
                    None => return Ok(ExitCode::FAILURE),
                },
                None => section::find(&bytes)?.with_context(|| {
                    format!("`{file}` has no declaration to put in front\nhint: name the WIT that it was built from with `--wit DIR`")
                })?,
            };
            section::insert(&bytes, &declared)?
        };
        let target = self.output.as_deref().unwrap_or(&self.file);
        write(target, &self.file, &packed)
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

/// The section for a component's WIT; none where the two do not go together,
/// which has been said then.
fn declare(wit: &Path, world: Option<&str>, bytes: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
    let declared = source::from_wit(&[wit], world)?;
    let mut findings: Vec<Finding> = declared.findings;
    findings.extend(component::agree(&declared.declaration, bytes));
    findings.dedup();
    for finding in &findings {
        output::say(check::told(finding).trim_end());
    }
    if check::is_bad(&findings) {
        output::say("nothing is written");
        return Ok(None);
    }
    Ok(Some(section::encode(&declared.declaration)?))
}

/// Puts bytes in place of a file, all or nothing, with the permissions of the
/// file that they were made from.
fn write(target: &Path, from: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // What is at the end of a link is replaced, not the link.
    let target = std::path::absolute(target)?;
    let target = target.canonicalize().unwrap_or(target);
    if target.is_dir() {
        bail!("it is a folder\nhint: name a file in it");
    }
    let folder = target.parent().context("it is in no folder")?;
    let mut file = tempfile::Builder::new()
        .prefix(".dormouse-")
        .tempfile_in(folder)?;
    file.as_file()
        .set_permissions(from.metadata()?.permissions())?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
