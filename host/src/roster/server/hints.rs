//! Hints on tools that their user has set in place of a server's own.

use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_jsonrpc::{MessageLimits, Object, member};
use dormouse_policy::exposure::{HintOverrides, ToolHints};
use serde_json::value::RawValue;

/// Returns a listing with the hints that its user has set (`annotations` of its server).
pub(super) fn overridden(listing: Arc<Listing>, overrides: &HintOverrides) -> Arc<Listing> {
    if overrides.is_empty() {
        return listing;
    }
    let mut listing = Arc::unwrap_or_clone(listing);
    for tool in &mut listing.tools {
        let hints = overrides.of(&tool.name);
        if let Some(object) = with_hints(tool.tool.get(), hints) {
            tool.replace(object);
        }
    }
    Arc::new(listing)
}

/// Returns an MCP `Tool` object with those hints. None where none is set.
fn with_hints(tool: &str, hints: ToolHints) -> Option<Box<RawValue>> {
    let set: Vec<_> = hints
        .named()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    if set.is_empty() {
        return None;
    }
    let limit = MessageLimits::default().members;
    let said = member(tool, "annotations").unwrap_or("{}");
    let mut annotations = Object::parse(said, limit).unwrap_or_default();
    for (name, value) in set {
        annotations.set(name, value.to_string());
    }
    let mut tool = Object::parse(tool, limit).ok()?;
    tool.set("annotations", annotations.into_text().into_owned());
    RawValue::from_string(tool.into_text().into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_takes_the_place_of_what_is_said() {
        let hints = ToolHints {
            read_only: Some(false),
            destructive: Some(true),
            ..ToolHints::default()
        };
        let with = |tool: &str| with_hints(tool, hints).map(|tool| tool.get().to_owned());
        assert_eq!(
            with(r#"{"name":"a","x":1.10}"#).unwrap(),
            r#"{"name":"a","x":1.10,"annotations":{"readOnlyHint":false,"destructiveHint":true}}"#
        );
        assert_eq!(
            with(r#"{"name":"a","annotations":{"title":"T","readOnlyHint":true},"x":1}"#).unwrap(),
            r#"{"name":"a","annotations":{"title":"T","readOnlyHint":false,"destructiveHint":true},"x":1}"#
        );
        assert!(with_hints(r#"{"name":"a"}"#, ToolHints::default()).is_none());
    }
}
