//! The same features in the clients that agents are made of: the official SDKs of Python and
//! TypeScript, and fastmcp; each in every era that it speaks, over stdio and over HTTP.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod exposure;
mod inspector;
mod items;
mod odd;
mod progress;
mod questions;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};

use dormouse_tests::{Home, Sdk};
use serde_json::{Value, json};

/// Returns the text of a result. Its other members differ by era.
fn text(result: &Value) -> &str {
    dormouse_tests::client::text(result).unwrap_or_else(|| panic!("no text in {result}"))
}

fn is_error(result: &Value) -> bool {
    result["isError"] == json!(true)
}

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "do": "call", "tool": tool, "arguments": arguments })
}

fn names(items: &Value) -> Vec<&str> {
    items
        .as_array()
        .unwrap_or_else(|| panic!("no list but {items}"))
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}

macro_rules! features {
    ($($module:ident::$feature:ident)*) => {
        &[$((
            concat!(stringify!($module), "::", stringify!($feature)),
            $module::$feature,
        )),*]
    };
}

/// Feature of MCP, by its name.
type Feature = (&'static str, fn(Sdk));

const FEATURES: &[Feature] = features! {
    tools::are_listed_and_called tools::are_replaced
    progress::is_heard progress::ends_with_a_cancelled_call
    questions::are_answered questions::confirm_calls
    exposure::tools_are_searched_described_and_called
    exposure::tools_are_loaded_for_one_session_alone
    exposure::what_cannot_be_called_is_not_found
    items::prompts_are_got items::resources_are_read
    odd::items_cost_nobody_the_others
};

/// Runs each feature with a client, one after the other: starting the client takes longer than most
/// of them. Fails with the names of all that fail, each of which has said why by then.
fn features_work(sdk: Sdk) {
    let fails = |feature: &fn(Sdk)| catch_unwind(AssertUnwindSafe(|| feature(sdk))).is_err();
    let failed: Vec<_> = FEATURES
        .iter()
        .filter(|(_, feature)| fails(feature))
        .map(|(name, _)| *name)
        .collect();
    assert!(failed.is_empty(), "{sdk:?}: {failed:?}");
}

macro_rules! clients {
    ($($module:ident = $name:literal $mode:literal;)*) => {
        $(mod $module {
            const SDK: crate::Sdk = crate::Sdk::new($name, $mode);

            #[test]
            fn over_stdio() {
                crate::features_work(SDK);
            }

            #[test]
            fn over_http() {
                crate::features_work(SDK.over_http());
            }
        })*
    };
}

// TypeScript's first major version knows no other era than the legacy one; all
// others speak both.
clients! {
    python = "python" "auto";
    python_modern = "python" "2026-07-28";
    python_legacy = "python" "legacy";
    fastmcp = "fastmcp" "auto";
    fastmcp_legacy = "fastmcp" "legacy";
    typescript_1 = "v1" "legacy";
    typescript_2 = "v2" "auto";
    typescript_2_modern = "v2" "2026-07-28";
    typescript_2_legacy = "v2" "legacy";
}
