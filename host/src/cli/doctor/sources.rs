//! Checks of `dormouse doctor` on the files that servers are found in.

use std::collections::BTreeSet;

use dormouse_config::discovery::SourceState;
use dormouse_config::{Client, Configured, Scope};
use dormouse_text::visible::{visible_line, visible_path};

use super::Rows;
use crate::cli::output;

impl Rows {
    /// Reports every file, the servers in it, and which of them override others.
    pub(super) fn sources(&mut self, all: &Configured) {
        let mut missing = 0;
        // Several clients read some files, and one says several things of a place.
        let mut told = BTreeSet::new();
        for source in &all.found.sources {
            let profile = source.profile.as_ref();
            let profile = profile.map(|name| format!(" (profile {})", name.escape_debug()));
            let about = format!(
                "{}{}{}",
                source.client,
                scope(&source.scope),
                profile.unwrap_or_default()
            );
            let shown = visible_path(&source.file);
            match &source.state {
                SourceState::Missing => missing += 1,
                SourceState::Read { servers, problems } => {
                    let is_unread = *servers == 0 && !problems.is_empty();
                    let servers = output::counted(*servers as u64, "server");
                    // Of a project that nobody trusts, nothing is repeated.
                    let trusted = all.is_trusted_scope(&source.scope);
                    if !trusted && !problems.is_empty() {
                        let what = "something in it cannot be read\nhint: `dormouse trust` in its \
                                    folder shows what";
                        self.warning(&about, format!("{shown}: {servers}; {what}"));
                        continue;
                    }
                    // Its problems say more than that there is no server in it.
                    if !is_unread {
                        self.ok(&about, format!("{shown}: {servers}"));
                    }
                    for problem in problems.iter().filter(|_| trusted) {
                        let problem = problem.to_string();
                        if told.insert(problem.clone()) {
                            self.warning(&about, problem);
                        }
                    }
                }
            }
        }
        let clients = match &all.discovery.clients {
            None => Client::all().collect(),
            Some(clients) => clients.clone(),
        };
        let names: Vec<_> = clients.iter().map(|client| client.name()).collect();
        if names.is_empty() {
            self.ok(
                "clients",
                "none is asked for its servers (`clients` in `[discovery]`)",
            );
        } else {
            let missing = output::counted(missing, "file");
            self.ok(
                "clients",
                format!(
                    "where two have a server of one name, the first in this order is taken, after \
                     dormouse.toml: {}; {missing} looked for and not there",
                    names.join(", ")
                ),
            );
        }
        let of_project = all.problems.iter();
        for problem in of_project.filter(|_| all.trusts_own_project()) {
            self.warning("project", problem.to_string());
        }
        let skipped = all.found.skipped.iter();
        for skipped in skipped.filter(|skipped| all.is_trusted(&skipped.origin)) {
            self.ok(
                "not taken",
                format!(
                    "`{}` of {}: {}",
                    visible_line(&skipped.written_name),
                    skipped.origin,
                    skipped.why
                ),
            );
        }
        for overridden in &all.overridden {
            self.ok(
                "overridden",
                format!(
                    "`{}` of {} by that of {}",
                    overridden.name, overridden.origin, overridden.by
                ),
            );
        }
        for (server, note) in &all.notes {
            self.ok(format!("server {server}"), note.clone());
        }
        for (name, overlay) in &all.stray {
            if let Some(taken) = all.same_as.get(name) {
                self.warning(
                    format!("server {name}"),
                    format!(
                        "`[servers.{name}]` at {} is about no server: what is called that is \
                         reached in the same way as `{taken}`, and is that one\n\
                         hint: call the table `[servers.{taken}]`",
                        overlay.origin
                    ),
                );
                continue;
            }
            self.warning(
                format!("server {name}"),
                format!(
                    "`[servers.{name}]` at {} names nothing to run, and no client has a server of that name\n\
                     hint: add a `component`, a `command` or a `url`, or remove it",
                    overlay.origin
                ),
            );
        }
    }
}

/// Returns the text on the scope of a file, where that is not all that its user does.
fn scope(scope: &Scope) -> &'static str {
    match scope {
        Scope::User => "",
        Scope::Managed => " (managed)",
        Scope::Local(_) => " (local)",
        Scope::Project(_) => " (project)",
    }
}
