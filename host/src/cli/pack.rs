//! `dormouse pack`

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use dormouse_wit::error::Severity;
use dormouse_wit::{section, source};

use super::output;

/// Puts a component's declaration in front of its file, where it is found fastest
///
/// With `--wit`, the declaration is made from WIT source, doc comments included:
/// that is how a component of any language gets its descriptions. Toolchains drop
/// them, and `wasm-tools strip` drops the declaration, so pack last.
#[derive(Debug, Args)]
pub(super) struct Pack {
    /// The component's file
    file: PathBuf,
    /// The folder or file of WIT that the component was built from
    #[arg(long, value_name = "PATH")]
    wit: Option<PathBuf>,
    /// The world in it, where there are several
    #[arg(long, requires = "wit")]
    world: Option<String>,
    /// Takes the declaration out instead
    #[arg(long, conflicts_with = "wit")]
    strip: bool,
    /// Where to write the packed component; in place where it is not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Pack {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let bytes = std::fs::read(&self.file)
            .with_context(|| format!("`{}` cannot be read", self.file.display()))?;
        let packed = if self.strip {
            section::strip(&bytes)?
        } else {
            let declaration = match &self.wit {
                Some(wit) => Some(self.declaration(wit)?),
                None => None,
            };
            dormouse_catalog::pack(&bytes, declaration)
                .map_err(|error| anyhow::anyhow!("`{}`: {error}", self.file.display()))?
        };
        let target = self.output.as_deref().unwrap_or(&self.file);
        write(target, &packed)
            .with_context(|| format!("`{}` cannot be written", target.display()))?;
        output::say(&format!(
            "wrote `{}` ({} bytes)",
            target.display(),
            packed.len()
        ));
        Ok(ExitCode::SUCCESS)
    }

    fn declaration(&self, wit: &Path) -> anyhow::Result<dormouse_wit::Declaration> {
        let declared = source::from_wit(&[wit], self.world.as_deref())?;
        let mut errors = String::new();
        for finding in &declared.findings {
            if finding.severity == Severity::Error {
                errors.push_str(&format!("\n{finding}"));
            } else {
                output::warn(&finding.to_string());
            }
        }
        anyhow::ensure!(errors.is_empty(), "`{}` has errors:{errors}", wit.display());
        Ok(declared.declaration)
    }
}

/// Writes a whole file, or leaves what was there.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.as_file()
            .set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path)?;
    Ok(())
}
