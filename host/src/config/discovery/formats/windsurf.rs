//! Windsurf: `mcpServers`; a server's address is its `serverUrl` or `url`.

use crate::config::discovery::dialect::{COMMON, Dialect};
use crate::config::discovery::expansion;
use crate::upstream::HttpTransport;

pub(super) const DIALECT: Dialect = Dialect {
    urls: &[
        ("serverUrl", HttpTransport::Auto),
        ("url", HttpTransport::Auto),
    ],
    exclude: Some("disabledTools"),
    expansion: expansion::WINDSURF,
    ..COMMON
};
