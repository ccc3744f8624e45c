//! `dormouse:plugin/notify`: changes that agents are told of.

use dormouse_protocol::{ListKind, Notice};

use super::InstanceState;
use crate::bindings::dormouse::plugin::notify;

/// Longest URI of which a guest may report a change, in bytes.
const URI: usize = 8 << 10;

impl notify::Host for InstanceState {
    fn resource_updated(&mut self, uri: String) {
        if uri.len() > URI {
            return;
        }
        if let Some(call) = &self.call {
            call.listener.notify(Notice::Updated(uri));
        }
    }

    fn list_changed(&mut self, catalog: notify::Catalog) {
        let catalog = match catalog {
            notify::Catalog::Tools => ListKind::Tools,
            notify::Catalog::Prompts => ListKind::Prompts,
            notify::Catalog::Resources => ListKind::Resources,
        };
        if let Some(call) = &self.call {
            call.listener.notify(Notice::Changed(catalog));
        }
    }
}
