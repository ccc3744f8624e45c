//! A tool as agents are told of it that have it not in their lists.

use std::sync::Arc;

use super::ShownTool;
use super::compact_signature::signature_and_description;

/// Sentence behind the tools that a search has found.
pub const AFTER_FOUND_TOOLS: &str =
    "\nEach is called by the tool in brackets; `describe_tool` has the whole of it.";

impl ShownTool {
    /// Returns its signature, the tool of Dormouse's own that calls it, and the beginning of its
    /// description, on one or two lines, each with its end. That is made of its whole schema, and kept.
    #[must_use]
    pub fn as_found(&self) -> Arc<str> {
        let prepared = &self.server.prepared;
        prepared.found_text(self.index, || self.found_text())
    }

    fn found_text(&self) -> String {
        let object = self.declared().map_or("{}", |declared| declared.tool.get());
        let told = signature_and_description(&self.name, object);
        let call = self.access().call_tool();
        match told.split_once('\n') {
            Some((signature, description)) => format!("{signature} [{call}]\n{description}\n"),
            None => format!("{told} [{call}]\n"),
        }
    }
}
