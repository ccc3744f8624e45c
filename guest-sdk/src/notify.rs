//! Telling agents that something has changed.

use crate::bindings::dormouse::plugin::notify::{self, Catalog};

/// Tells the agents that have subscribed to a resource that it has changed.
pub fn resource_updated(uri: &str) {
    notify::resource_updated(uri);
}

/// Tells all agents to ask for the list of tools again.
pub fn tools_changed() {
    notify::list_changed(Catalog::Tools);
}

/// Tells all agents to ask for the list of prompts again.
pub fn prompts_changed() {
    notify::list_changed(Catalog::Prompts);
}

/// Tells all agents to ask for the lists of resources again.
pub fn resources_changed() {
    notify::list_changed(Catalog::Resources);
}
