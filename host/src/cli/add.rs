//! `dormouse add`

mod plugin;
mod upstream;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _};
use dormouse_config::{Configured, name};
use dormouse_text::shell_word::shell_word;

use super::Cli;
use super::grant_args::GrantArgs;
use super::install::{self, Then};
use super::output;
use super::plugin_inputs::InputArgs;
use crate::roster::Places;
use plugin::Plugin;
use upstream::{AddedUpstream, UpstreamArgs};

/// Adds a server: a plugin, or an MCP server that is a program or a URL.
#[derive(Debug, Args)]
#[command(
    override_usage = "dormouse add [OPTIONS] <NAME> <FILE>\n       \
    dormouse add [OPTIONS] <NAME> <URL>\n       \
    dormouse add [OPTIONS] <NAME> -- <COMMAND> [ARGUMENT]...",
    after_help = "Examples:\n  \
    dormouse add time ./time.wasm\n  \
    dormouse add notes ./filesystem.wasm --grant-fs ~/notes:rw\n  \
    dormouse add clock ./time.wasm --grant-env TZ\n  \
    dormouse add issues ./issues.wasm --grant-http 'GET,POST https://api.example.com'\n  \
    dormouse add weather ./weather.wasm --setting unit=metric --secret key=env:WEATHER_KEY\n  \
    dormouse add issues ./issues.wasm --secret token\n  \
    dormouse add github --env GITHUB_TOKEN -- npx -y @modelcontextprotocol/server-github\n  \
    dormouse add search https://example.com/mcp --header 'Authorization: Bearer ${SEARCH_TOKEN}'\n\n\
    A plugin's file stays where it is: the configuration names it. It may do nothing that is not \
    granted to it; what it asks for is shown, with the lines of the configuration that grant it. On a \
    terminal you are asked whether it may have what needs no more than that: variables, and requests to \
    single hosts; and for its settings and secrets. A \
    program is not sandboxed: once it runs, it can do what you can."
)]
pub(super) struct AddArgs {
    /// The name that agents are to see: letters, digits, `-` and `_`.
    #[arg(value_parser = server_name)]
    name: String,
    /// A plugin (a `.wasm` component), or the URL of an MCP server.
    #[arg(value_name = "FILE|URL", required_unless_present = "command")]
    source: Vec<PathBuf>,
    /// The program of an MCP server and its arguments, behind `--`.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    grants: GrantArgs,
    #[command(flatten)]
    inputs: InputArgs,
    /// Let a plugin start the MCP server that it stands in front of: what `dormouse adapt` has
    /// written.
    #[arg(long)]
    grant_upstream: bool,
    #[command(flatten)]
    upstream: UpstreamArgs,
    #[command(flatten)]
    then: Then,
    /// Do not ask whether what is to be granted may be, nor whether a plugin may have the variables
    /// and the requests to single hosts that it asks for. Settings get their defaults, and it is not
    /// added without one that it needs. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
    /// Replace a server of that name, and everything that was configured for it.
    #[arg(long)]
    force: bool,
}

impl AddArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let url = match self.source.as_slice() {
            [] => None,
            [_, ..] if !self.command.is_empty() => {
                return Err(misuse(
                    "a file or URL, and a command, are given\nhint: a server is one of them",
                ));
            }
            [source] => source
                .to_str()
                .filter(|text| text.contains("://"))
                .map(str::to_owned),
            sources => {
                let words: Vec<_> = sources.iter().map(|word| word.to_string_lossy()).collect();
                // Some of its own options may have been taken for ours.
                return Err(misuse(&format!(
                    "`{}` is no file and no URL\n\
                     hint: a program goes behind `--`: `dormouse add {} -- {} …`",
                    words.join(" "),
                    shell_word(&self.name),
                    sources.first().map_or_else(String::new, shell_word)
                )));
            }
        };
        let is_plugin = self.command.is_empty() && url.is_none();
        if is_plugin && let Some(option) = self.upstream.given() {
            return Err(misuse(&format!(
                "`{option}` is for a program or a URL, and this is a plugin\n\
                 hint: a plugin is granted variables by `--grant-env`"
            )));
        }
        if !is_plugin && (self.grant_upstream || self.grants.is_any() || self.inputs.is_any()) {
            return Err(misuse(
                "grants are for plugins\n\
                 hint: a program is not sandboxed, and gets variables by `--env`",
            ));
        }
        // A configuration that cannot be read must not get longer.
        let config = dormouse_config::load(&places.config)?;
        let name = &self.name;
        if config.servers.contains_key(name) && !self.force {
            // Said again by the editor; but not after minutes of compiling.
            bail!(
                "there is a server `{name}` already\nhint: choose another name, or replace it with `--force`"
            );
        }
        if let ([file], None) = (self.source.as_slice(), &url) {
            let plugin = Plugin {
                name,
                file,
                grants: self.grants,
                inputs: self.inputs,
                grant_upstream: self.grant_upstream,
                is_agreed: self.yes,
                replaces: self.force,
            };
            return plugin.add(places);
        }
        let upstream = AddedUpstream {
            name,
            url,
            command: self.command,
            options: self.upstream,
            replaces: self.force,
        };
        upstream.add(places)?;
        self.then.offer_sync(places, std::slice::from_ref(name))
    }
}

/// Makes an error of the arguments.
fn misuse(text: &str) -> anyhow::Error {
    let mut all = Cli::command();
    // What is built knows how its parts are used.
    all.build();
    let own = all.find_subcommand("add").cloned();
    let mut command = own.unwrap_or(all);
    command.error(ErrorKind::ValueValidation, text).into()
}

/// Warns of what a server that was added changes elsewhere, or needs there: servers that are shown
/// no longer, or twice, and variables that a client does not pass.
fn warn_of_others(configured: &Configured, name: &str, places: &Places) {
    warn_of_overridden(configured, name, &places.config);
    for missing in install::not_passed(configured.servers.get(name), places) {
        output::warn(&missing);
    }
    for twin in configured.reached_in_the_same_way(name) {
        output::warn(&format!(
            "`{twin}` is reached in the same way, and what both have is shown twice\n\
             hint: `dormouse disable {twin}` has `{name}` alone shown"
        ));
    }
}

/// Warns of servers of clients that are shown no longer, because one that was added has their name.
fn warn_of_overridden(configured: &Configured, name: &str, file: &Path) {
    let overridden = configured.overridden.iter();
    let overridden = overridden.filter(|lost| lost.name == name && lost.by.file == file);
    for lost in overridden {
        let of_client = lost.origin.client.map_or_else(String::new, |client| {
            format!(" of {client}", client = client.name())
        });
        output::warn(&format!(
            "the server `{name}`{of_client} at {} is shown no longer: this one has its name\n\
             hint: `dormouse remove {name}` brings it back; this one can be added under another name",
            lost.origin
        ));
    }
}

fn server_name(text: &str) -> Result<String, String> {
    name::check(text)
        .map(|()| text.to_owned())
        .map_err(|bad| format!("{bad}\nhint: {}", bad.hint()))
}
