//! Capabilities that a client has declared.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Capability;

/// The MCP extension of clients that show pages of servers (MCP Apps).
const PAGES: &str = "io.modelcontextprotocol/ui";

/// Most types of pages that are taken from one client.
const MAX_PAGE_TYPES: usize = 8;

/// Longest name of such a type, in bytes.
const MAX_PAGE_TYPE_BYTES: usize = 128;

/// Capabilities of a client (MCP `ClientCapabilities`): the questions that it can be asked, and
/// whether it shows pages. Two that mean the same are equal. An upstream may ask no more than that,
/// and some offer more to clients that can be asked more, or show pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeclaredCapabilities(Map<String, Value>);

impl DeclaredCapabilities {
    /// Makes the capabilities for listing what an upstream offers while nobody waits for a call:
    /// all questions, but no pages, because servers offer clients that show pages other things in
    /// place of those that all others get.
    pub fn all() -> Self {
        Self::with(|_| true)
    }

    /// Makes the capabilities of a client that has declared these.
    pub fn declared(members: &Map<String, Value>) -> Self {
        let has = |outer: &str, inner: &str| {
            let outer = members.get(outer);
            outer.is_some_and(|outer| outer.get(inner).is_some_and(|inner| !inner.is_null()))
        };
        let is_there = |name: &str| members.get(name).is_some_and(|member| !member.is_null());
        let mut able = Self::with(|capability| match capability {
            // One that says no more than `elicitation` means forms.
            Capability::ElicitationForm => {
                is_there("elicitation")
                    && (has("elicitation", "form") || !has("elicitation", "url"))
            }
            Capability::ElicitationUrl => has("elicitation", "url"),
            Capability::Sampling => is_there("sampling"),
            Capability::SamplingTools => has("sampling", "tools"),
            Capability::SamplingContext => has("sampling", "context"),
            Capability::Roots => is_there("roots"),
        });
        if let Some(extensions) = passed_extensions(members) {
            able.0.insert("extensions".into(), extensions);
        }
        able
    }

    /// Makes the capabilities for which `can` is true.
    pub fn with(can: impl Fn(Capability) -> bool) -> Self {
        let mut able = Map::new();
        let mut elicitation = Map::new();
        if can(Capability::ElicitationForm) {
            elicitation.insert("form".into(), json!({}));
        }
        if can(Capability::ElicitationUrl) {
            elicitation.insert("url".into(), json!({}));
        }
        if !elicitation.is_empty() {
            able.insert("elicitation".into(), Value::Object(elicitation));
        }
        if can(Capability::Sampling) {
            let mut sampling = Map::new();
            for (capability, name) in [
                (Capability::SamplingTools, "tools"),
                (Capability::SamplingContext, "context"),
            ] {
                if can(capability) {
                    sampling.insert(name.into(), json!({}));
                }
            }
            able.insert("sampling".into(), Value::Object(sampling));
        }
        if can(Capability::Roots) {
            able.insert("roots".into(), json!({}));
        }
        Self(able)
    }

    /// Whether this client can be asked all that the other one can.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        fn holds(all: &Map<String, Value>, some: &Map<String, Value>) -> bool {
            some.iter().all(|(name, some)| match (all.get(name), some) {
                (Some(Value::Object(all)), Value::Object(some)) => holds(all, some),
                (Some(Value::Array(all)), Value::Array(some)) => {
                    some.iter().all(|some| all.contains(some))
                }
                (found, _) => found.is_some(),
            })
        }
        holds(&self.0, &other.0)
    }

    /// Returns the members of MCP `ClientCapabilities`.
    pub fn into_members(self) -> Map<String, Value> {
        self.0
    }
}

/// Returns the extensions of MCP that are passed on of those that a client has declared, with their
/// known settings, written in one way (MCP `ClientCapabilities.extensions`). `members` are those of
/// the client's capabilities.
pub fn passed_extensions(members: &Map<String, Value>) -> Option<Value> {
    let pages = members.get("extensions")?.get(PAGES)?.as_object()?;
    let mut passed = Map::new();
    if let Some(Value::Array(types)) = pages.get("mimeTypes") {
        let types = types.iter().filter_map(Value::as_str);
        let types = types.filter(|name| name.len() <= MAX_PAGE_TYPE_BYTES);
        let types: BTreeSet<&str> = types.take(MAX_PAGE_TYPES).collect();
        passed.insert("mimeTypes".into(), json!(types));
    }
    Some(json!({ PAGES: passed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_in_another_way_means_the_same() {
        for (declared, expected) in [
            (json!({}), json!({})),
            (
                json!({ "elicitation": {} }),
                json!({ "elicitation": { "form": {} } }),
            ),
            (
                json!({ "elicitation": { "url": {} }, "roots": { "listChanged": true } }),
                json!({ "elicitation": { "url": {} }, "roots": {} }),
            ),
            (
                json!({ "sampling": { "context": {} }, "elicitation": null }),
                json!({ "sampling": { "context": {} } }),
            ),
        ] {
            let able = DeclaredCapabilities::declared(declared.as_object().unwrap());
            assert_eq!(json!(able.into_members()), expected);
        }
        let all = DeclaredCapabilities::all();
        assert_eq!(
            DeclaredCapabilities::declared(&all.clone().into_members()),
            all
        );
    }

    #[test]
    fn of_extensions_only_pages_are_heard_and_only_what_is_known_of_them() {
        let page = "text/html;profile=mcp-app";
        let long = "x".repeat(MAX_PAGE_TYPE_BYTES + 1);
        let many: Vec<String> = (0..100).map(|number| format!("a/{number:03}")).collect();
        for (declared, expected) in [
            (json!({ PAGES: {} }), Some(json!({}))),
            (
                json!({ PAGES: { "mimeTypes": [page], "x": 1 }, "other": {} }),
                Some(json!({ "mimeTypes": [page] })),
            ),
            (
                json!({ PAGES: { "mimeTypes": ["b/b", 7, page, "b/b", long, "a/a"] } }),
                Some(json!({ "mimeTypes": ["a/a", "b/b", page] })),
            ),
            (
                json!({ PAGES: { "mimeTypes": many } }),
                Some(json!({ "mimeTypes": many[..MAX_PAGE_TYPES] })),
            ),
            (json!({ PAGES: { "mimeTypes": page } }), Some(json!({}))),
            (json!({ PAGES: null }), None),
            (json!({ PAGES: true }), None),
            (json!({ "other": {} }), None),
            (json!([PAGES]), None),
        ] {
            let declared = json!({ "extensions": declared, "roots": {} });
            let able = DeclaredCapabilities::declared(declared.as_object().unwrap());
            let mut wanted = json!({ "roots": {} });
            if let Some(expected) = expected {
                wanted["extensions"] = json!({ PAGES: expected });
            }
            assert_eq!(json!(able.clone().into_members()), wanted, "{declared}");
            // What is said of it says the same again.
            assert_eq!(
                DeclaredCapabilities::declared(&able.clone().into_members()),
                able
            );
            let unable = DeclaredCapabilities::with(|capability| capability == Capability::Roots);
            assert!(able.covers(&unable));
            assert_eq!(unable.covers(&able), unable == able);
        }
        let able = |types: &[&str]| {
            let declared = json!({ "extensions": { PAGES: { "mimeTypes": types } } });
            DeclaredCapabilities::declared(declared.as_object().unwrap())
        };
        assert!(able(&["a/a", "b/b"]).covers(&able(&["b/b"])));
        assert!(!able(&["a/a"]).covers(&able(&["a/a", "b/b"])));
    }

    #[test]
    fn whoever_can_be_asked_more_covers_whoever_can_be_asked_less() {
        let able =
            |can: &'static [Capability]| DeclaredCapabilities::with(|one| can.contains(&one));
        let all = DeclaredCapabilities::all();
        let forms = able(&[Capability::ElicitationForm]);
        let pages = able(&[Capability::ElicitationUrl, Capability::Roots]);
        let samples = able(&[Capability::Sampling]);
        let tools = able(&[Capability::Sampling, Capability::SamplingTools]);
        assert_eq!(
            json!(tools.clone().into_members()),
            json!({ "sampling": { "tools": {} } })
        );
        let table = [
            (&all, &tools, true),
            (&tools, &samples, true),
            (&samples, &tools, false),
            (&all, &forms, true),
            (&forms, &all, false),
            (&forms, &pages, false),
            (&pages, &forms, false),
            (&forms, &forms, true),
            (&forms, &DeclaredCapabilities::default(), true),
        ];
        for (one, other, expected) in table {
            assert_eq!(one.covers(other), expected, "{one:?} {other:?}");
        }
    }
}
