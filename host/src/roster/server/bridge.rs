//! Listing of a bridged server, made of the record of its upstream.

use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing, NonconformingItem, Provenance, What};
use dormouse_config::{Bridge, Filter};
use dormouse_wit::{Declaration, DeclaredTool};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::approved_listing::ApprovedListing;
use crate::roster::client_meta::{LARGEST_RESULT_SIZE, MAX_RESULT_SIZE, SEARCH_HINT};
use crate::store::{FailedStart, Gated, KnownUpstream, Pending};

/// Name of the only tool of a server of which nothing is known yet.
pub(in super::super) const DISCOVER: &str = "discover";

/// Returns the listing of a bridged server, of which it shows the tools that the user wants to be shown.
pub(super) fn listing(
    server: &str,
    bridge: &Bridge,
    known: Option<&KnownUpstream>,
    failed: Option<&FailedStart>,
) -> ApprovedListing {
    let listing = match known {
        Some(known) => ApprovedListing::of_upstream(known, &bridge.changes),
        None if !has_stubs(bridge) => return made(vec![discover(server, failed)]).into(),
        None => {
            let stubs = bridge.stubs.iter().map(|name| stub(server, name));
            made(stubs.collect()).into()
        }
    };
    filtered(listing, &bridge.filter)
}

/// Checks whether tools of a server are named by which it is connected. Whoever has named them may be
/// another than who takes some of them out.
pub(super) fn has_stubs(bridge: &Bridge) -> bool {
    let filter = bridge.filter.of_tools();
    bridge.stubs.iter().any(|name| filter.shows(name))
}

/// Returns the listing of a plugin in front of an upstream: its own declaration, with tools as
/// cautious as those of its upstream, and without those that the user does not want to be shown, and
/// the items that the policy withholds because their user has not approved them.
pub(super) fn adapted(
    declared: &Arc<Listing>,
    bridge: &Bridge,
    known: Option<&KnownUpstream>,
    pending: &Pending,
) -> ApprovedListing {
    let listing = match known {
        Some(known) => ApprovedListing::of_component(declared, &bridge.changes, known, pending),
        None => Arc::clone(declared).into(),
    };
    filtered(listing, &bridge.filter)
}

/// Returns a listing of which the tools are shown that the user wants to be shown.
fn filtered(listing: ApprovedListing, filter: &Filter) -> ApprovedListing {
    let filter = filter.of_tools();
    let ApprovedListing {
        shown,
        mut withheld,
    } = listing;
    // What nobody would be shown once it is approved takes no name from others.
    withheld.retain(|item| item.kind != Gated::Tool || filter.shows(&item.name));
    // What is odd about a tool that nobody wants is nobody's concern either.
    let wanted = |odd: &NonconformingItem| odd.what != What::Tool || filter.shows(&odd.name);
    let shows = |tool: &ListedTool| filter.shows(&tool.name);
    if shown.tools.iter().all(shows) && shown.odd.iter().all(wanted) {
        return ApprovedListing { shown, withheld };
    }
    let mut shown = Listing::clone(&shown);
    shown.tools.retain(shows);
    shown.odd.retain(wanted);
    let shown = Arc::new(shown);
    ApprovedListing { shown, withheld }
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
    use dormouse_config::{ChangePolicy, Fingerprint, NewTools, OnChange};
    use dormouse_launch::{Launch, Stdio};
    use dormouse_upstream::Offered;
    use dormouse_wit::DeclaredItem;

    use super::*;
    use crate::roster::server::approved_listing::{WithheldItem, outdated};
    use crate::store::{PendingItem, Selection, Store};

    /// What its user has left out takes no name from other servers while it waits.
    #[test]
    fn what_is_left_out_is_not_withheld() {
        let item = |kind, name: &str| WithheldItem {
            kind,
            name: name.to_owned(),
            is_known: true,
        };
        let (out, prompt) = (item(Gated::Tool, "x"), item(Gated::Prompt, "x"));
        let waits = item(Gated::Tool, "y");
        let listing = ApprovedListing {
            shown: made(Vec::new()),
            withheld: vec![out, waits.clone(), prompt.clone()],
        };
        let filter = Filter {
            exclude: vec!["x".to_owned()],
            ..Filter::default()
        };
        assert_eq!(filtered(listing, &filter).withheld, [waits, prompt]);
    }

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
                    let ApprovedListing { shown, .. } =
                        ApprovedListing::of_component(&declared, &changes, &known, &pending);
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
            let ApprovedListing { shown, withheld } =
                ApprovedListing::of_component(&declared, &changes, &known, &pending);
            assert_eq!(shown.prompts.len(), count, "{mode:?} {description}");
            // Whoever goes by what is withheld hears of all that is not shown.
            let withheld = withheld.iter();
            let withheld: Vec<_> = withheld.map(|item| (&*item.name, item.is_known)).collect();
            let expected: &[_] = if count == 0 { &[("p", true)] } else { &[] };
            assert_eq!(withheld, expected, "{mode:?} {description}");
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
