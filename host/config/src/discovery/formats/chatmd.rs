//! chat.md: the literal key `chatmd.mcpServers` in the settings of VS Code.

use crate::discovery::entries::dialect::{COMMON, EntryDialect};

pub(super) const DIALECT: EntryDialect = COMMON;
