//! Files of a project in which its clients keep much that is nothing to servers: what their users
//! allow without a question, themes, sizes of tabs. Of these only the members are read, and count
//! for trust, that any reader here knows.

use std::path::Path;

use crate::discovery::document::{DocumentMember, DocumentValue, Node};

/// Files of settings in a project that have more than servers in them. All other files count by
/// their bytes.
pub(in crate::discovery) const SHARED_SETTINGS: [&str; 12] = [
    ".amp/settings.json",
    ".amp/settings.jsonc",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
    ".vscode/settings.json",
    ".zed/settings.json",
    "opencode.json",
    "opencode.jsonc",
];

/// Keys at the top of such a file that readers know, whichever client they are for: a variable of the
/// user's may make one client read the file of another. Of a table under a key, only the members with
/// the keys beside it are read; all, where there are none.
const HEARD: [(&str, &[&str]); 26] = [
    ("agent", &[]),
    ("allowMCPServers", &[]),
    ("allowManagedMcpServersOnly", &[]),
    ("allowedMcpServers", &[]),
    ("amp.mcpPermissions", &[]),
    ("amp.mcpServers", &[]),
    ("amp.permissions", &[]),
    ("amp.tools.disable", &[]),
    ("chatmd.mcpServers", &[]),
    ("context_servers", &[]),
    ("deniedMcpServers", &[]),
    ("disabledMcpServers", &[]),
    ("disabledMcpjsonServers", &[]),
    ("disabled_mcp_servers", &[]),
    ("enableAllProjectMcpServers", &[]),
    ("enabledMcpjsonServers", &[]),
    ("excludeMCPServers", &[]),
    ("excludeTools", &[]),
    ("mcp", &[]),
    ("mcpServers", &[]),
    ("mcp_oauth_callback_port", &[]),
    ("mcp_servers", &[]),
    ("mode", &[]),
    ("permission", &[]),
    ("permissions", &["deny"]),
    ("tools", &[]),
];

/// Whether a project's file has more than servers in it.
pub(super) fn is_shared(project: &Path, file: &Path) -> bool {
    let inside = file.strip_prefix(project);
    inside.is_ok_and(|inside| {
        SHARED_SETTINGS
            .iter()
            .any(|shared| inside == Path::new(shared))
    })
}

/// Removes from a document what no reader knows, so that none can hear it. What is no table stays:
/// it may say anything.
pub(super) fn keep_heard(root: &mut Node) {
    #[cfg(test)]
    if hook::is_everything_read() {
        return;
    }
    let DocumentValue::Table(members) = &mut root.value else {
        return;
    };
    members.retain_mut(|member| {
        let mut known = HEARD.iter();
        let Some((_, inner)) = known.find(|(key, _)| *key == member.key) else {
            return false;
        };
        if let DocumentValue::Table(of_table) = &mut member.node.value
            && !inner.is_empty()
        {
            of_table.retain(|member| inner.contains(&member.key.as_str()));
            // No list of denials denies as much as an empty one.
            let is_empty =
                |node: &Node| matches!(&node.value, DocumentValue::List(it) if it.is_empty());
            remove_alone(of_table, inner, is_empty);
        }
        true
    });
    let is_empty = |node: &Node| matches!(&node.value, DocumentValue::Table(it) if it.is_empty());
    let of_parts = HEARD.iter().filter(|(_, inner)| !inner.is_empty());
    let keys: Vec<&str> = of_parts.map(|(key, _)| *key).collect();
    remove_alone(members, &keys, is_empty);
}

/// Removes members with these keys that say as much as none. Of a key that is there several times all
/// stay, for the last one counts, in place of the others.
fn remove_alone(
    members: &mut Vec<DocumentMember>,
    keys: &[&str],
    says_nothing: impl Fn(&Node) -> bool,
) {
    for key in keys {
        let mut of_key = members.iter().filter(|member| member.key == *key);
        if let (Some(alone), None) = (of_key.next(), of_key.next())
            && says_nothing(&alone.node)
        {
            members.retain(|member| member.key != *key);
        }
    }
}

/// Returns the hash of a document without its places, comments and white space; none where nothing
/// is in it, which is the same as no document.
pub(super) fn hash(root: &Node) -> Option<blake3::Hash> {
    if matches!(&root.value, DocumentValue::Table(members) if members.is_empty()) {
        return None;
    }
    // It is never the one of a whole file.
    let mut hasher = blake3::Hasher::new_derive_key("dormouse heard members of settings");
    add(&mut hasher, root);
    Some(hasher.finalize())
}

/// Adds a part of a document to a hash, in its order and with keys that are there twice. Lengths keep
/// the parts apart.
fn add(hasher: &mut blake3::Hasher, node: &Node) {
    let mut counted = |kind: u8, length: usize| {
        hasher.update(&[kind]);
        hasher.update(&(length as u64).to_le_bytes());
    };
    match &node.value {
        DocumentValue::Null => counted(b'n', 0),
        DocumentValue::Bool(boolean) => counted(b'b', usize::from(*boolean)),
        DocumentValue::Number(number) => {
            counted(b'd', number.len());
            hasher.update(number.as_bytes());
        }
        DocumentValue::Text(text) => {
            counted(b's', text.len());
            hasher.update(text.as_bytes());
        }
        DocumentValue::List(items) => {
            counted(b'l', items.len());
            for item in items {
                add(hasher, item);
            }
        }
        DocumentValue::Table(members) => {
            counted(b't', members.len());
            for member in members {
                hasher.update(&(member.key.len() as u64).to_le_bytes());
                hasher.update(member.key.as_bytes());
                add(hasher, &member.node);
            }
        }
    }
}

/// Switch of a test that compares what is read with what would be.
#[cfg(test)]
pub(in crate::discovery) mod hook {
    use std::cell::Cell;

    thread_local! {
        static EVERYTHING: Cell<bool> = const { Cell::new(false) };
    }

    /// Makes this thread read all members of the files that it reads from now on, or those alone
    /// that are heard.
    pub(in crate::discovery) fn read_everything(everything: bool) {
        EVERYTHING.set(everything);
    }

    pub(super) fn is_everything_read() -> bool {
        EVERYTHING.get()
    }
}
