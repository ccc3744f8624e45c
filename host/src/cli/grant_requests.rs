//! Grants that a plugin asks for: which of them it does not have, how they are granted, and what it has
//! beyond them.

use std::collections::BTreeSet;

use dormouse_config::edit;
use dormouse_policy::{FsGrant, FsMode, Grants, HttpGrant};
use dormouse_runtime::is_for_internet;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::{authors_reason, visible_line};
use dormouse_wit::{GrantRequest, RequestFault};
use toml_edit::Table;

use super::{grant_args, output};
use crate::roster::{
    HeldByPlugin, requested_http, requested_secret_in_words, secret_option, setting_in_words,
    setting_option,
};

/// Placeholder for a user's own folder in a line that is shown to them.
const FOLDER: &str = "/path/to/folder";

/// Placeholder for the place that a secret's text comes from, in such a line.
pub(super) const SOURCE: &str = "SOURCE";

/// Most requests that are told one by one.
const MAX_MISSING: usize = 100;

/// Most requests for HTTP grants that one message names.
const MAX_NAMED: usize = 5;

/// Grant that a plugin asks for and does not have.
pub(super) struct MissingGrant {
    /// Purpose of the grant, such as `to read a folder`; its author has written some of it.
    pub(super) what: String,
    /// Reason in its author's words, on one line; empty where there is none.
    pub(super) why: String,
    /// Grants that it asks for, with a placeholder for a folder; none for an upstream.
    grants: Grants,
    /// Option that sets the setting or gives the secret that it asks for.
    input: Option<String>,
    /// Whether it is a secret.
    is_secret: bool,
    /// Table of the upstream that it asks for.
    upstream: Option<Table>,
    /// Whether the plugin does not work without it.
    pub(super) is_needed: bool,
    /// Whether nothing is missing but the user's consent: no folder of theirs, and no decision on
    /// how far a pattern of hosts reaches.
    is_whole: bool,
}

/// Returns what a plugin asks for and does not have. Of much the first is there, what it needs before all
/// else, and how much more there is: nobody would read it.
pub(super) fn missing(wanted: &[GrantRequest], held: HeldByPlugin<'_>) -> Vec<MissingGrant> {
    let lacking = wanted.iter().filter(|request| !held.has(request));
    let mut lacking: Vec<_> = lacking.collect();
    let more = lacking.len().saturating_sub(MAX_MISSING);
    if more > 0 {
        lacking.sort_by_key(|request| !held.needs(request));
        lacking.truncate(MAX_MISSING);
    }
    let missing = lacking.into_iter().map(|request| MissingGrant {
        is_needed: held.needs(request),
        ..MissingGrant::new(request)
    });
    let more = (more > 0).then(|| MissingGrant::more(more));
    missing.chain(more).collect()
}

/// Returns the grants that a plugin asks for and that need nothing of its user but their consent, each
/// once.
pub(super) fn whole(missing: &[MissingGrant]) -> Grants {
    let whole = || missing.iter().filter(|missing| missing.is_whole);
    let mut all = Grants::default();
    let mut known = BTreeSet::new();
    for missing in whole() {
        let Grants { fs: _, env, http } = &missing.grants;
        let env = env.iter().filter(|name| known.insert((*name).clone()));
        all.env.extend(env.cloned());
        // No name has a colon and two slashes.
        let http = http.iter().filter(|grant| known.insert(grant.to_string()));
        all.http.extend(http.cloned());
    }
    all
}

/// Returns the text on requests, a line each, for a user who is asked about those that are whole.
pub(super) fn told(missing: &[MissingGrant], of_whole: bool) -> String {
    let missing = missing.iter().filter(|one| one.is_whole || !of_whole);
    missing.map(|one| format!("  {}\n", one.told())).collect()
}

/// Returns the command that grants a server what is missing, with placeholders for folders, values
/// and sources; none where only an upstream is, or nothing that can be granted.
pub(super) fn command<'m>(
    server: &str,
    missing: impl IntoIterator<Item = &'m MissingGrant>,
) -> Option<String> {
    let missing = missing.into_iter();
    let options = missing.flat_map(|one| grants_of(one).chain(one.input.clone()));
    in_command(server, options.collect())
}

/// Returns the command for the grants among what is missing.
pub(super) fn grants_command(server: &str, missing: &[MissingGrant]) -> Option<String> {
    in_command(server, missing.iter().flat_map(grants_of).collect())
}

/// Returns the command for the settings and secrets among what is missing.
pub(super) fn inputs_command(server: &str, missing: &[MissingGrant]) -> Option<String> {
    in_command(server, inputs_of(missing))
}

/// Returns the options for the settings and secrets among what is missing, for a command that asks
/// nobody; none where there are none.
pub(super) fn inputs_options(missing: &[MissingGrant]) -> Option<String> {
    let inputs = missing.iter().filter_map(|one| {
        let input = one.input.as_ref()?;
        // A secret without a source is asked for.
        let lacks_source = one.is_secret && !input.ends_with("=login");
        Some(match lacks_source {
            true => format!("{input}={SOURCE}"),
            false => input.clone(),
        })
    });
    let options: Vec<_> = inputs.collect();
    (!options.is_empty()).then(|| options.join(" "))
}

fn grants_of(missing: &MissingGrant) -> impl Iterator<Item = String> {
    grant_args::options(&missing.grants).into_iter()
}

fn inputs_of(missing: &[MissingGrant]) -> Vec<String> {
    missing.iter().filter_map(|one| one.input.clone()).collect()
}

fn in_command(server: &str, options: Vec<String>) -> Option<String> {
    let is_any = !options.is_empty();
    is_any.then(|| format!("dormouse grant {server} {}", options.join(" ")))
}

/// Returns the HTTP grants that go beyond what a plugin asks for, where it asks for any.
pub(super) fn beyond<'g>(granted: &'g Grants, wanted: &[GrantRequest]) -> Vec<&'g HttpGrant> {
    let requests: Vec<_> = requested_http(wanted).map(|(request, _)| request).collect();
    let grants = granted.http.iter();
    let beyond = grants.filter(|grant| !requests.is_empty() && !grant.is_within(&requests));
    beyond.collect()
}

/// Warns of HTTP grants that go beyond what a plugin asks for.
pub(super) fn warn_of_beyond(granted: &Grants, wanted: &[GrantRequest]) {
    let beyond = beyond(granted, wanted);
    if beyond.is_empty() {
        return;
    }
    let mut named: Vec<_> = requested_http(wanted)
        .map(|(request, _)| format!("`{request}`"))
        .collect();
    let more = named.len().saturating_sub(MAX_NAMED);
    named.truncate(MAX_NAMED);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    for grant in beyond {
        output::warn(&format!(
            "`{grant}` is more than the plugin asks for, which is {}",
            named.join(", ")
        ));
    }
}

/// Returns the purpose of a request that nobody can grant.
fn unusable(fault: RequestFault) -> String {
    format!("for what nobody can grant: {fault}")
}

impl MissingGrant {
    /// Returns what stands for so many others.
    fn more(count: usize) -> Self {
        Self {
            what: format!("for {count} more, which are not shown"),
            ..Self::new(&GrantRequest::Other)
        }
    }

    fn new(request: &GrantRequest) -> Self {
        let mut grants = Grants::default();
        let mut upstream = None;
        let mut input = None;
        let mut is_whole = false;
        let (what, why) = match request {
            GrantRequest::Fs { write, why } => {
                let (mode, what) = match write {
                    true => (FsMode::ReadWrite, "to read and write a folder"),
                    false => (FsMode::ReadOnly, "to read a folder"),
                };
                grants.fs.push(FsGrant {
                    path: FOLDER.into(),
                    real: None,
                    mode,
                });
                (what.to_owned(), why.as_str())
            }
            GrantRequest::Env { name, why } => {
                is_whole = grant_args::variable(name).is_ok();
                if is_whole {
                    grants.env.push(name.clone());
                }
                (
                    format!("to see the environment variable `{name}`"),
                    why.as_str(),
                )
            }
            GrantRequest::Http { origin, why } => match origin.parse::<HttpGrant>() {
                Ok(grant) => {
                    // How many hosts there are, and what is in their network, is for their user.
                    is_whole = is_for_internet(&grant);
                    let what = format!("to send {}", grant.in_words());
                    grants.http.push(grant);
                    (what, why.as_str())
                }
                Err(_) => (unusable(RequestFault::HttpRequests), why.as_str()),
            },
            GrantRequest::Upstream {
                command,
                url,
                secrets,
            } => {
                upstream = Some(edit::upstream_table(command, url.as_deref(), secrets));
                let what = match url {
                    Some(url) => format!("to reach the MCP server at `{url}`"),
                    None => {
                        let words: Vec<_> = command.iter().map(shell_word).collect();
                        format!("to run the MCP server `{}`", words.join(" "))
                    }
                };
                (what, "")
            }
            GrantRequest::Setting(setting) => {
                input = Some(setting_option(setting));
                (setting_in_words(setting), setting.description.as_str())
            }
            GrantRequest::Secret(secret) => {
                input = Some(secret_option(secret));
                (
                    requested_secret_in_words(secret),
                    secret.description.as_str(),
                )
            }
            GrantRequest::Unusable { fault } => (unusable(*fault), ""),
            GrantRequest::Other => (
                "for something that only a newer Dormouse knows".to_owned(),
                "",
            ),
        };
        Self {
            what,
            why: authors_reason(why),
            grants,
            input,
            is_secret: matches!(request, GrantRequest::Secret(_)),
            upstream,
            is_needed: false,
            is_whole,
        }
    }

    /// Returns the line that a user is shown.
    pub(super) fn told(&self) -> String {
        let why = match self.why.as_str() {
            "" => String::new(),
            why => format!(": {why}"),
        };
        format!("{}{why}", visible_line(&self.what))
    }

    /// Returns the command that grants it to a server.
    pub(super) fn command(&self, server: &str) -> Option<String> {
        command(server, [self])
    }

    /// Returns the lines of a configuration that grant a server all of this.
    pub(super) fn lines(server: &str, missing: &[Self]) -> anyhow::Result<String> {
        let mut lines = String::new();
        let mut grants = Grants::default();
        for one in missing {
            grants.fs.extend(one.grants.fs.iter().cloned());
            grants.env.extend(one.grants.env.iter().cloned());
            grants.http.extend(one.grants.http.iter().cloned());
        }
        let upstream = missing.iter().rev().find_map(|one| one.upstream.as_ref());
        if let Some(upstream) = upstream {
            lines.push_str(&format!("[servers.{server}]\n{upstream}"));
        }
        if let Some(table) = edit::grants_table(&grants)? {
            lines.push_str(&format!("[servers.{server}.grants]\n{table}"));
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests;
