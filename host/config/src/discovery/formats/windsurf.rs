//! Windsurf: `mcpServers`; a server's address is its `serverUrl` or `url`.

use dormouse_launch::HttpTransport;

use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::filling::expansion;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    urls: &[
        ("serverUrl", HttpTransport::Auto),
        ("url", HttpTransport::Auto),
    ],
    exclude: Some("disabledTools"),
    switch: Some("disabled"),
    expansion: expansion::WINDSURF,
    ..COMMON
};
