//! Pages that clients show for tools (MCP Apps).
//!
//! A page is made for its server alone, and has the client call tools by the names that this
//! server has for them. The client sends such a call on as it is.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::roster::{Shown, Snapshot};

/// Whether a resource is a page.
fn is_page(uri: &str) -> bool {
    uri.starts_with("ui://")
}

/// Servers of which a client has read pages.
#[derive(Default)]
pub(super) struct ReadPages(Mutex<BTreeSet<String>>);

impl ReadPages {
    /// Notes that a client has read a resource of a server, if it is a page.
    pub(super) fn note(&self, server: &str, uri: &str) {
        if is_page(uri) {
            let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            servers.insert(server.to_owned());
        }
    }

    /// The tool that a page means by a name: that of the only server of which pages were read
    /// and that has one which it calls so.
    pub(super) fn tool<'s>(&self, name: &str, snapshot: &'s Snapshot) -> Option<&'s Shown> {
        let servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_pages = |server: &str| servers.contains(server);
        only_tool(name, snapshot, has_pages)
    }
}

/// The same, where nothing is known of who has read what: of the servers that list pages.
pub(super) fn tool_of_any_page<'s>(name: &str, snapshot: &'s Snapshot) -> Option<&'s Shown> {
    let resources = snapshot.resources().iter();
    let pages = resources.filter(|resource| is_page(&resource.key));
    let servers: BTreeSet<&str> = pages.map(|page| page.server()).collect();
    only_tool(name, snapshot, |server| servers.contains(server))
}

fn only_tool<'s>(
    name: &str,
    snapshot: &'s Snapshot,
    has_pages: impl Fn(&str) -> bool,
) -> Option<&'s Shown> {
    let mut tools = snapshot
        .tools()
        .iter()
        .filter(|shown| shown.tool() == name && has_pages(shown.server()));
    let only = tools.next()?;
    tools.next().is_none().then_some(only)
}
