//! `dormouse pack`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::units;
use dormouse_files::regular::read_regular_file;
use dormouse_files::replace::Access;
use dormouse_text::visible::visible_path;
use dormouse_wit::{Declaration, Error, Offers, section, source};

use super::{component, output};

/// Puts a plugin's declaration in front of its file, where it is found at once.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse pack plugin.wasm --wit wit/        declare what the WIT says, comments included\n  \
    dormouse pack plugin.wasm --tools t.json    declare MCP's own Tool objects\n  \
    dormouse pack plugin.wasm -o packed.wasm    move what it declares already to its front\n  \
    dormouse pack plugin.wasm --strip           remove it\n\n\
    Compilers drop the comments of WIT, and with them what tools are for; this puts them back, \
    whatever language the plugin is written in. A plugin that exports `dormouse:plugin/adapter`, \
    `prompts` or `resources` has no functions to declare: its MCP objects are in files, each an \
    array or the reply to a list request, and one file may have all of them. Strip debugging information before, since \
    `wasm-tools strip` would remove the declaration, too.")]
pub(super) struct PackArgs {
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    /// The WIT that it was built from: a file or a folder.
    #[arg(long, value_name = "DIR")]
    wit: Option<PathBuf>,
    /// The world that it was built for, where the WIT has several.
    #[arg(long, requires = "wit")]
    world: Option<String>,
    #[command(flatten)]
    objects: Objects,
    /// Where to write it, instead of over the file itself.
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Remove the declaration.
    #[arg(long, conflicts_with_all = ["wit", "tools", "prompts", "resources", "templates"])]
    strip: bool,
}

/// Files of MCP objects that are declared without a function for each.
#[derive(Debug, Args)]
struct Objects {
    /// MCP Tool objects that `dormouse:plugin/adapter` is called for: a JSON file.
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// MCP Prompt objects that `dormouse:plugin/prompts` is asked for.
    #[arg(long, value_name = "FILE")]
    prompts: Option<PathBuf>,
    /// MCP Resource objects that `dormouse:plugin/resources` is asked for.
    #[arg(long, value_name = "FILE")]
    resources: Option<PathBuf>,
    /// MCP ResourceTemplate objects that it is asked for, too.
    #[arg(long, value_name = "FILE")]
    templates: Option<PathBuf>,
    /// These resources tell of their changes, so that agents can subscribe to them.
    #[arg(long)]
    subscribe: bool,
}

/// Most bytes of a file of MCP objects.
const MAX_OBJECTS_BYTES: u64 = 64 << 20;

impl Objects {
    /// Returns the named files, each with the kind of its content.
    fn files(&self) -> impl Iterator<Item = (Offers, &Path)> {
        let files = [
            (Offers::Tools, &self.tools),
            (Offers::Prompts, &self.prompts),
            (Offers::Resources, &self.resources),
            (Offers::Templates, &self.templates),
        ];
        files
            .into_iter()
            .filter_map(|(what, file)| Some((what, file.as_deref()?)))
    }

    /// Adds the content of the files.
    fn declare(&self, declaration: &mut Declaration) -> anyhow::Result<()> {
        for (what, file) in self.files() {
            let cannot = || format!("`{}` cannot be read", visible_path(file));
            let bytes = read_regular_file(file, MAX_OBJECTS_BYTES).with_context(cannot)?;
            let bytes =
                bytes.with_context(|| format!("there is no file `{}`", visible_path(file)))?;
            let text = String::from_utf8(bytes).with_context(cannot)?;
            what.declare(&text, self.subscribe, declaration)
                .map_err(|why| anyhow::anyhow!("`{}`: {why}", visible_path(file)))?;
        }
        Ok(())
    }
}

impl PackArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let file = visible_path(&self.file);
        let bytes = component::bytes(&self.file)?;
        let packed = if self.strip {
            section::strip(&bytes).map_err(|error| anyhow::anyhow!("`{file}`: {error}"))?
        } else {
            let mut declaration = match &self.wit {
                Some(wit) => Some(declaration(wit, self.world.as_deref())?),
                None => None,
            };
            if self.objects.files().next().is_some() {
                // Not what an earlier run has put there: that would be there twice.
                let of_types = || source::from_component(&bytes).map(|found| found.declaration);
                let mut all = match declaration {
                    Some(declaration) => declaration,
                    None => of_types().map_err(|error| anyhow::anyhow!("`{file}`: {error}"))?,
                };
                self.objects.declare(&mut all)?;
                declaration = Some(all);
            }
            dormouse_catalog::pack(&bytes, declaration)
                .map_err(|error| anyhow::anyhow!("`{file}`: {error}"))?
        };
        let target = self.output.as_deref().unwrap_or(&self.file);
        // What is made of a file may be used by whoever may use that one.
        let access = Access::Given(self.file.metadata()?.permissions());
        component::write(target, &packed, access)?;
        let what = if self.strip { "stripped" } else { "packed" };
        output::say(&format!(
            "{what} {}: {}",
            visible_path(target),
            units::human_size(packed.len() as u64)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the declaration in the WIT of a component.
fn declaration(wit: &Path, world: Option<&str>) -> anyhow::Result<Declaration> {
    let declared = source::from_wit(&[wit], world).map_err(|error| match error {
        Error::World { .. } => anyhow::anyhow!("{error}\nhint: choose one with `--world NAME`"),
        error => error.into(),
    })?;
    for finding in &declared.findings {
        output::say(component::told(finding).trim_end());
    }
    if component::is_bad(&declared.findings) {
        bail!(
            "`{}` has mistakes in it, so nothing is written",
            visible_path(wit)
        );
    }
    Ok(declared.declaration)
}
