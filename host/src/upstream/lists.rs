//! All that an upstream lists, page by page.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;

use super::channel::Lost;
use super::handshake::Hello;
use super::message::{Members, NO_METHOD};
use super::peer::{Peer, lock};
use super::{Failure, Offered};

/// How much of one list is taken: far more than an agent could do with, and little
/// enough for a server that never comes to an end.
const PAGES: usize = 200;
const ITEMS: usize = 10_000;
const BYTES: usize = 32 << 20;

/// A list that MCP has.
struct List {
    method: &'static str,
    /// The member of the result that it is.
    member: &'static str,
    /// The member of each object that it is called by.
    key: &'static str,
}

const TOOLS: List = List {
    method: "tools/list",
    member: "tools",
    key: "name",
};
const PROMPTS: List = List {
    method: "prompts/list",
    member: "prompts",
    key: "name",
};
const RESOURCES: List = List {
    method: "resources/list",
    member: "resources",
    key: "uri",
};
const TEMPLATES: List = List {
    method: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
};

/// Everything that an upstream offers now.
///
/// # Errors
/// The connection is lost, or its tools cannot be listed.
pub(super) async fn all(peer: &Arc<Peer>, hello: &Hello) -> Result<Offered, Failure> {
    let has = |name: &str| hello.capabilities.contains_key(name);
    // One that declares nothing at all may be careless rather than empty.
    let tools = has("tools") || hello.capabilities.is_empty();
    let (tools, prompts, resources, templates) = futures::try_join!(
        list(peer, &TOOLS, tools),
        list(peer, &PROMPTS, has("prompts")),
        list(peer, &RESOURCES, has("resources")),
        list(peer, &TEMPLATES, has("resources")),
    )?;
    let names: BTreeSet<String> = tools.iter().filter_map(|tool| name(tool)).collect();
    let before = lock(&peer.tools).replace(names.clone()).unwrap_or_default();
    Ok(Offered {
        server_info: hello.server_info.clone(),
        protocol: hello.protocol.clone(),
        capabilities: hello.capabilities.clone(),
        able: peer.able.clone(),
        instructions: hello.instructions.clone(),
        tools,
        prompts,
        resources,
        templates,
        withdrawn: before.difference(&names).cloned().collect(),
    })
}

fn name(tool: &RawValue) -> Option<String> {
    Members::parse(tool.get()).ok()?.text(TOOLS.key)
}

/// One list. What is declared and then not known is empty.
async fn list(
    peer: &Arc<Peer>,
    list: &List,
    declared: bool,
) -> Result<Vec<Box<RawValue>>, Failure> {
    let mut items = Vec::new();
    let mut bytes = 0;
    let mut cursors = HashSet::new();
    let mut cursor = None;
    if !declared {
        return Ok(items);
    }
    loop {
        let mut params = Members::default();
        if let Some(cursor) = &cursor {
            params.set_value("cursor", &json!(cursor));
        }
        let page = match peer.request(list.method, params, None).await {
            Ok(page) => page,
            // Templates above all are often forgotten by servers that have resources.
            Err(Failure::Refused(refusal)) if refusal.code == NO_METHOD => {
                tracing::debug!("server `{}` has no `{}`", peer.server, list.method);
                return Ok(items);
            }
            Err(Failure::Refused(refusal)) if list.method != TOOLS.method => {
                tracing::warn!(
                    "server `{}` refuses `{}`: {}",
                    peer.server,
                    list.method,
                    refusal.message.escape_debug()
                );
                return Ok(items);
            }
            Err(Failure::Refused(refusal)) => {
                let why = format!("it refuses `{}`: {}", list.method, refusal.message);
                return Err(Lost::Broken(why).into());
            }
            Err(lost) => return Err(lost),
        };
        let bad = |what: String| Lost::Broken(format!("its `{}` {what}", list.method));
        let page = Members::parse(page.get()).map_err(|error| bad(format!("is {error}")))?;
        let found = page
            .get(list.member)
            .ok_or_else(|| bad(format!("has no `{}`", list.member)))?;
        let found: Vec<Box<RawValue>> = serde_json::from_str(found.get())
            .map_err(|error| bad(format!("has a `{}` that is no list: {error}", list.member)))?;
        for item in found {
            bytes += item.get().len();
            match judge(&item, list.key) {
                Ok(()) => items.push(item),
                Err(why) => tracing::warn!(
                    "server `{}` lists an odd one of its {}, which is left out: {why}",
                    peer.server,
                    list.member
                ),
            }
        }
        cursor = page.text("nextCursor");
        let Some(next) = &cursor else {
            return Ok(items);
        };
        let known = !cursors.insert(next.clone());
        if known || cursors.len() >= PAGES || items.len() >= ITEMS || bytes >= BYTES {
            tracing::warn!(
                "server `{}`: its `{}` does not come to an end; the first {} are taken",
                peer.server,
                list.method,
                items.len()
            );
            return Ok(items);
        }
    }
}

/// Whether it is an object that can be called by something.
fn judge(item: &RawValue, key: &str) -> Result<(), String> {
    let shown = || {
        let text: String = item.get().chars().take(100).collect();
        text.escape_debug().to_string()
    };
    let members = Members::parse(item.get()).map_err(|_| format!("`{}` is no object", shown()))?;
    match members.text(key) {
        Some(text) if !text.is_empty() => Ok(()),
        _ => Err(format!("`{}` has no `{key}` that is a string", shown())),
    }
}
