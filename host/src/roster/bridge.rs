//! What a bridged server shows, by what is known of its upstream.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing, Odd, Provenance, What};
use dormouse_wit::signature::compact;
use dormouse_wit::{Declaration, DeclaredTool};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::line_diff;
use crate::config::{Bridge, Filter};
use crate::store::{Known, PendingItem};
use crate::visible::visible_line;

/// The one tool of a server of which nothing is known yet.
pub(super) const DISCOVER: &str = "discover";

/// What a bridged server shows.
pub(super) fn listing(server: &str, bridge: &Bridge, known: Option<&Known>) -> Arc<Listing> {
    match known {
        Some(known) => filtered(&known.listing, &bridge.filter),
        None if bridge.stubs.is_empty() => made(vec![discover(server)]),
        None => made(bridge.stubs.iter().map(|name| stub(server, name)).collect()),
    }
}

/// What a plugin in front of an upstream shows: what it declares, without the tools
/// of its upstream that are no longer what their user knows.
pub(super) fn adapted(declared: &Arc<Listing>, known: Option<&Known>) -> Arc<Listing> {
    let Some(known) = known.filter(|known| known.pending.tools().next().is_some()) else {
        return Arc::clone(declared);
    };
    let mut shown = Listing::clone(declared);
    let hidden: BTreeSet<&str> = known.pending.tools().collect();
    shown
        .tools
        .retain(|tool| !hidden.contains(tool.name.as_str()));
    Arc::new(shown)
}

/// The tools that the user wants to be shown.
fn filtered(listing: &Arc<Listing>, filter: &Filter) -> Arc<Listing> {
    // What is odd about a tool that nobody wants is nobody's concern either.
    let wanted = |odd: &Odd| odd.what != What::Tool || filter.shows(&odd.name);
    let shows = |tool: &ListedTool| filter.shows(&tool.name);
    if listing.tools.iter().all(shows) && listing.odd.iter().all(wanted) {
        return Arc::clone(listing);
    }
    let mut shown = Listing::clone(listing);
    shown.tools.retain(shows);
    shown.odd.retain(wanted);
    Arc::new(shown)
}

/// A listing of tools that are made here.
fn made(tools: Vec<(String, Value)>) -> Arc<Listing> {
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

fn discover(server: &str) -> (String, Value) {
    let tool = json!({
        "name": DISCOVER,
        "title": format!("Discover {server}"),
        "description": format!(
            "The MCP server `{server}` has not been connected yet, so its tools are not known. \
             Call this once: it connects, answers with the signatures of all of its tools, and \
             from then on they can be called."
        ),
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
        "annotations": { "readOnlyHint": true, "openWorldHint": true },
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

/// What a model is told of the tools that a server turned out to have.
pub(super) fn signatures(
    server: &str,
    listing: &Listing,
    shown: impl Fn(&str) -> String,
) -> String {
    let mut text = format!("Server `{server}` has {} tools:\n", listing.tools.len());
    for tool in &listing.tools {
        let object: Value = serde_json::from_str(tool.tool.get()).unwrap_or_default();
        let schema = |name: &str| object.get(name).filter(|schema| schema.is_object());
        let none = json!({});
        let input = schema("inputSchema").unwrap_or(&none);
        text.push_str("\n- ");
        text.push_str(&compact(&shown(&tool.name), input, schema("outputSchema")));
        let description = object.get("description").and_then(Value::as_str);
        if let Some(first) = description.and_then(|text| text.trim().lines().next()) {
            text.push_str("\n  ");
            text.extend(first.chars().take(200));
        }
    }
    text
}

/// What is new about something that an upstream offers, for whoever has to approve it: the
/// members of the object that are not the same, as they were and as they are. Nothing in it
/// moves a cursor or looks like something else.
#[must_use]
pub fn difference(item: &PendingItem) -> String {
    let members = |object: Option<&RawValue>| -> BTreeMap<String, Value> {
        let Some(object) = object else {
            return BTreeMap::new();
        };
        match serde_json::from_str(object.get()) {
            Ok(Value::Object(members)) => members.into_iter().collect(),
            // Instructions are a text.
            Ok(value) => [("text".to_owned(), value)].into(),
            Err(_) => BTreeMap::new(),
        }
    };
    let (was, is) = (members(item.was.as_deref()), members(Some(&item.is)));
    let new = if item.was.is_none() { ", new" } else { "" };
    let mut text = format!("{item}{new}\n");
    let names = was
        .keys()
        .chain(is.keys().filter(|name| !was.contains_key(*name)));
    let mut compare = |name: &str, before: &str, after: &str| {
        text.push_str(&format!("  {}\n", visible_line(name)));
        for (tag, line) in line_diff::lines(before, after) {
            let sign = match tag {
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
                similar::ChangeTag::Equal => ' ',
            };
            text.push_str(&format!("  {sign} {}\n", visible_line(line)));
        }
    };
    let told = |members: &BTreeMap<String, Value>, name: &str| match members.get(name) {
        None => String::new(),
        Some(Value::String(text)) => format!("{text}\n"),
        Some(value) => format!("{value:#}\n"),
    };
    let mut differs = false;
    for name in names.filter(|name| was.get(*name) != is.get(*name)) {
        differs = true;
        compare(name, &told(&was, name), &told(&is, name));
    }
    if !differs {
        // It is only written in another way.
        let was = item.was.as_deref().map_or("", RawValue::get);
        compare("as it is written", was, item.is.get());
    }
    text
}
