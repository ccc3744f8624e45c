//! A server's table in `dormouse.toml`.

use std::time::Duration;

use dormouse_launch::{Launch, OAuth};
use toml_edit::{Item, Table, Value};

use crate::discovery::FoundServer;
use crate::edit::{launch_keys, list, secret_table};
use crate::{Bridge, Client, ClientConsensus, Filter};

/// Combination of the files of all clients that have a server.
pub(super) struct CombinedClientFiles {
    /// Parts of the server that each of the clients is shown.
    pub(super) said: Option<ClientConsensus>,
    /// Longest time for the server's calls.
    pub(super) call_timeout: Duration,
}

/// Makes the table of a server that a client has, for `dormouse.toml`. `from` are the clients that
/// load it themselves, and so are not to be shown it a second time.
#[must_use]
pub(super) fn table(found: &FoundServer, from: &[Client], shown: &CombinedClientFiles) -> Table {
    let said = shown.said.as_ref();
    let (mut table, (secrets, texts)) = launch_keys(&found.own.launch);
    let mut put = |key: &str, value: Value| {
        table.insert(key, Item::Value(value));
    };
    let enabled = said.map_or(found.server.enabled, |said| said.enabled);
    if !enabled {
        put("enabled", false.into());
    }
    if let Some(bridge) = found.server.bridge() {
        let filter = said.map_or(&bridge.filter, |said| &said.filter);
        filters(bridge, filter, &mut put);
    }
    if let Some(rules) = said
        .map(|said| &said.rules)
        .filter(|rules| !rules.is_empty())
    {
        put("clients", Value::InlineTable(rules.value()));
    }
    if !from.is_empty() {
        let names: Vec<_> = from.iter().map(|client| client.name().to_owned()).collect();
        put("from", list(&names));
    }
    if !texts.is_empty() {
        table.insert(secrets, Item::Table(secret_table(texts)));
    }
    if let Launch::Http(http) = &found.own.launch
        && let Some(oauth) = oauth_table(&http.oauth)
    {
        table.insert("oauth", Item::Table(oauth));
    }
    let timeout = shown.call_timeout;
    if timeout != found.server.adapter.usual_limits().timeout {
        let mut limits = Table::new();
        limits.insert("timeout", Item::Value(duration(timeout).into()));
        table.insert("limits", Item::Table(limits));
    }
    let mut prefix = String::from("\n");
    let own = &found.own;
    let comments = own.unanswered.iter().chain(&own.notes);
    for comment in comments {
        // A stranger's text must not begin another line.
        let comment: String = comment.chars().filter(|c| !c.is_control()).collect();
        prefix.push_str(&format!("# {comment}\n"));
    }
    table.decor_mut().set_prefix(prefix);
    table
}

fn filters(bridge: &Bridge, filter: &Filter, put: &mut impl FnMut(&str, Value)) {
    if !bridge.stubs.is_empty() {
        put("tools", list(&bridge.stubs));
    }
    if let Some(include) = &filter.single_include() {
        put("include_tools", list(include));
    }
    if !filter.exclude.is_empty() {
        put("exclude_tools", list(&filter.exclude));
    }
    if let Some(timeout) = bridge.start_timeout {
        put("start_timeout", duration(timeout).into());
    }
}

/// Makes the table of OAuth settings, where there are any.
fn oauth_table(oauth: &OAuth) -> Option<Table> {
    let mut table = Table::new();
    for (key, text) in oauth.texts().filter(|_| !oauth.off) {
        table.insert(key, Item::Value(text.into()));
    }
    if !oauth.off && oauth.private_network {
        table.insert("private_network", Item::Value(true.into()));
    }
    if !oauth.off && !oauth.scopes.is_empty() {
        table.insert("scopes", Item::Value(list(&oauth.scopes)));
    }
    (!table.is_empty()).then_some(table)
}

/// Writes a duration as `dormouse.toml` reads it.
fn duration(duration: Duration) -> String {
    let milliseconds = duration.as_millis().max(1);
    if milliseconds.is_multiple_of(1000) {
        format!("{}s", milliseconds / 1000)
    } else {
        format!("{milliseconds}ms")
    }
}
