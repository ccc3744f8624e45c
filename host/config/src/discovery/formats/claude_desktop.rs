//! Claude Desktop: `mcpServers`, programs only, nothing filled in.

use crate::discovery::entries::dialect::{COMMON, EntryDialect};

pub(super) const DIALECT: EntryDialect = COMMON;
