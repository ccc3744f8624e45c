//! Hints on tools that their user has set in place of a server's own.

use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_jsonrpc::{Object, member};
use dormouse_policy::exposure::{HintOverrides, ToolHints};
use dormouse_text::visible::short_name;
use serde_json::value::RawValue;

/// Returns a listing with the hints that its user has set (`annotations` of its server). A tool that is
/// too long for them is left out: without them, its user would not be asked about it.
pub(super) fn overridden(listing: Arc<Listing>, overrides: &HintOverrides) -> Arc<Listing> {
    if overrides.is_empty() {
        return listing;
    }
    let mut listing = Arc::unwrap_or_clone(listing);
    listing.tools.retain_mut(|tool| {
        let hints = overrides.of(&tool.name);
        if hints == ToolHints::default() {
            return true;
        }
        let object = with_hints(tool.tool.get(), hints);
        let has_hints = object.is_some_and(|object| tool.replace(object));
        if !has_hints {
            let name = short_name(&tool.name);
            tracing::warn!("tool `{name}` is left out: it is too long for its `annotations`");
        }
        has_hints
    });
    Arc::new(listing)
}

/// Returns an MCP `Tool` object with those hints. None where it cannot have them.
fn with_hints(tool: &str, hints: ToolHints) -> Option<Box<RawValue>> {
    let set: Vec<_> = hints
        .named()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    let said = member(tool, "annotations").unwrap_or("{}");
    let mut annotations = Object::read(said).unwrap_or_default();
    for (name, value) in set {
        annotations.set(name, value.to_string());
    }
    let mut tool = Object::read(tool).ok()?;
    tool.set("annotations", annotations.into_text().into_owned());
    RawValue::from_string(tool.into_text().into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::roster::server::bridge::made;

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
    }

    /// Without its hints, its user would not be asked about its calls.
    #[test]
    fn a_tool_without_room_for_its_hints_is_left_out() {
        let hints = ToolHints {
            read_only: Some(false),
            destructive: Some(true),
            ..ToolHints::default()
        };
        let set = HintOverrides([("*".to_owned(), hints)].into());
        let mebibyte = 1 << 20;
        for (padding, is_shown) in [(10, true), (mebibyte - 100, false)] {
            let tool = json!({
                "name": "a", "inputSchema": { "type": "object" }, "_meta": { "p": "x".repeat(padding) },
            });
            let listing = made(vec![("a".to_owned(), tool)]);
            assert_eq!(listing.tools.len(), 1);
            let shown = overridden(Arc::clone(&listing), &set);
            assert_eq!(shown.tools.len(), usize::from(is_shown), "{padding}");
            let mut tools = shown.tools.iter();
            assert!(tools.all(|tool| tool.tool.get().contains(r#""destructiveHint":true"#)));
            let unset = overridden(listing, &HintOverrides::default());
            assert_eq!(unset.tools.len(), 1);
        }
    }
}
