//! Listing of a bridged server, made of the record of its upstream.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing, NonconformingItem, Provenance, What};
use dormouse_config::{Bridge, ChangePolicy, Filter};
use dormouse_wit::{Declaration, DeclaredTool};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::roster::client_meta::{LARGEST_RESULT_SIZE, MAX_RESULT_SIZE, SEARCH_HINT};
use crate::store::{
    FailedStart, Gated, KnownUpstream, Pending, PendingItem, Treatment, frozen_tool,
};

/// Name of the only tool of a server of which nothing is known yet.
pub(in super::super) const DISCOVER: &str = "discover";

/// Returns the listing that a bridged server shows.
pub(super) fn listing(
    server: &str,
    bridge: &Bridge,
    known: Option<&KnownUpstream>,
    failed: Option<&FailedStart>,
) -> Arc<Listing> {
    match known {
        Some(known) => filtered(&approved(known, &bridge.changes), &bridge.filter),
        None if !has_stubs(bridge) => made(vec![discover(server, failed)]),
        None => {
            let stubs = bridge.stubs.iter().map(|name| stub(server, name));
            filtered(&made(stubs.collect()), &bridge.filter)
        }
    }
}

/// Checks whether tools of a server are named by which it is connected. Whoever has named them may be
/// another than who takes some of them out.
pub(super) fn has_stubs(bridge: &Bridge) -> bool {
    let filter = bridge.filter.of_tools();
    bridge.stubs.iter().any(|name| filter.shows(name))
}

/// Returns an upstream's listing as its user has approved it, without the items that have changed
/// since and that the policy withholds.
fn approved(known: &KnownUpstream, changes: &ChangePolicy) -> Arc<Listing> {
    let is_withheld =
        |item: &&PendingItem| item.was.is_some() && item.treatment(changes) == Treatment::Withheld;
    let withheld: HashSet<(Gated, &str)> = known
        .pending
        .iter()
        .filter(is_withheld)
        .map(|item| (item.kind, item.name.as_str()))
        .collect();
    if withheld.is_empty() {
        return Arc::clone(&known.listing);
    }
    let mut shown = Listing::clone(&known.listing);
    let is_shown = |kind, name: &str| !withheld.contains(&(kind, name));
    shown.tools.retain(|tool| is_shown(Gated::Tool, &tool.name));
    shown
        .prompts
        .retain(|prompt| is_shown(Gated::Prompt, &prompt.key));
    shown
        .templates
        .retain(|template| is_shown(Gated::Template, &template.key));
    Arc::new(shown)
}

/// Returns the listing of a plugin in front of an upstream: its own declaration, with tools as
/// cautious as those of its upstream, and without those that the user does not want to be shown, and
/// the items that the policy withholds because their user has not approved them.
pub(super) fn adapted(
    declared: &Arc<Listing>,
    bridge: &Bridge,
    known: Option<&KnownUpstream>,
    pending: &Pending,
) -> Arc<Listing> {
    let approved = known.map(|known| as_approved(declared, &bridge.changes, known, pending));
    filtered(approved.as_ref().unwrap_or(declared), &bridge.filter)
}

fn as_approved(
    declared: &Arc<Listing>,
    changes: &ChangePolicy,
    known: &KnownUpstream,
    pending: &Pending,
) -> Arc<Listing> {
    let outdated: HashMap<&str, &ListedTool> = outdated(declared, known).collect();
    if pending.is_empty() && outdated.is_empty() && known.cautions.is_empty() {
        return Arc::clone(declared);
    }
    let mut waiting: HashMap<(Gated, &str), Vec<&PendingItem>> = HashMap::new();
    for item in pending.iter() {
        let of_name = waiting.entry((item.kind, &item.name)).or_default();
        of_name.push(item);
    }
    let is_shown = |kind, name: &str| {
        let items = waiting.get(&(kind, name)).into_iter().flatten();
        let mut treatments = items.map(|item| item.treatment(changes));
        treatments.all(|treatment| treatment != Treatment::Withheld)
    };
    let mut shown = Listing::clone(declared);
    shown.tools.retain_mut(|tool| {
        // One that is too long for the hints of what its upstream is now is not shown.
        if let Some(approved) = outdated.get(tool.name.as_str())
            && !tool.replace(frozen_tool(&tool.tool, &approved.tool))
        {
            return false;
        }
        if !is_shown(Gated::Tool, &tool.name) {
            return false;
        }
        let items = waiting.get(&(Gated::Tool, tool.name.as_str()));
        // A function of the component's own is what the component declares of it.
        let items = items.into_iter().flatten().filter(|_| !tool.is_typed());
        let cautions = known.cautions.get(&tool.name).into_iter().flatten();
        let cautions = cautions.filter(|_| !tool.is_typed()).map(AsRef::as_ref);
        let now: Vec<_> = items.map(|item| &*item.is).chain(cautions).collect();
        now.into_iter()
            .all(|now| tool.replace(frozen_tool(&tool.tool, now)))
    });
    shown
        .prompts
        .retain(|prompt| prompt.is_typed() || is_shown(Gated::Prompt, &prompt.key));
    shown
        .templates
        .retain(|template| template.is_typed() || is_shown(Gated::Template, &template.key));
    Arc::new(shown)
}

/// Returns the tools that a plugin in front of an upstream declares in another form than their user
/// has approved: each as approved, by its name. Functions of the plugin's own are left out, because
/// the plugin alone defines them.
pub(super) fn outdated<'k>(
    declared: &Listing,
    known: &'k KnownUpstream,
) -> impl Iterator<Item = (&'k str, &'k ListedTool)> {
    let tools = declared.tools.iter().filter(|tool| !tool.is_typed());
    let declared: HashMap<&str, &ListedTool> =
        tools.map(|tool| (tool.name.as_str(), tool)).collect();
    let approved = known.listing.tools.iter().filter(move |approved| {
        let declared = declared.get(approved.name.as_str());
        declared.is_some_and(|tool| !Gated::Tool.same(&approved.name, &tool.tool, &approved.tool))
    });
    approved.map(|tool| (tool.name.as_str(), tool))
}

/// Returns a listing of the tools that the user wants to be shown.
fn filtered(listing: &Arc<Listing>, filter: &Filter) -> Arc<Listing> {
    let filter = filter.of_tools();
    // What is odd about a tool that nobody wants is nobody's concern either.
    let wanted = |odd: &NonconformingItem| odd.what != What::Tool || filter.shows(&odd.name);
    let shows = |tool: &ListedTool| filter.shows(&tool.name);
    if listing.tools.iter().all(shows) && listing.odd.iter().all(wanted) {
        return Arc::clone(listing);
    }
    let mut shown = Listing::clone(listing);
    shown.tools.retain(shows);
    shown.odd.retain(wanted);
    Arc::new(shown)
}

/// Makes a listing of tools that are defined here.
pub(super) fn made(tools: Vec<(String, Value)>) -> Arc<Listing> {
    let tools = tools.into_iter().filter_map(|(name, tool)| {
        let tool = to_raw_value(&tool).ok()?;
        Some(DeclaredTool {
            name,
            tool,
            function: None,
        })
    });
    let declaration = Declaration {
        tools: tools.collect(),
        ..Declaration::default()
    };
    let listing = Listing::new(declaration, Provenance::Section);
    Arc::new(listing.unwrap_or_else(|_| Listing::empty()))
}

/// Returns the tool that connects a server. Why its last start has failed is in the tool's answer
/// alone: the server may have worded it, and its user has approved nothing of that for a list.
fn discover(server: &str, failed: Option<&FailedStart>) -> (String, Value) {
    let so_far = match failed {
        None => "has not been connected yet",
        Some(failed) if failed.needs_login => "wants its user to log in first",
        Some(_) => "could not be connected when it was last tried",
    };
    let failure = match failed {
        None => "",
        Some(_) => ", or with the reason for which it still cannot be connected",
    };
    let tool = json!({
        "name": DISCOVER,
        "title": format!("Discover {server}"),
        "description": format!(
            "The MCP server `{server}` {so_far}, so its tools are not known. \
             Call this once: it connects, answers with the signatures of all of its tools, and \
             from then on they can be called{failure}."
        ),
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": true },
        "_meta": {
            SEARCH_HINT: format!("connect MCP server {server} for the first time"),
            MAX_RESULT_SIZE: LARGEST_RESULT_SIZE,
        },
    });
    (DISCOVER.to_owned(), tool)
}

fn stub(server: &str, name: &str) -> (String, Value) {
    let tool = json!({
        "name": name,
        "description": format!(
            "A tool of the MCP server `{server}`, which has not been connected yet: what it does \
             and what arguments it takes is known after the first call of any of its tools."
        ),
        "inputSchema": { "type": "object" },
    });
    (name.to_owned(), tool)
}

#[cfg(test)]
mod tests {
    use dormouse_config::{Fingerprint, NewTools, OnChange};
    use dormouse_launch::{Launch, Stdio};
    use dormouse_upstream::Offered;
    use dormouse_wit::DeclaredItem;

    use super::*;
    use crate::store::{Selection, Store};

    /// A component that declares an older form of a tool is as cautious as the current form,
    /// whoever has approved that, and repeats nothing that it does not declare.
    #[test]
    fn a_component_is_as_careful_as_what_is_approved_of_its_upstream() {
        let tool = |description: &str, reads: bool| {
            json!({
                "name": "x", "description": description, "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": reads },
            })
        };
        let declared = made(vec![("x".to_owned(), tool("Reads.", true))]);
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("servers"));
        let of = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        for mode in [OnChange::Freeze, OnChange::Accept] {
            let changes = ChangePolicy::from(mode);
            for (description, reads) in [("Reads.", true), ("Deletes.", false)] {
                let offered = Offered {
                    tools: vec![to_raw_value(&tool(description, reads)).unwrap()],
                    ..Offered::default()
                };
                store
                    .learn(&of, offered, &changes, Some(&declared))
                    .unwrap();
                let pending = store.known(&of).unwrap().pending.digest();
                for is_approved in [false, true] {
                    if is_approved {
                        store.approve(&of, &pending, Selection::default()).unwrap();
                    }
                    let known = store.known(&of).unwrap();
                    let pending = known.pending.of_component(&declared);
                    let shown = as_approved(&declared, &changes, &known, &pending);
                    let shown: Value = serde_json::from_str(shown.tools[0].tool.get()).unwrap();
                    assert_eq!(shown["description"], "Reads.", "{mode:?}");
                    let hint = &shown["annotations"]["readOnlyHint"];
                    assert_eq!(*hint, reads, "{mode:?} {is_approved}");
                    let count = outdated(&declared, &known).count();
                    assert!(
                        count == usize::from(!reads),
                        "{mode:?} {is_approved}: {count}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_a_component_hands_on_waits_like_a_tool() {
        let prompt = |description: &str| {
            let object = json!({ "name": "p", "description": description });
            to_raw_value(&object).unwrap()
        };
        let declaration = Declaration {
            prompts: vec![DeclaredItem {
                key: "p".to_owned(),
                object: prompt("Asks."),
                function: None,
                subscribe: false,
            }],
            ..Declaration::default()
        };
        let declared = Arc::new(Listing::new(declaration, Provenance::Section).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("servers"));
        let of = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        for (mode, description, count, waits) in [
            (OnChange::Block, "Asks.", 1, 0),
            (OnChange::Block, "EVIL", 0, 1),
            (OnChange::Freeze, "EVIL", 1, 1),
        ] {
            let changes = ChangePolicy::from(mode);
            let offered = Offered {
                prompts: vec![prompt(description)],
                ..Offered::default()
            };
            store
                .learn(&of, offered, &changes, Some(&declared))
                .unwrap();
            let known = store.known(&of).unwrap();
            let pending = known.pending.of_component(&declared);
            assert_eq!(pending.len(), waits, "{mode:?} {description}");
            let shown = as_approved(&declared, &changes, &known, &pending);
            assert_eq!(shown.prompts.len(), count, "{mode:?} {description}");
            let declares =
                |prompt: &dormouse_catalog::ListedItem| prompt.object.get().contains("Asks.");
            assert!(shown.prompts.iter().all(declares));
        }
    }

    /// Other servers of the launch may take new tools as they come.
    #[test]
    fn what_a_component_declares_otherwise_is_new_to_nobody() {
        let tool = |description: &str| {
            let tool = json!({
                "name": "x", "description": description, "inputSchema": { "type": "object" },
            });
            ("x".to_owned(), tool)
        };
        let declared = made(vec![tool("Reads.")]);
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("servers"));
        let of = Fingerprint::of(&Launch::Stdio(Stdio::default()));
        let mut changes = ChangePolicy::from(OnChange::Block);
        changes.new_tools = NewTools::Show;
        for (seen, description, waits) in [
            (Some(&declared), "EVIL", 1),
            (None, "EVIL", 1),
            (Some(&declared), "Reads.", 0),
        ] {
            let (_, tool) = tool(description);
            let offered = Offered {
                tools: vec![to_raw_value(&tool).unwrap()],
                ..Offered::default()
            };
            store.learn(&of, offered, &changes, seen).unwrap();
            let known = store.known(&of).unwrap();
            let pending = known.pending.of_component(&declared);
            assert_eq!(pending.len(), waits, "{description}");
            // All of it is shown to who approves it: nobody has approved what is declared.
            let is_shown_whole = |item: &PendingItem| item.was.is_none() && item.before().is_some();
            assert!(pending.iter().all(is_shown_whole), "{pending:?}");
        }
    }
}
