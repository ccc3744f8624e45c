//! `dormouse adapt`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_catalog::{Listing, Provenance};
use dormouse_wit::GrantRequest;

use super::{output, sync, tools};
use crate::config::{Bridge, units};
use crate::replace::{Access, replace};
use crate::roster::{Places, Roster};
use crate::runtime::Code;
use crate::store::Store;
use crate::upstream::Launch;

/// Writes a server that has an upstream as one component, with what it offers inside.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse adapt git -o git.wasm          the MCP server as a file\n  \
    dormouse inspect git.wasm               its tools, without starting anything\n  \
    dormouse add git2 git.wasm --grant-upstream\n\n\
    The command or URL of the upstream is in the file as what it asks to be granted: whoever adds \
    the file decides. Values of variables and headers are not in it, only their names.")]
pub(super) struct Adapt {
    /// The server's name.
    server: String,
    /// Where to write the component.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

impl Adapt {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let server = &self.server;
        let bridge = bridge(places, server)?;
        let store = Store::of(&places.data);
        if store.read(&bridge.fingerprint)?.is_none() {
            for (_, outcome, _) in sync::sync(places, std::slice::from_ref(server))? {
                outcome.map_err(|why| anyhow::anyhow!("server `{server}`: {why}"))?;
            }
        }
        let record = store.read(&bridge.fingerprint)?;
        let record = record.with_context(|| format!("nothing is known of server `{server}`"))?;
        // As agents see it: whoever gets the file need not hear of what is mended already.
        let listing = Listing::new(record.declaration(), Provenance::Section)?;
        for odd in listing.odd.iter().filter(|odd| !odd.shown) {
            output::warn(&odd.to_string());
        }
        let mut declaration = listing.declaration()?;
        declaration
            .tools
            .retain(|tool| bridge.filter.shows(&tool.name));
        declaration.grants = vec![request(&bridge.written)];
        // The code exports it, and a declaration says all that is exported. An upstream
        // without it answers that it has none.
        declaration.completion = true;
        let code = Code::Bridge.bytes()?;
        let count = declaration.tools.len() as u64;
        let component = dormouse_catalog::pack(&code, Some(declaration))?;
        replace(&self.output, &component, Access::Kept)
            .with_context(|| format!("`{}` cannot be written", self.output.display()))?;
        output::say(&format!(
            "adapted {}: {}, {}",
            self.output.display(),
            output::counted(count, "tool"),
            units::human_size(component.len() as u64)
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// The upstream of a server.
fn bridge(places: &Places, server: &str) -> anyhow::Result<Bridge> {
    let roster = Roster::open(places.clone())?;
    let snapshot = roster.snapshot();
    let found = tools::exists(&snapshot, server)?;
    let config = found.config();
    match config.bridge() {
        Some(_) => {
            let bridge = found.reachable();
            let bridge = bridge.map_err(|why| anyhow::anyhow!("server `{server}`: {why}"))?;
            Ok(bridge.clone())
        }
        None => bail!(
            "server `{server}` is a plugin already{}",
            config
                .component()
                .map(|file| format!(": `{}`", file.display()))
                .unwrap_or_default()
        ),
    }
}

/// What the component asks to be granted.
fn request(launch: &Launch) -> GrantRequest {
    let names = |values: &std::collections::BTreeMap<String, _>| values.keys().cloned().collect();
    match launch {
        Launch::Stdio(stdio) => GrantRequest::Upstream {
            command: std::iter::once(&stdio.command)
                .chain(&stdio.args)
                .cloned()
                .collect(),
            url: None,
            secrets: names(&stdio.env),
        },
        Launch::Http(http) => GrantRequest::Upstream {
            command: Vec::new(),
            url: Some(http.url.clone()),
            secrets: names(&http.headers),
        },
    }
}
