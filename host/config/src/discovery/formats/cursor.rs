//! Cursor: `mcpServers`, with `envFile`.

use crate::discovery::dialect::{COMMON, Dialect};
use crate::discovery::expansion;
use crate::discovery::oauth::{self, Means};

pub(super) const DIALECT: Dialect = Dialect {
    env_file: Some("envFile"),
    expansion: expansion::CURSOR,
    oauth: OAUTH,
    ..COMMON
};

const OAUTH: oauth::Dialect = oauth::Dialect {
    table: "auth",
    keys: &[
        ("auth.CLIENT_ID", Means::ClientId),
        ("auth.CLIENT_SECRET", Means::ClientSecret),
        ("auth.scopes", Means::Scopes),
    ],
};
