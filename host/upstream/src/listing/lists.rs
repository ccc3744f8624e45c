//! Lists of an upstream, read page by page.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::sync::Arc;

use dormouse_jsonrpc::{METHOD_NOT_FOUND, Object, items};
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::DeclaredCapabilities;
use serde_json::json;
use serde_json::value::RawValue;

use crate::http::{excerpt, reading_error};
use crate::messages::channel::Lost;
use crate::messages::large::without_blocking;
use crate::messages::message;
use crate::messages::peer::Peer;
use crate::opening::handshake::ServerIntroduction;
use crate::server_secrets::ServerSecrets;
use crate::{Failure, Offered, UntoldLists};

/// The longest `nextCursor` that is kept and sent back, in bytes.
const MAX_CURSOR_BYTES: usize = 64 << 10;

/// Most odd items of one page that are logged one by one.
const TOLD: usize = 3;

/// A list that MCP has.
struct McpList {
    method: &'static str,
    /// Member of the result that holds the list.
    member: &'static str,
    /// Member of each item that names the item.
    key: &'static str,
}

const TOOLS: McpList = McpList {
    method: "tools/list",
    member: "tools",
    key: "name",
};
const PROMPTS: McpList = McpList {
    method: "prompts/list",
    member: "prompts",
    key: "name",
};
const RESOURCES: McpList = McpList {
    method: "resources/list",
    member: "resources",
    key: "uri",
};
const TEMPLATES: McpList = McpList {
    method: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
};

/// Asks for everything that an upstream offers now. Callers have a turn of the peer's fetch turns, and
/// keep it until that has been compared with what is known.
///
/// # Errors
/// The connection is lost, or its tools cannot be listed.
pub(crate) async fn all(
    peer: &Arc<Peer>,
    server_introduction: &ServerIntroduction,
) -> Result<Offered, Failure> {
    let changes = peer.list_changes.told();
    let has = |name: &str| server_introduction.capabilities.contains_key(name);
    // One that declares nothing at all may be careless rather than empty.
    let tools = has("tools") || server_introduction.capabilities.is_empty();
    let (tools, prompts, resources, templates) = futures::try_join!(
        list(peer, &TOOLS, tools),
        list(peer, &PROMPTS, has("prompts")),
        list(peer, &RESOURCES, has("resources")),
        list(peer, &TEMPLATES, has("resources")),
    )?;
    let untold = UntoldLists {
        prompts: prompts.is_err(),
        resources: resources.is_err(),
        templates: templates.is_err(),
    };
    let mut tools = tools.map_err(|RefusedList(why)| Lost::Broken(format!("it {why}")))?;
    let told = |list: Result<Vec<Box<RawValue>>, RefusedList>| {
        list.unwrap_or_else(|RefusedList(why)| {
            peer.warn(&format!(
                "{why}\n\
                 hint: what is known of that list stays; `dormouse sync {}` asks again",
                peer.server
            ));
            Vec::new()
        })
    };
    let (mut prompts, mut resources, mut templates) =
        (told(prompts), told(resources), told(templates));
    let lists = [
        (&TOOLS, &mut tools),
        (&PROMPTS, &mut prompts),
        (&TEMPLATES, &mut templates),
        (&RESOURCES, &mut resources),
    ];
    truncate_together(lists, peer.limits.list_bytes, |list, kept| {
        warn_of_length(peer, list, kept, &Enough::Bytes(peer.limits.list_bytes));
    });
    let names: BTreeSet<String> = tools.iter().filter_map(|tool| key(tool, &TOOLS)).collect();
    let before = peer.tools.lock().replace(names.clone()).unwrap_or_default();
    let uri = |resource: &RawValue| key(resource, &RESOURCES);
    let mut first = peer.first_resources.lock();
    let (resources, added_resources) = match &*first {
        // What is added cannot be told from what was there first.
        _ if untold.resources => (resources, Vec::new()),
        Some(first) => {
            let is_first = |one: &RawValue| uri(one).is_none_or(|uri| first.contains(&uri));
            resources.into_iter().partition(|one| is_first(one))
        }
        None => {
            *first = Some(resources.iter().filter_map(|one| uri(one)).collect());
            (resources, Vec::new())
        }
    };
    Ok(Offered {
        server_info: server_introduction.server_info.clone(),
        protocol: server_introduction.protocol.clone(),
        capabilities: server_introduction.capabilities.clone(),
        able: DeclaredCapabilities::declared(&peer.introduction.capabilities),
        instructions: server_introduction.instructions.clone(),
        tools,
        prompts,
        resources,
        added_resources,
        untold,
        connection: peer.connection,
        changes,
        templates,
        reactions: server_introduction.reactions,
        withdrawn: before.difference(&names).cloned().collect(),
    })
}

/// Returns the name or URI of an item.
fn key(item: &RawValue, list: &McpList) -> Option<String> {
    Object::read(item.get()).ok()?.string(list.key)
}

/// Part of a list that has been read.
#[derive(Default)]
struct PartialList {
    items: Vec<Box<RawValue>>,
    bytes: usize,
    cursors: HashSet<String>,
}

/// Reason for which the rest of a list is left out.
enum Enough {
    Items(usize),
    Bytes(usize),
    Pages(usize),
    LongCursor(usize),
    Repeated,
}

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items(limit) => write!(f, "it has more than {limit} items (`items`)"),
            Self::Bytes(limit) => {
                write!(
                    f,
                    "all lists together have more than {limit} bytes (`list`)"
                )
            }
            Self::Pages(limit) => write!(f, "it has more than {limit} pages (`pages`)"),
            Self::LongCursor(limit) => {
                write!(f, "a page has a `nextCursor` of more than {limit} bytes")
            }
            Self::Repeated => f.write_str("a page leads to one before it"),
        }
    }
}

impl PartialList {
    /// Adds the items of a page. Returns the cursor of the next page, if there is one, or the
    /// reason for which no more pages are read.
    ///
    /// # Errors
    /// The text is no page of this list; says why.
    fn page(
        &mut self,
        list: &McpList,
        page: &str,
        limits: &UpstreamLimits,
        secrets: &ServerSecrets,
        warn: &dyn Fn(&str),
    ) -> Result<Result<Option<String>, Enough>, String> {
        let page = Object::read(page).map_err(|error| format!("is {error}"))?;
        let found = page
            .get(list.member)
            .ok_or_else(|| format!("has no `{}`", list.member))?;
        let room = limits.list_items.saturating_sub(self.items.len());
        let found = items(found, room)
            .map_err(|error| format!("has a `{}` that is no list: {error}", list.member))?;
        let mut odd = 0;
        for item in found.items {
            self.bytes += item.len();
            if self.bytes > limits.list_bytes {
                return Ok(Err(Enough::Bytes(limits.list_bytes)));
            }
            let item = secrets.redact_learnt_json(item);
            let item = judge(&item, list.key, secrets).and_then(|()| {
                RawValue::from_string(item.into_owned()).map_err(|error| error.to_string())
            });
            match item {
                Ok(item) => self.items.push(item),
                Err(why) => {
                    odd += 1;
                    if odd <= TOLD {
                        warn(&format!(
                            "lists an odd one of its {}, which is left out: {why}",
                            list.member
                        ));
                    }
                }
            }
        }
        if odd > TOLD {
            warn(&format!(
                "lists {} more such ones of its {}",
                odd - TOLD,
                list.member
            ));
        }
        if found.left_out > 0 {
            return Ok(Err(Enough::Items(limits.list_items)));
        }
        let Some(next) = page.string("nextCursor") else {
            return Ok(Ok(None));
        };
        if next.len() > MAX_CURSOR_BYTES {
            return Ok(Err(Enough::LongCursor(MAX_CURSOR_BYTES)));
        }
        if !self.cursors.insert(next.clone()) {
            return Ok(Err(Enough::Repeated));
        }
        if self.cursors.len() >= limits.list_pages {
            return Ok(Err(Enough::Pages(limits.list_pages)));
        }
        if self.items.len() >= limits.list_items {
            return Ok(Err(Enough::Items(limits.list_items)));
        }
        Ok(Ok(Some(next)))
    }
}

/// Words for a list that a server has and refuses to tell, or a part of it.
struct RefusedList(String);

/// Asks for a whole list. One that the server declares and then does not know is empty; one that it
/// refuses otherwise, or in the middle, is not told.
async fn list(
    peer: &Arc<Peer>,
    list: &McpList,
    declared: bool,
) -> Result<Result<Vec<Box<RawValue>>, RefusedList>, Failure> {
    let mut read = PartialList::default();
    let mut cursor: Option<String> = None;
    if !declared {
        return Ok(Ok(read.items));
    }
    loop {
        let params = message::params(cursor.iter().map(|cursor| ("cursor", json!(cursor))));
        let page = match peer.request(list.method, &params, None).await {
            Ok(page) => page,
            // Templates above all are often forgotten by servers that have resources.
            Err(Failure::Refused(refusal))
                if refusal.code == METHOD_NOT_FOUND && cursor.is_none() =>
            {
                tracing::debug!("server `{}` has no `{}`", peer.server, list.method);
                return Ok(Ok(read.items));
            }
            Err(Failure::Refused(refusal)) => {
                let page = match cursor {
                    None => "",
                    Some(_) => "the next page of ",
                };
                let (method, why) = (list.method, excerpt(&refusal.message));
                return Ok(Err(RefusedList(format!("refuses {page}`{method}`: {why}"))));
            }
            Err(lost) => return Err(lost),
        };
        let text = page.get();
        let next = without_blocking(text.len(), || {
            read.page(list, text, &peer.limits, &peer.secrets, &|what| {
                peer.warn(what);
            })
        });
        let next = next.map_err(|why| {
            let why = reading_error(&why);
            Lost::Broken(format!("its `{}` {why}", list.method))
        })?;
        cursor = match next {
            // It is a cursor since 2026-07-28; those before that mean the end by it, and may refuse it.
            Ok(Some(next)) if next.is_empty() && !peer.is_modern() => return Ok(Ok(read.items)),
            Ok(Some(next)) => Some(next),
            Ok(None) => return Ok(Ok(read.items)),
            Err(enough) => {
                warn_of_length(peer, list, read.items.len(), &enough);
                return Ok(Ok(read.items));
            }
        };
    }
}

/// Shortens lists, the last ones first, until they have no more than `limit` bytes together. Calls
/// `told` for each shortened list, with the number of items that are left.
fn truncate_together<const N: usize>(
    lists: [(&McpList, &mut Vec<Box<RawValue>>); N],
    limit: usize,
    told: impl Fn(&McpList, usize),
) {
    let mut room = limit;
    for (list, items) in lists {
        let fits = items.iter().take_while(|item| {
            let left = room.checked_sub(item.get().len());
            // An item that has no room is the last of all.
            room = left.unwrap_or_default();
            left.is_some()
        });
        let kept = fits.count();
        if kept < items.len() {
            items.truncate(kept);
            told(list, kept);
        }
    }
}

/// Warns that the rest of a list is left out.
fn warn_of_length(peer: &Peer, list: &McpList, kept: usize, enough: &Enough) {
    peer.warn(&format!(
        "lists too much: of its `{1}` the first {kept} are taken: {enough}\n\
         hint: `[servers.{0}.limits]` sets how long its lists may be",
        peer.server, list.method,
    ));
}

/// Checks that an item is an object with a name or URI.
fn judge(item: &str, key: &str, secrets: &ServerSecrets) -> Result<(), String> {
    let shown = || excerpt(&secrets.texts().redact_beginning(item, 400));
    let object = Object::read(item).map_err(|_| format!("`{}` is no object", shown()))?;
    match object.string(key) {
        Some(text) if !text.is_empty() => Ok(()),
        _ => Err(format!("`{}` has no `{key}` that is a string", shown())),
    }
}

#[cfg(test)]
mod tests;
