//! Servers that stay in their clients' files, because their clients would be shown less or more of
//! them by Dormouse than is right.

use std::collections::BTreeMap;

use super::decision::{ImportAction, ImportDecision};
use crate::discovery::{Discovery, FoundServer, UnreadRules};
use crate::{Config, ServerConfig};

/// Removes the servers of clients whose rules cannot be read: they would be taken over without what
/// their clients deny of them. Returns sentences on the removed servers.
pub(super) fn take_out_unread(
    decisions: &mut Vec<ImportDecision>,
    discovery: &Discovery,
) -> Vec<String> {
    let mut told = Vec::new();
    decisions.retain(|decision| {
        let mut all = found_of(decision, discovery);
        let unread = all.find_map(|(_, found)| Some((found, unread(found, discovery)?)));
        let Some((found, unread)) = unread.filter(|_| decision.action != ImportAction::Keep) else {
            return true;
        };
        told.push(format!(
            "`{}` of {} is not taken over: {}\nhint: {}",
            found.written_name.escape_debug(),
            found.server.origin,
            unread.told(),
            unread.hint(),
        ));
        false
    });
    told
}

/// Removes the servers in whose place their clients take entries that cannot be used: these may deny
/// them. Returns sentences on the removed servers.
pub(super) fn take_out_behind_unusable(
    decisions: &mut Vec<ImportDecision>,
    discovery: &Discovery,
) -> Vec<String> {
    let mut told = Vec::new();
    decisions.retain(|decision| {
        let mut all = found_of(decision, discovery);
        let behind = all.find_map(|(index, found)| {
            let why = behind_unusable(index, found, discovery)?;
            Some((found, why))
        });
        let Some((found, why)) = behind.filter(|_| decision.action != ImportAction::Keep) else {
            return true;
        };
        told.push(format!(
            "`{}` of {} is not taken over: {why}",
            found.written_name.escape_debug(),
            found.server.origin,
        ));
        false
    });
    told
}

/// Returns the servers that are not to leave their clients' files, by their indexes among those that
/// were found, with the reasons: what follows "because".
pub(super) fn staying(
    decisions: &[ImportDecision],
    discovery: &Discovery,
    config: &Config,
) -> BTreeMap<usize, String> {
    let mut staying = BTreeMap::new();
    for decision in decisions {
        let after = after(decision, &discovery.found, config);
        for (index, found) in found_of(decision, discovery) {
            let unread = unread(found, discovery);
            let unread = unread.map(|unread| format!("{}\nhint: {}", unread.told(), unread.hint()));
            let behind = || behind_unusable(index, found, discovery);
            let hidden = || hidden(&decision.name, found, after.as_ref()?);
            let unheard = || unheard(&decision.name, found, after.as_ref()?);
            if let Some(why) = unread.or_else(behind).or_else(hidden).or_else(unheard) {
                staying.insert(index, why);
            }
        }
    }
    staying
}

fn found_of<'d>(
    decision: &'d ImportDecision,
    discovery: &'d Discovery,
) -> impl Iterator<Item = (usize, &'d FoundServer)> {
    let all = decision.found.iter();
    all.filter_map(|index| Some((*index, discovery.found.get(*index)?)))
}

fn unread<'d>(found: &FoundServer, discovery: &'d Discovery) -> Option<&'d UnreadRules> {
    let mut unread = discovery.unread.iter();
    unread.find(|unread| Some(unread.client) == found.server.origin.client)
}

/// Returns the reason why a client does not have a server that is in its files: it takes an entry of a
/// later one that cannot be used.
fn behind_unusable(index: usize, found: &FoundServer, discovery: &Discovery) -> Option<String> {
    let entry = discovery.unusable_in_place_of(index)?;
    let client = found.server.origin.client?;
    Some(format!(
        "{client} takes another entry of that name instead, which cannot be used as it is: {}\n\
         hint: mend that one, and import again",
        entry.origin
    ))
}

/// Returns a server as it is in `dormouse.toml` after the import, all rules of clients in it.
fn after(
    decision: &ImportDecision,
    found: &[FoundServer],
    config: &Config,
) -> Option<ServerConfig> {
    if decision.action == ImportAction::Keep {
        let mut server = config.servers.get(&decision.name)?.clone();
        let more = decision.more_rules(found, &server);
        let bridge = server.bridge_mut()?;
        for (client, rule) in more.iter() {
            bridge.rules.restrict(client, rule.clone());
        }
        return Some(server);
    }
    let mut server = found.get(*decision.found.first()?)?.server.clone();
    if let Some(said) = decision.said(found) {
        server.enabled = said.enabled;
        let bridge = server.bridge_mut()?;
        bridge.filter = said.filter;
        bridge.rules = said.rules;
    }
    // Only a table without a launch is kept when the server comes into it.
    if let Some(overlay) = config.overlays.get(&decision.name) {
        overlay.apply(&mut server).ok()?;
    }
    Some(server)
}

/// Returns the reason why a client would be shown nothing of a server by Dormouse, although it has
/// it in its own file.
fn hidden(name: &str, found: &FoundServer, after: &ServerConfig) -> Option<String> {
    let client = found.server.origin.client?;
    let own = found.server.bridge()?;
    if !found.server.enabled || own.filter.shows_none() {
        return None;
    }
    let shown = after.for_client(Some(client));
    let (what, hint) = if !after.enabled {
        let hint = format!("`dormouse enable {name}`");
        ("is switched off".to_owned(), hint)
    } else if !shown.enabled {
        let hint = "take `enabled = false` out of its `clients`".to_owned();
        (format!("is off for {client}"), hint)
    } else if shown.bridge()?.filter.shows_none() {
        let hint = "change its `include_tools` and `exclude_tools`".to_owned();
        (format!("shows no tools to {client}"), hint)
    } else {
        return None;
    };
    Some(format!(
        "`{name}` in dormouse.toml {what}\nhint: {hint}, and import again"
    ))
}

/// Returns the reason why a client would be shown more of a server by Dormouse than it has now: its
/// settings deny tools by rules that only it hears, and `dormouse.toml` takes none out for it.
fn unheard(name: &str, found: &FoundServer, after: &ServerConfig) -> Option<String> {
    let keys = found.unheard.as_deref()?;
    let client = found.server.origin.client?;
    let own = &found.server.bridge()?.filter;
    let mut both = own.clone();
    both.restrict(&after.for_client(Some(client)).bridge()?.filter);
    (found.server.enabled && both == *own).then(|| {
        format!(
            "`{keys}` of {client} denies tools, which only {client} hears\nhint: take them out of \
             `[servers.{name}]` in dormouse.toml with `exclude_tools`, and import again"
        )
    })
}
