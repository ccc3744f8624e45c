//! Adding a plugin.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use dormouse_catalog::CatalogEntry;
use dormouse_config::Configured;
use dormouse_config::discovery::itself;
use dormouse_config::edit::{Editor, component_table, upstream_table};
use dormouse_policy::Grants;
use dormouse_runtime::{NotOffered, Runtime};
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::visible_path;
use dormouse_wit::GrantRequest;
use toml_edit::Table;

use super::warn_of_others;
use crate::child_commands::compile_command;
use crate::cli::grant_args::{self, GrantArgs};
use crate::cli::plugin_inputs::{GivenInputs, InputArgs, ask_for_secrets, ask_for_settings};
use crate::cli::progress::ProgressLine;
use crate::cli::{component, consent, cost, describe, grant_requests, hosts, output};
use crate::roster::{Collision, HeldByPlugin, OfferKind, Places, Roster, folders, names};

/// Plugin that is to be added.
pub(super) struct Plugin<'a> {
    pub(super) name: &'a str,
    pub(super) file: &'a Path,
    pub(super) grants: GrantArgs,
    pub(super) inputs: InputArgs,
    pub(super) grant_upstream: bool,
    /// Whether its user has agreed to the grants already.
    pub(super) is_agreed: bool,
    /// Whether it may replace a server of that name.
    pub(super) replaces: bool,
}

impl Plugin<'_> {
    pub(super) fn add(self, places: &Places) -> anyhow::Result<ExitCode> {
        let name = self.name;
        let file = std::path::absolute(self.file).context("the plugin's path is none")?;
        let entry = component::entry(&file)?;
        let errors = component::errors(&file)?;
        if !errors.is_empty() {
            let errors: String = errors.iter().map(|error| format!("\n{error}")).collect();
            bail!(
                "`{}` is no plugin that works, so it is not added{errors}",
                visible_path(&file)
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
        let requests = &entry.listing.grants;
        let mut given = self.inputs.given(places, name, requests)?;
        let mut grants = self.grants.grants();
        self.ask_for_inputs(places, requests, &grants, &mut given)?;
        grants.fs.append(&mut given.folders);
        folders::check(places, name, &grants)?;
        let requested = entry.listing.upstream_request();
        let requested = requested.filter(|_| self.grant_upstream);
        grant_requests::warn_of_beyond(&grants, &entry.listing.grants);
        let mut granted = grant_args::shown(&grants, &given.secrets, requested);
        granted.push_str(&grant_args::listed(&given.in_words()));
        if !granted.is_empty()
            && !grant_args::shown_and_agreed(places, name, &granted, self.is_agreed)?
        {
            return Ok(ExitCode::FAILURE);
        }
        self.grant_requested(places, requests, &given, &mut grants)?;
        let upstream = requested.and_then(upstream);
        let has_upstream = upstream.is_some();
        given.keep_texts(&places.data)?;
        let editor = Editor::new(&places.config)?;
        let mut table = component_table(&file, &grants, upstream)?;
        given.inputs.put_into(&mut table)?;
        editor.add(name, table, self.replaces)?;
        grant_args::record(places, &grants)?;
        output::say(&format!(
            "added `{name}` to {}",
            visible_path(&places.config)
        ));
        let roster = Roster::open(places.clone())?;
        // What was read of it is not read again by the next host.
        roster.save();
        let configured = roster.configured()?;
        warn_of_others(&configured, name, places);
        for (servers, doubt) in folders::doubts(&configured) {
            if servers.iter().any(|server| server == name) {
                output::warn(&doubt);
            }
        }
        given.warn_of_missing_texts(&places.data);
        let held = HeldByPlugin {
            has_upstream,
            ..given.held(&grants)
        };
        output::print(&told(name, &entry, held)?)?;
        if !has_upstream && entry.listing.upstream_request().is_some() {
            let file = shell_word(self.file.as_os_str());
            output::say(&format!(
                "`{name}` does nothing before it may use that MCP server\n\
                 hint: `dormouse add {name} {file} --grant-upstream --force` grants it"
            ));
        } else if !has_client(&configured) {
            output::say(
                "hint: `dormouse install CLIENT` has an agent use it: no client of yours runs Dormouse yet",
            );
        }
        cost::count_tokens(&roster);
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Asks for the settings and secrets that the plugin asks for, where somebody can be asked.
    ///
    /// # Errors
    /// It needs one that has no value, and its user has agreed to take it as it is.
    fn ask_for_inputs(
        &self,
        places: &Places,
        requests: &[GrantRequest],
        grants: &Grants,
        given: &mut GivenInputs,
    ) -> anyhow::Result<()> {
        if !self.is_agreed && consent::can_ask() {
            ask_for_settings(requests, given)?;
            ask_for_secrets(places, self.name, requests, given)?;
        }
        given.read_secrets(self.name, &places.config)?;
        let name = self.name;
        let mut grants = grants.clone();
        grants.fs.extend(given.folders.iter().cloned());
        let mut missing = grant_requests::missing(requests, given.held(&grants));
        missing.retain(|one| one.is_needed);
        if let Some(options) = grant_requests::inputs_options(&missing).filter(|_| self.is_agreed) {
            bail!(
                "`{name}` is not added: it asks\n{}and does not work without\n\
                 hint: `{} {options} --yes`{}",
                grant_requests::told(&missing, false),
                this_command(),
                sources_in_words(&options),
            );
        }
        Ok(())
    }

    /// Grants what the plugin asks for and needs nothing of its user's but their consent, if they
    /// agree to that. Nothing where nobody can be asked.
    fn grant_requested(
        &self,
        places: &Places,
        wanted: &[GrantRequest],
        given: &GivenInputs,
        grants: &mut Grants,
    ) -> anyhow::Result<()> {
        let missing = grant_requests::missing(wanted, given.held(grants));
        let more = grant_requests::whole(&missing);
        if more == Grants::default() || !(self.is_agreed || consent::can_ask()) {
            return Ok(());
        }
        let name = self.name;
        let shown = format!("It asks\n{}", grant_requests::told(&missing, true));
        output::print(&shown)?;
        let question = format!("Grant this to `{name}`?");
        if grant_args::agreed_besides(places, name, &question, &shown, self.is_agreed)? {
            grants.env.extend(more.env);
            grants.http.extend(more.http);
            output::say(&format!("`{name}` is granted this"));
        }
        Ok(())
    }
}

/// Returns the command line that this process was started with, to be said again with more: but for
/// `--yes`, which stands last.
fn this_command() -> String {
    let words = std::env::args_os().skip(1);
    let words = words.filter(|word| word != "--yes" && word != "-y");
    let words = words.map(shell_word);
    let words: Vec<_> = std::iter::once("dormouse".to_owned())
        .chain(words)
        .collect();
    output::clean(&words.join(" ")).into_owned()
}

/// Returns what stands for `SOURCE` in these options, where it is in them.
fn sources_in_words(options: &str) -> &'static str {
    match options.contains(grant_requests::SOURCE) {
        true => {
            ", where SOURCE is `keyring:NAME`, `op://…`, `env:VARIABLE`, `file:PATH` or `command:…`"
        }
        false => "",
    }
}

/// Whether a client's file has Dormouse in it.
fn has_client(configured: &Configured) -> bool {
    let path = std::env::var("PATH").ok();
    let skipped = configured.found.skipped.iter();
    let mut skipped = skipped.filter_map(|entry| Some((entry, entry.unused.as_ref()?)));
    skipped.any(|(entry, unused)| {
        itself::is(&entry.written_name, &unused.written)
            || itself::is_this_program(&unused.written, path.as_deref(), None)
    })
}

/// Returns the collisions of the new server's items with those of another server.
fn taken(places: &Places, server: &str, entry: &CatalogEntry) -> anyhow::Result<Vec<Collision>> {
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
            kept_for: None,
        })
    };
    let tools = listing.tools.iter().filter_map(|tool| {
        let shown = names::shown(server, None, &tool.name);
        let theirs = snapshot
            .find(&shown)
            .map(|theirs| (theirs.server(), theirs.tool()));
        ours("tool", &shown, &tool.name, theirs)
    });
    // Resources of one URI are told apart by their servers.
    let prompts = listing.prompts.iter().filter_map(|prompt| {
        let shown = names::shown(server, None, &prompt.key);
        let theirs = snapshot.offers(OfferKind::Prompt).find(&shown)?;
        let own = theirs.declared().map_or("", |theirs| &theirs.key);
        ours("prompt", &shown, &prompt.key, Some((theirs.server(), own)))
    });
    Ok(tools.chain(prompts).collect())
}

/// Compiles and links a plugin ahead of its first call, as a check that it can be started. Returns
/// its imports that end it where they are called.
fn compile(places: &Places, file: &Path) -> anyhow::Result<Vec<NotOffered>> {
    let _progress = ProgressLine::new(&format!("compiling {}", visible_path(file)));
    let limits = dormouse_config::load(&places.config)?.limits;
    let runtime = Runtime::new(places.cache.clone(), compile_command);
    runtime.set_limits(&limits);
    runtime
        .prepare(file)
        .map_err(|why| anyhow::anyhow!("`{}` is not added: {why}", visible_path(file)))
}

/// Returns the configuration that grants a plugin the upstream that it requests.
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

/// Returns the text on the added server, and on the grants and settings that it lacks.
fn told(server: &str, entry: &CatalogEntry, held: HeldByPlugin<'_>) -> anyhow::Result<String> {
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
        let described = describe::ToolDescription::new(&tool.tool, &shown);
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
    text.push_str(&describe::missing(server, &listing.grants, held)?);
    let missing = grant_requests::missing(&listing.grants, held);
    if let Some(command) = grant_requests::grants_command(server, &missing) {
        text.push_str(&format!(
            "or this command:\n  {}\n",
            output::clean(&command)
        ));
    }
    Ok(text)
}
