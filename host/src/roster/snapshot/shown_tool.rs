//! Tools that agents see.

use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing};
use dormouse_policy::exposure::{ToolAccess, ToolExposure, ToolHints};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Snapshot;
use crate::roster::Server;
use crate::store::{is_for_models, is_for_pages};

/// Tool that agents see.
#[derive(Debug)]
pub struct ShownTool {
    /// Name under which agents see the tool.
    pub name: String,
    /// Whether it is in lists, whatever the mode is.
    pub exposure: ToolExposure,
    pub(super) server: Arc<Server>,
    pub(super) listing: Arc<Listing>,
    pub(super) index: usize,
}

impl ShownTool {
    /// Returns the name of the tool's server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.config().name
    }

    /// Returns the server's name for the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.declared().map_or("", |declared| &declared.name)
    }

    /// Checks whether it is Dormouse's own, by which a server is connected of which nothing is known.
    #[must_use]
    pub fn is_discover(&self) -> bool {
        self.server.is_unknown() && self.server.is_discover(self.tool())
    }

    /// Checks whether its arguments are checked with its schema before it runs: those of upstreams are
    /// theirs to check.
    #[must_use]
    pub fn is_of_plugin(&self) -> bool {
        self.server.config().bridge().is_none()
    }

    /// Returns its plugin's declaration of it.
    #[must_use]
    pub fn declared(&self) -> Option<&ListedTool> {
        self.listing.tools.get(self.index)
    }

    /// Returns what it may do, by the hints that agents are shown of it.
    #[must_use]
    pub fn access(&self) -> ToolAccess {
        self.declared().map_or(ToolAccess::Destructive, access_of)
    }

    /// Checks whether pages of its server may call it, by the server's own declaration.
    #[must_use]
    pub fn is_for_pages(&self) -> bool {
        self.declared()
            .is_some_and(|declared| is_for_pages(declared.tool.get()))
    }

    /// Checks whether models may be told of it and call it, by its server's own declaration.
    #[must_use]
    pub fn is_for_models(&self) -> bool {
        self.declared()
            .is_some_and(|declared| is_for_models(declared.tool.get()))
    }
}

impl Snapshot {
    /// Returns the tools that models are told of by Dormouse's own, and can call by these: all that
    /// agents see but for those that their servers declare for others.
    pub fn tools_for_models(&self) -> impl Iterator<Item = &ShownTool> {
        self.tools().iter().filter(|tool| tool.is_for_models())
    }
}

/// Returns what a tool may do, by the hints of its declaration.
fn access_of(declared: &ListedTool) -> ToolAccess {
    ToolAccess::of(hints_of(&declared.tool))
}

/// Returns the hints of an MCP `Tool` object on what the tool may do.
pub(in crate::roster) fn hints_of(tool: &RawValue) -> ToolHints {
    let read = serde_json::from_str::<Annotated>(tool.get()).ok();
    let said = read.unwrap_or_default().annotations.unwrap_or_default();
    ToolHints {
        read_only: said.read_only_hint,
        destructive: said.destructive_hint,
        ..ToolHints::default()
    }
}

/// The part of an MCP `Tool` object that says what it may do.
#[derive(Default, Deserialize)]
struct Annotated {
    annotations: Option<Annotations>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
}
