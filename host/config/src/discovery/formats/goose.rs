//! Goose: `extensions` in YAML, of which those of its own are no servers. Secrets
//! are named in `env_keys` and kept in its keyring; `timeout` is for a call, in
//! seconds.

use dormouse_launch::HttpTransport;

use crate::discovery::document::Node;
use crate::discovery::entries::dialect::{COMMON, EntryDialect, EntryOutcome};
use crate::discovery::entries::draft::{DraftText, Written};
use crate::discovery::entries::entry::{ServerEntry, Unit};
use crate::discovery::filling::expansion;

use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    command: "cmd",
    env: "envs",
    urls: &[("uri", HttpTransport::Auto)],
    call_timeout: Some(("timeout", Unit::Seconds)),
    include: Some("available_tools"),
    switch: Some("enabled"),
    expansion: expansion::GOOSE,
    ..COMMON
};

pub(super) fn read(entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    let mut outcome = DIALECT.read(entry);
    let EntryOutcome::Server(draft) = &mut outcome else {
        return outcome;
    };
    // An empty list is how Goose itself writes that nothing was chosen.
    draft.filter.include.take_if(|tools| tools.is_empty());
    let before = entry.reader.problem_count;
    let names = entry.texts("env_keys").unwrap_or_default();
    let keys = names.into_iter().map(|name| {
        let text = DraftText::Variable {
            name: name.clone(),
            prefix: "",
            needed: true,
        };
        (name, text)
    });
    match &mut draft.launch {
        Some(Written::Stdio(stdio)) => {
            for (name, text) in keys {
                stdio.env.entry(name).or_insert(text);
            }
        }
        Some(Written::Http(http)) => {
            http.env = keys.collect();
            http.env.extend(entry.table(DIALECT.env));
        }
        None => {}
    }
    if entry.reader.problem_count > before {
        return EntryOutcome::Bad(draft.launch.take().map(Box::new));
    }
    outcome
}

/// Returns the tools of a server that Goose's file of permissions denies, whoever has said so.
pub(in crate::discovery) fn denied(root: &Node, server: &str) -> Vec<String> {
    if root.is_no_table() || root.get("user").is_some_and(Node::is_no_table) {
        return tool_names::all();
    }
    let lists = root.members().iter();
    let lists = lists.filter_map(|whose| whose.node.get("never_allow"));
    // Goose's names of extensions have neither capitals nor spaces.
    let lower = server.to_lowercase();
    let key: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    let opens = [server, &lower, &key].map(|server| tool_names::open("", server, "__"));
    let mut opens = opens.to_vec();
    opens.dedup();
    tool_names::of_server(lists, &opens)
}
