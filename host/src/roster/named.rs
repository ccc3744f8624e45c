//! Resources that no list has: servers name them in what they answer and tell.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use serde_json::Value;

use super::{Roster, Server};
use crate::runtime::Answer;

/// How many URIs are remembered.
const MOST: usize = 4096;

/// The longest URI that is remembered, in bytes.
const LONGEST: usize = 2048;

/// What Dormouse's own resources begin with.
const OURS: &str = "dormouse:";

/// Which server has last named a URI, of as many as are remembered.
#[derive(Debug, Default)]
pub(super) struct Named {
    servers: HashMap<Arc<str>, (u64, String)>,
    /// The same URIs, by when they were named.
    order: BTreeMap<u64, Arc<str>>,
    next: u64,
}

impl Named {
    fn note(&mut self, server: &str, uri: &str) {
        if uri.len() > LONGEST {
            return;
        }
        self.next += 1;
        let uri: Arc<str> = uri.into();
        let named = (self.next, server.to_owned());
        if let Some((before, _)) = self.servers.insert(uri.clone(), named) {
            self.order.remove(&before);
        }
        self.order.insert(self.next, uri);
        if self.order.len() > MOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.servers.remove(&oldest);
        }
    }

    fn server(&self, uri: &str) -> Option<&str> {
        self.servers.get(uri).map(|(_, server)| server.as_str())
    }
}

impl Roster {
    /// Remembers the resources that an upstream's answer names: an agent that is told
    /// of one may read it.
    pub(super) fn note(&self, server: &Server, answer: &Answer) {
        if server.config().bridge().is_none() {
            return;
        }
        let uris = uris(answer);
        let mut named = self.named();
        for uri in &uris {
            named.note(&server.config().name, uri);
        }
    }

    /// Remembers a resource that an upstream says has changed. False if it is another
    /// server's.
    pub(super) fn note_updated(&self, server: &str, uri: &str) -> bool {
        let snapshot = self.snapshot();
        let found = snapshot.servers().get(server);
        if found.is_none_or(|server| server.config().bridge().is_none()) {
            return false;
        }
        let mut named = self.named();
        let ours = named.server(uri).is_none_or(|known| known == server);
        if ours {
            named.note(server, uri);
        }
        ours
    }

    /// The server to ask for a resource that is in no list and of no template: whose
    /// results have named it, or else the only one whose upstream has resources at
    /// all. Never several, one after the other: a URI may be nobody else's business.
    #[must_use]
    pub fn unlisted(&self, uri: &str) -> Option<String> {
        if uri.starts_with(OURS) {
            return None;
        }
        let snapshot = self.snapshot();
        let reachable = |server: &&Arc<Server>| {
            let config = server.config();
            config.enabled && config.bridge().is_some()
        };
        let named = self.named().server(uri).map(str::to_owned);
        if let Some(named) = named {
            // Also where it cannot be asked now, it is nobody else's.
            let server = snapshot.servers().get(&named);
            return server.filter(reachable).map(|_| named);
        }
        let servers = snapshot.servers().values().filter(reachable);
        let mut having = servers.filter(|server| server.has_resources());
        match (having.next(), having.next()) {
            (Some(only), None) => Some(only.config().name.clone()),
            _ => None,
        }
    }

    fn named(&self) -> std::sync::MutexGuard<'_, Named> {
        // Nothing that is done under this lock can be left half done.
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The URIs of the resources that a result holds or links to.
fn uris(answer: &Answer) -> Vec<String> {
    // Most name none, and then they need not be read.
    if let Answer::Verbatim(text) = answer
        && !text.contains("\"uri\"")
    {
        return Vec::new();
    }
    let items = |name: &str| match answer.get(name).as_deref() {
        Some(Value::Array(items)) => items.clone(),
        _ => Vec::new(),
    };
    let of_messages = items("messages").into_iter().flat_map(|mut message| {
        match message.get_mut("content").map(Value::take) {
            Some(Value::Array(blocks)) => blocks,
            Some(block) => vec![block],
            None => Vec::new(),
        }
    });
    let blocks = items("content").into_iter().chain(of_messages);
    let of_blocks = blocks.filter_map(|block| {
        let uri = match block.get("type")?.as_str()? {
            "resource_link" => block.get("uri"),
            "resource" => block.pointer("/resource/uri"),
            _ => None,
        };
        uri?.as_str().map(str::to_owned)
    });
    let contents = items("contents").into_iter();
    let of_contents =
        contents.filter_map(|content| content.get("uri")?.as_str().map(str::to_owned));
    of_blocks.chain(of_contents).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_name_resources_in_their_blocks() {
        let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "x" });
        let held = |uri: &str| json!({ "type": "resource", "resource": { "uri": uri } });
        let text = json!({ "type": "text", "text": "\"uri\"", "uri": "no:1" });
        for (result, expected) in [
            (json!({}), vec![]),
            (json!({ "content": "\"uri\"" }), vec![]),
            (
                json!({ "content": [link("a:1"), text, held("b:2"), 3] }),
                vec!["a:1", "b:2"],
            ),
            (
                json!({ "messages": [{ "content": held("c:3") }, { "content": [link("d:4")] }] }),
                vec!["c:3", "d:4"],
            ),
            (
                json!({ "contents": [{ "uri": "e:5", "text": "" }] }),
                vec!["e:5"],
            ),
        ] {
            let answer = Answer::Verbatim(result.to_string());
            assert_eq!(uris(&answer), expected, "{result}");
        }
    }

    #[test]
    fn the_oldest_is_forgotten_and_the_latest_is_right() {
        let mut named = Named::default();
        named.note("one", "x:first");
        named.note("one", "x:second");
        named.note("two", "x:first");
        named.note("one", &"x".repeat(LONGEST + 1));
        for i in 0..MOST - 1 {
            named.note("three", &format!("x:{i}"));
        }
        assert_eq!(named.server("x:first"), Some("two"));
        assert_eq!(named.server("x:second"), None);
        assert_eq!((named.servers.len(), named.order.len()), (MOST, MOST));
    }
}
