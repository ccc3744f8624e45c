//! Amp: the literal key `amp.mcpServers`; `includeTools` are patterns.

use crate::discovery::dialect::{COMMON, Dialect};
use crate::discovery::expansion;

pub(super) const DIALECT: Dialect = Dialect {
    include: Some("includeTools"),
    expansion: expansion::AMP,
    ..COMMON
};
