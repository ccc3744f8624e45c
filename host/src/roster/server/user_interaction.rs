//! Mark on tools whose calls have to be answered by a person first.

use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::ServerConfig;
use dormouse_jsonrpc::{Object, member};
use serde_json::value::RawValue;

use crate::roster::client_meta::REQUIRES_USER_INTERACTION;
use crate::roster::requests::HeldByPlugin;

/// Returns the listing of a server with that mark on its tools, where its plugin needs what its user has
/// not given it yet.
pub(super) fn marked(listing: Arc<Listing>, config: &ServerConfig) -> Arc<Listing> {
    let held = HeldByPlugin::of(config);
    if config.component().is_none() || !listing.grants.iter().any(|one| held.needs(one)) {
        return listing;
    }
    let mut listing = Arc::unwrap_or_clone(listing);
    for tool in &mut listing.tools {
        if let Some(object) = with_mark(tool.tool.get()) {
            // Where there is no room for the mark, its user is asked all the same.
            let _ = tool.replace(object);
        }
    }
    Arc::new(listing)
}

/// Returns an MCP `Tool` object with that mark. None where it cannot have one.
fn with_mark(tool: &str) -> Option<Box<RawValue>> {
    let said = member(tool, "_meta").unwrap_or("{}");
    let mut meta = Object::read(said).ok()?;
    meta.set(REQUIRES_USER_INTERACTION, "true".to_owned());
    let mut tool = Object::read(tool).ok()?;
    tool.set("_meta", meta.into_text().into_owned());
    RawValue::from_string(tool.into_text().into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_changes_nothing_else_of_a_tool() {
        for (tool, marked) in [
            (
                r#"{"name":"a","x":1.10}"#,
                r#"{"name":"a","x":1.10,"_meta":{"anthropic/requiresUserInteraction":true}}"#,
            ),
            (
                r#"{"name":"a","_meta":{"b":1e2},"x":1}"#,
                r#"{"name":"a","_meta":{"b":1e2,"anthropic/requiresUserInteraction":true},"x":1}"#,
            ),
            (
                r#"{"_meta":{"anthropic/requiresUserInteraction":false}}"#,
                r#"{"_meta":{"anthropic/requiresUserInteraction":true}}"#,
            ),
        ] {
            assert_eq!(with_mark(tool).unwrap().get(), marked);
        }
        assert!(with_mark(r#"{"_meta":1}"#).is_none());
    }
}
