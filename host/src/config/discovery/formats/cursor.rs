//! Cursor: `mcpServers`, with `envFile`.

use crate::config::discovery::dialect::{COMMON, Dialect};
use crate::config::discovery::expansion;

pub(super) const DIALECT: Dialect = Dialect {
    env_file: Some("envFile"),
    expansion: expansion::CURSOR,
    ..COMMON
};
