//! Pages that clients show for tools (MCP Apps).
//!
//! A page is made for its server alone, and makes the client call tools by the names that this
//! server has for them. The client sends such a call on unchanged, without naming the page's
//! server.

use std::collections::BTreeSet;

use dormouse_config::name::META_TOOLS;
use parking_lot::Mutex;

use super::tools::ListedTools;
use crate::roster::{Roster, ShownTool, Snapshot, is_page};

/// Servers of which a client has read pages.
#[derive(Default)]
pub(in crate::mcp) struct ReadPages(Mutex<BTreeSet<String>>);

impl ReadPages {
    /// Notes that a client has read a resource of a server, if it is a page.
    pub(in crate::mcp) fn note(&self, server: &str, uri: &str) {
        if is_page(uri) {
            let mut servers = self.0.lock();
            servers.insert(server.to_owned());
        }
    }

    fn servers(&self) -> BTreeSet<String> {
        let servers = self.0.lock();
        servers.clone()
    }
}

/// Returns the servers that are known to have pages.
fn servers_with_pages(snapshot: &Snapshot) -> BTreeSet<String> {
    let servers = snapshot.servers().iter();
    let servers = servers.filter(|(_, server)| server.has_pages());
    servers.map(|(name, _)| name.clone()).collect()
}

/// Returns the tool of a call by its name, which may be a page's: the tool `shown` under it that a
/// project has, or else that of a page: of a server whose pages the client has `read`, or of any where
/// that is not known.
///
/// None where the call could be from another server's page: that of a server with a tool of that
/// name which is not shown (left out, or not approved), or of a server that is gone. None also
/// where an agent may know another server's tool by that name, see [`Roster::is_name_of_another`], or
/// a tool of Dormouse's own.
pub(in crate::mcp) fn meant_tool<'s>(
    name: &str,
    shown: Option<&'s ShownTool>,
    read: Option<&ReadPages>,
    roster: &Roster,
    snapshot: &'s Snapshot,
    listed: &ListedTools,
) -> Option<&'s ShownTool> {
    // A session may take it for one of Dormouse's own, whatever it is in this mode.
    if META_TOOLS.contains(&name) {
        return None;
    }
    // Whose page it was may have been read in an earlier session.
    let mut all = servers_with_pages(snapshot);
    let read = read.map_or_else(|| all.clone(), ReadPages::servers);
    all.extend(read.iter().cloned());
    let mut owners = all.iter().filter(|server| {
        let found = snapshot.servers().get(*server);
        let is_gone = found.is_none_or(|server| server.listed().is_none());
        is_gone && read.contains(*server) || found.is_some_and(|server| server.has_tool(name))
    });
    let (owner, another) = (owners.next(), owners.next());
    if let Some(shown) = shown {
        let is_contested = owner.is_some_and(|owner| owner != shown.server());
        return (!is_contested).then_some(shown);
    }
    let owner = owner.filter(|owner| another.is_none() && read.contains(*owner))?;
    let is_of_another = roster.is_name_of_another(owner, name, snapshot);
    if is_of_another || listed.is_of_another(owner, name) {
        return None;
    }
    let mut tools = snapshot.tools().iter();
    let own = tools.find(|shown| shown.tool() == name && shown.server() == owner);
    own.filter(|shown| shown.is_for_pages())
}
