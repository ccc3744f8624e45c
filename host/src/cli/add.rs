//! `dormouse add`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_catalog::Entry;
use dormouse_config::edit::{Editor, upstream_table};
use dormouse_config::{name, review};
use dormouse_policy::{FsGrant, FsMode, Grants, real_path};
use dormouse_runtime::{NotOffered, Runtime};
use dormouse_text::visible::visible_line;
use dormouse_wit::GrantRequest;
use toml_edit::Table;

use super::consent::consent;
use super::progress::Progress;
use super::{component, describe, hosts, output};
use crate::compile_command::compile_command;
use crate::roster::{Collision, Kind, Places, Roster, folders, names};
use crate::store::{Decision, Decisions, RecordedFolders};

/// Adds a plugin as a server.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse add time ./time.wasm\n  \
    dormouse add notes ./filesystem.wasm --grant-fs ~/notes:rw\n  \
    dormouse add clock ./time.wasm --grant-env TZ\n\n\
    The file stays where it is: the configuration names it. A plugin may do nothing that is not \
    granted to it; what it asks for is shown, with the lines of the configuration that grant it.")]
pub(super) struct Add {
    /// The name that agents are to see: letters, digits, `-` and `_`.
    #[arg(value_parser = server_name)]
    name: String,
    /// The plugin: a `.wasm` component.
    file: PathBuf,
    /// Grant a folder: `ro` to read (the default), `rw` to write, too. May be repeated.
    #[arg(long, value_name = "PATH[:ro|rw]", value_parser = folder)]
    grant_fs: Vec<FsGrant>,
    /// Grant sight of an environment variable. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = variable)]
    grant_env: Vec<String>,
    /// Let it start the MCP server that it stands in front of: what `dormouse adapt` has written.
    #[arg(long)]
    grant_upstream: bool,
    /// Do not ask whether what is to be granted may be. It is logged that nobody was asked.
    #[arg(short, long)]
    yes: bool,
    /// Replace a server of that name, and everything that was configured for it.
    #[arg(long)]
    force: bool,
}

impl Add {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        // A configuration that cannot be read must not get longer.
        let config = dormouse_config::load(&places.config)?;
        let name = &self.name;
        if config.servers.contains_key(name) && !self.force {
            // Said again by the editor; but not after minutes of compiling.
            bail!(
                "there is a server `{name}` already\nhint: choose another name, or replace it with `--force`"
            );
        }
        let file = std::path::absolute(&self.file).context("the plugin's path is none")?;
        let entry = component::entry(&file)?;
        let errors = component::errors(&component::bytes(&file)?);
        if !errors.is_empty() {
            let errors: String = errors.iter().map(|error| format!("\n{error}")).collect();
            bail!(
                "`{}` is no plugin that works, so it is not added{errors}",
                file.display()
            );
        }
        for skipped in &entry.listing.skipped {
            output::warn(skipped.trim_start_matches("warning: "));
        }
        for odd in &entry.listing.odd {
            output::warn(&odd.to_string());
        }
        // Before it is added: from then on these are no mere warnings.
        for collision in taken(places, name, &entry)? {
            output::warn(&collision.to_string());
        }
        for import in compile(places, &file)? {
            output::warn(&format!("{}: {import}", import.interface));
        }
        let grants = Grants {
            fs: self.grant_fs,
            env: self.grant_env,
        };
        folders::check(places, name, &grants)?;
        let requested = upstream_request(&entry).filter(|_| self.grant_upstream);
        let granted = granted(&grants, requested);
        if !granted.is_empty() {
            output::print(&granted)?;
            let question = format!("Grant this to `{name}`?");
            let Some(by) = consent(&question, self.yes)? else {
                return Ok(ExitCode::FAILURE);
            };
            let shown = blake3::hash(granted.as_bytes()).to_hex();
            Decisions::new(&places.data).note(&Decision {
                what: "grant",
                subject: name,
                shown: &shown,
                by,
            })?;
        }
        let upstream = requested.and_then(upstream);
        let has_upstream = upstream.is_some();
        let editor = Editor::new(&places.config)?;
        editor.add(name, &file, (&grants, upstream), self.force)?;
        let real = grants.fs.iter();
        let real = real.map(|grant| (grant.path.clone(), grant.path.clone()));
        RecordedFolders::new(&places.data).record_anew(&real.collect())?;
        output::say(&format!("added `{name}` to {}", places.config.display()));
        let roster = Roster::open(places.clone())?;
        let configured = roster.configured()?;
        for twin in configured.reached_in_the_same_way(name) {
            output::warn(&format!(
                "`{twin}` is reached in the same way, and what both have is shown twice\n\
                 hint: `dormouse disable {twin}` has `{name}` alone shown"
            ));
        }
        for (servers, doubt) in folders::doubts(&configured) {
            if servers.contains(name) {
                output::warn(&doubt);
            }
        }
        output::print(&told(name, &entry, &grants, has_upstream)?)?;
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the collisions of what the new server has with what another server has already.
fn taken(places: &Places, server: &str, entry: &Entry) -> anyhow::Result<Vec<Collision>> {
    let roster = Roster::open(places.clone())?;
    let snapshot = roster.snapshot();
    let listing = &entry.listing;
    let ours = |what, key: &str, own: &str, theirs: Option<(&str, &str)>| {
        let (theirs, their_own) = theirs.filter(|(theirs, _)| *theirs != server)?;
        let owners = [(theirs, their_own), (server, own)];
        Some(Collision {
            what,
            name: key.to_owned(),
            owners: owners
                .map(|(of, own)| (of.to_owned(), own.to_owned()))
                .into(),
            is_of_project: false,
        })
    };
    let tools = listing.tools.iter().filter_map(|tool| {
        let shown = names::shown(server, None, &tool.name);
        let theirs = snapshot
            .find(&shown)
            .map(|theirs| (theirs.server(), theirs.tool()));
        ours("tool", &shown, &tool.name, theirs)
    });
    let offers = [
        (Kind::Prompt, &listing.prompts),
        (Kind::Resource, &listing.resources),
        (Kind::Template, &listing.templates),
    ];
    let offers = offers.into_iter().flat_map(|(kind, items)| {
        let (snapshot, ours) = (&snapshot, &ours);
        items.iter().filter_map(move |item| {
            let key = match kind {
                Kind::Prompt => names::shown(server, None, &item.key),
                Kind::Resource | Kind::Template => item.key.clone(),
            };
            let theirs = snapshot.offers(kind).find(&key)?;
            let own = theirs.declared().map_or("", |theirs| &theirs.key);
            ours(kind.noun(), &key, &item.key, Some((theirs.server(), own)))
        })
    });
    Ok(tools.chain(offers).collect())
}

/// Compiles a plugin ahead of its first call, and links it: what is added can be started.
/// Returns what it imports that ends it where it is called.
fn compile(places: &Places, file: &Path) -> anyhow::Result<Vec<NotOffered>> {
    let _progress = Progress::new(&format!("compiling {}", file.display()));
    let limits = dormouse_config::load(&places.config)?.limits;
    let runtime = Runtime::new(places.cache.clone(), compile_command);
    runtime.set_limits(&limits);
    runtime
        .prepare(file)
        .map_err(|why| anyhow::anyhow!("`{}` is not added: {why}", file.display()))
}

/// Returns the request of a plugin that stands in front of an upstream for that upstream.
fn upstream_request(entry: &Entry) -> Option<&GrantRequest> {
    let mut grants = entry.listing.grants.iter();
    grants.find(|grant| matches!(grant, GrantRequest::Upstream { .. }))
}

/// The lines that let a plugin have the upstream that it asks for.
fn upstream(request: &GrantRequest) -> Option<Table> {
    match request {
        GrantRequest::Upstream {
            command,
            url,
            secrets,
        } => Some(upstream_table(command, url.as_deref(), secrets)),
        _ => None,
    }
}

/// Returns the text on what is about to be granted, a line each, for the user who is asked: a
/// plugin has written some of it.
fn granted(grants: &Grants, upstream: Option<&GrantRequest>) -> String {
    let mut lines = Vec::new();
    for grant in &grants.fs {
        let path = grant.path.to_string_lossy();
        let mode = match grant.mode {
            FsMode::ReadOnly => "read",
            FsMode::ReadWrite => "read and write",
        };
        let real = match grant.path.canonicalize() {
            Ok(real) if real != grant.path => format!(" (which is {})", real.display()),
            _ => String::new(),
        };
        lines.push(format!("{mode} the folder {path}{real}"));
    }
    for name in &grants.env {
        lines.push(format!("see the environment variable {name}"));
    }
    if let Some(GrantRequest::Upstream {
        command,
        url,
        secrets,
    }) = upstream
    {
        let words: Vec<_> = command
            .iter()
            .map(|word| review::shell_word(word))
            .collect();
        lines.extend((!words.is_empty()).then(|| format!("run {}", words.join(" "))));
        lines.extend(url.iter().map(|url| format!("connect to {url}")));
        for name in secrets {
            lines.push(format!("be given your environment's {name}"));
        }
    }
    lines
        .iter()
        .map(|line| format!("  {}\n", visible_line(line)))
        .collect()
}

/// Returns the text on what has been added, and on what it lacks.
fn told(server: &str, entry: &Entry, grants: &Grants, upstream: bool) -> anyhow::Result<String> {
    let listing = &entry.listing;
    let mut text = describe::headline(
        listing.title.as_ref().or(listing.name.as_ref()),
        listing.version.as_ref(),
        listing.description.as_ref(),
    );
    if !text.is_empty() {
        text.push('\n');
    }
    for tool in &listing.tools {
        let shown = names::shown(server, None, &tool.name);
        let described = describe::Tool::new(&tool.tool, &shown);
        text.push_str(&format!(
            "  {}  {}\n",
            output::styled(output::STRONG, shown),
            output::first_line(&described.description, 80)
        ));
    }
    // Each of these is one of a few; tools are what a plugin is mostly added for.
    let others: Vec<_> = [
        (listing.prompts.len(), "prompt"),
        (
            listing.resources.len() + listing.templates.len(),
            "resource",
        ),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| output::counted(count as u64, what))
    .collect();
    if !others.is_empty() {
        text.push_str(&format!("It offers {}.\n", others.join(" and ")));
    } else if listing.tools.is_empty() {
        text.push_str("It offers nothing.\n");
    }
    text.push_str(&describe::missing(
        server,
        &listing.grants,
        (grants, upstream),
    )?);
    Ok(text)
}

fn server_name(text: &str) -> Result<String, String> {
    name::check(text)
        .map(|()| text.to_owned())
        .map_err(|bad| format!("{bad}\nhint: {}", bad.hint()))
}

fn folder(text: &str) -> Result<FsGrant, String> {
    let (path, mode) = match text.rsplit_once(':') {
        Some((path, "ro")) => (path, FsMode::ReadOnly),
        Some((path, "rw")) => (path, FsMode::ReadWrite),
        _ => (text, FsMode::ReadOnly),
    };
    let path =
        std::path::absolute(path).map_err(|error| format!("`{path}` is no path: {error}"))?;
    if !path.is_dir() {
        return Err(format!("there is no folder `{}`", path.display()));
    }
    // What is recorded and shown is what the folder is, and not a way to it that may
    // lead to another one later.
    let path = real_path(&path);
    Ok(FsGrant {
        real: Some(path.clone()),
        path,
        mode,
    })
}

fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains('=') {
        return Err(
            "this is no name of an environment variable\nhint: write only the name, like `TZ`"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_granted_to_read_unless_more_is_said() {
        let folder_ = tempfile::tempdir().unwrap();
        let path = folder_.path();
        let text = path.to_str().unwrap();
        for (suffix, mode) in [
            ("", FsMode::ReadOnly),
            (":ro", FsMode::ReadOnly),
            (":rw", FsMode::ReadWrite),
        ] {
            let grant = folder(&format!("{text}{suffix}")).unwrap();
            assert_eq!((grant.path.as_path(), grant.mode), (path, mode));
        }
        assert_eq!(
            folder(&format!("{text}:wr")).unwrap_err(),
            format!("there is no folder `{text}:wr`")
        );
        assert!(folder("").is_err());
    }
}
