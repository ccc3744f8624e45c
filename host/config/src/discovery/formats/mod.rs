//! The clients' formats: the peculiarities of each.

pub(super) mod agents;
pub(super) mod amp;
pub(super) mod chatmd;
pub(super) mod claude_code;
pub(super) mod claude_desktop;
pub(super) mod codex;
pub(super) mod continue_dev;
pub(super) mod copilot;
pub(super) mod cursor;
pub(super) mod forge;
pub(super) mod gemini;
pub(super) mod goose;
pub(super) mod opencode;
mod server_list;
mod tool_names;
pub(super) mod unheard;
pub(super) mod vscode;
pub(super) mod windsurf;
pub(super) mod zed;

use super::entries::dialect::{EntryDialect, EntryOutcome};
use super::entries::entry::ServerEntry;
use crate::Client;

/// Returns the dialect in which a client writes a server.
pub(super) fn dialect(client: Client) -> EntryDialect {
    match client {
        Client::ClaudeCode => claude_code::DIALECT,
        Client::ClaudeDesktop => claude_desktop::DIALECT,
        Client::Copilot => copilot::DIALECT,
        Client::VsCode => vscode::DIALECT,
        Client::Cursor => cursor::DIALECT,
        Client::OpenCode => opencode::DIALECT,
        Client::Codex => codex::DIALECT,
        Client::Gemini => gemini::DIALECT,
        Client::Zed => zed::DIALECT,
        Client::Windsurf => windsurf::DIALECT,
        Client::Continue => continue_dev::DIALECT,
        Client::Amp => amp::DIALECT,
        Client::Forge => forge::DIALECT,
        Client::ChatMd => chatmd::DIALECT,
        Client::Goose => goose::DIALECT,
    }
}

/// Reads an entry of a client's.
pub(super) fn read(client: Client, entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    match client {
        Client::ClaudeCode => claude_code::read(entry),
        Client::Codex => codex::read(entry),
        Client::Zed => zed::read(entry),
        Client::Continue => continue_dev::read(entry),
        Client::Goose => goose::read(entry),
        _ => dialect(client).read(entry),
    }
}
