//! `dormouse.toml`: what the user has configured. Knows formats, and nothing of
//! MCP.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dormouse_wit::Instance;
use serde_json::{Map, Value};

use crate::sandbox::{Grants, Limits};

/// All that one configuration file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One `[servers.NAME]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// The server's name.
    pub name: String,
    /// The plugin's file, absolute (a relative path is taken from the folder of
    /// the configuration file).
    pub component: PathBuf,
    /// Whether its tools are shown.
    pub enabled: bool,
    /// What stands before its tools' names; the server's name where unset, and
    /// nothing at all (not even `__`) where it is empty.
    pub prefix: Option<String>,
    /// Overrides what the plugin declares.
    pub instance: Option<Instance>,
    /// What it may do.
    pub grants: Grants,
    /// How much it may use.
    pub limits: Limits,
    /// What it is told through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
    /// Where all this is written.
    pub origin: Origin,
}

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}
