//! Claude Desktop: `mcpServers`, programs only, nothing filled in.

use crate::discovery::entries::dialect::{COMMON, Dialect};

pub(super) const DIALECT: Dialect = COMMON;
