//! Tests of the store of records, and what they have in common.

mod approval;
mod capabilities;
mod caution;
mod comparison;
mod files;
mod gone;
mod growth;
mod hints;
mod kinds_of_clients;
mod long_learning;
mod secrets;
mod unshown;
mod untold;

use dormouse_launch::{Launch, Stdio};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::*;

fn offered(tools: &[(&str, &str)]) -> Offered {
    let tools = tools.iter().map(|(name, description)| {
        let tool = json!({
            "name": name, "description": description, "x-odd": 1,
            "inputSchema": { "type": "object" }
        });
        to_raw_value(&tool).unwrap()
    });
    Offered {
        tools: tools.collect(),
        ..Offered::default()
    }
}

fn fixture() -> (tempfile::TempDir, Store, Fingerprint) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("servers"));
    let of = Fingerprint::of(&Launch::Stdio(Stdio::default()));
    (folder, store, of)
}

fn names(store: &Store, of: &Fingerprint) -> Vec<String> {
    let known = store.known(of).unwrap();
    let tools = known.listing.tools.iter();
    tools.map(|tool| tool.name.clone()).collect()
}

/// Returns the pending items, each as it is told.
fn pending(store: &Store, of: &Fingerprint) -> Vec<String> {
    let known = store.known(of).unwrap();
    known.pending.iter().map(ToString::to_string).collect()
}

/// Approves all pending items, as a user who has just seen them.
fn approve(store: &Store, of: &Fingerprint) -> Vec<String> {
    let shown = store.known(of).unwrap().pending.digest();
    let approved = store.approve(of, &shown, Selection::default()).unwrap();
    approved.iter().map(|item| item.name.clone()).collect()
}

/// Returns the descriptions of the tools that are shown.
fn descriptions(store: &Store, of: &Fingerprint) -> Vec<String> {
    let known = store.known(of).unwrap();
    let tools = known.listing.tools.iter();
    let read = tools.map(|tool| serde_json::from_str::<Value>(tool.tool.get()).unwrap());
    read.map(|tool| tool["description"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}
