//! Tools that agents see.

use std::sync::Arc;

use dormouse_catalog::{ListedTool, Listing};

use crate::roster::Server;
use crate::roster::uris::is_for_pages;

/// Tool that agents see.
#[derive(Debug)]
pub struct Shown {
    /// Name under which agents see the tool.
    pub name: String,
    pub(super) server: Arc<Server>,
    pub(super) listing: Arc<Listing>,
    pub(super) index: usize,
}

impl Shown {
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

    /// Returns its plugin's declaration of it.
    #[must_use]
    pub fn declared(&self) -> Option<&ListedTool> {
        self.listing.tools.get(self.index)
    }

    /// Checks whether pages of its server may call it, by the server's own declaration.
    #[must_use]
    pub fn is_for_pages(&self) -> bool {
        self.declared()
            .is_some_and(|declared| is_for_pages(declared.tool.get()))
    }
}
