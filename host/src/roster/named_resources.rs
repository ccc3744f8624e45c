//! Resources that no list has: servers name them in their answers and notifications.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_jsonrpc::{each_item, member};

use super::{Roster, Server};

/// Most URIs that are remembered of one server.
const MAX_URIS: usize = 4096;

/// Most bytes of all URIs that are remembered of one server.
const MAX_BYTES: usize = 1 << 20;

/// Longest URI that is remembered, in bytes.
const MAX_URI_BYTES: usize = 2048;

/// URIs that each server has named. The limit is one of each server: if one server's URIs displaced
/// those of another, they would change their owners.
#[derive(Debug, Default)]
pub(super) struct NamedResources {
    servers: BTreeMap<String, NamedByServer>,
}

/// URIs that one server has named, as many as are remembered.
#[derive(Debug, Default)]
struct NamedByServer {
    uris: HashMap<Arc<str>, u64>,
    /// The same URIs, by the time at which they were last named.
    order: BTreeMap<u64, Arc<str>>,
    bytes: usize,
    next: u64,
    /// Start of the current [`PERIOD`], and number of updates in it of resources that no client
    /// follows.
    unwanted: Option<(Instant, usize)>,
}

/// Most updates in one [`PERIOD`] of resources that no client follows: finding their owners takes
/// time.
const MAX_UNWANTED: usize = 16;

/// Time in which such updates are counted.
const PERIOD: Duration = Duration::from_secs(1);

impl NamedByServer {
    fn note(&mut self, uri: &str) {
        if uri.len() > MAX_URI_BYTES {
            return;
        }
        self.next += 1;
        let uri: Arc<str> = uri.into();
        self.bytes += uri.len();
        if let Some(before) = self.uris.insert(uri.clone(), self.next) {
            self.order.remove(&before);
            self.bytes -= uri.len();
        }
        self.order.insert(self.next, uri);
        while (self.order.len() > MAX_URIS || self.bytes > MAX_BYTES)
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.uris.remove(&oldest);
            self.bytes -= oldest.len();
        }
    }
}

impl NamedResources {
    fn note(&mut self, server: &str, uri: &str) {
        self.servers.entry(server.to_owned()).or_default().note(uri);
    }

    fn may_name_another(&mut self, server: &str, now: Instant) -> bool {
        let of_server = self.servers.entry(server.to_owned()).or_default();
        let unwanted = of_server.unwanted.get_or_insert((now, 0));
        if now.saturating_duration_since(unwanted.0) >= PERIOD {
            *unwanted = (now, 0);
        }
        unwanted.1 = unwanted.1.saturating_add(1);
        unwanted.1 <= MAX_UNWANTED
    }

    fn servers(&self, uri: &str) -> impl Iterator<Item = &str> {
        let naming = self
            .servers
            .iter()
            .filter(move |(_, named)| named.uris.contains_key(uri));
        naming.map(|(server, _)| server.as_str())
    }
}

impl Roster {
    /// Remembers the resources that the text of an upstream's answer names: an agent that gets one
    /// may read it.
    pub(super) fn note(&self, server: &Server, text: &str) {
        if server.config().bridge().is_none() {
            return;
        }
        let name = &server.config().name;
        each_uri(text, |uri| {
            // That it links to what another lists does not make it its own.
            if let Some(uri) = text_of(uri)
                && !self.is_listed_by_another(&uri, name)
            {
                self.named.lock().note(name, &uri);
            }
        });
    }

    /// Remembers a resource that an upstream says has changed. Returns false if it is another
    /// server's, or contested.
    pub(super) fn note_updated(&self, server: &str, uri: &str) -> bool {
        let snapshot = self.snapshot();
        let found = snapshot.servers().get(server);
        if found.is_none_or(|server| server.config().bridge().is_none()) {
            return false;
        }
        // One that nobody has named is named by this.
        self.named.lock().note(server, uri);
        self.resource(uri)
            .is_ok_and(|source| source.server == server)
    }

    /// Checks whether an update of a resource that no client follows is still accepted from a
    /// server.
    pub(super) fn may_name_another(&self, server: &str) -> bool {
        self.named.lock().may_name_another(server, Instant::now())
    }

    /// Returns the servers that have named a URI in their answers.
    pub(super) fn naming(&self, uri: &str) -> Vec<String> {
        let snapshot = self.snapshot();
        // What a server has said that is gone counts for nothing.
        let there = |server: &&str| {
            let server = snapshot.servers().get(*server);
            server.is_some_and(|server| server.config().bridge().is_some())
        };
        let named = self.named.lock();
        named
            .servers(uri)
            .filter(there)
            .map(str::to_owned)
            .collect()
    }
}

/// Part of a result that may name a resource, as it is written there.
#[derive(Clone, Copy)]
pub(super) enum ResultPart<'t> {
    /// Contents of a resource that was read.
    Contents(&'t str),
    /// A content block.
    Block(&'t str),
    /// A resource within a content block.
    Embedded(&'t str),
}

/// Calls a function with the URIs of the resources that a result contains or links to, each as it
/// is written there. Text is read, for values would take many times its memory.
pub(super) fn each_uri(text: &str, mut each: impl FnMut(&str)) {
    // Most name none, and then they need not be read.
    if !text.contains("\"uri\"") && !text.contains("\\u00") {
        return;
    }
    each_part(text, |part| match part {
        ResultPart::Contents(part) | ResultPart::Embedded(part) => uri_in(part, &mut each),
        ResultPart::Block(block) => {
            if type_of(block).as_deref() == Some("resource_link") {
                uri_in(block, &mut each);
            }
        }
    });
}

/// Calls a function with the parts of a result that may name a resource.
pub(super) fn each_part<'t>(result: &'t str, mut each: impl FnMut(ResultPart<'t>)) {
    if let Some(contents) = member(result, "contents") {
        each_of(contents, |contents| {
            if may_name_resource(contents) {
                each(ResultPart::Contents(contents));
            }
        });
    }
    if let Some(content) = member(result, "content") {
        each_of(content, |block| parts_of_block(block, &mut each));
    }
    if let Some(messages) = member(result, "messages") {
        each_of(messages, |message| match member(message, "content") {
            Some(blocks) if blocks.starts_with('[') => {
                each_of(blocks, |block| parts_of_block(block, &mut each));
            }
            Some(block) => parts_of_block(block, &mut each),
            None => {}
        });
    }
}

/// Fewest bytes of an object that may name a resource.
const MIN_NAMING_BYTES: usize = r#"{"uri":""}"#.len();

/// Whether a part of a result may name a resource. A result may have millions that are too short.
fn may_name_resource(part: &str) -> bool {
    part.len() >= MIN_NAMING_BYTES && part.starts_with('{')
}

fn parts_of_block<'t>(block: &'t str, each: &mut impl FnMut(ResultPart<'t>)) {
    if !may_name_resource(block) {
        return;
    }
    each(ResultPart::Block(block));
    if let Some(resource) = member(block, "resource")
        && type_of(block).as_deref() == Some("resource")
    {
        each(ResultPart::Embedded(resource));
    }
}

/// Calls a function with the items of an array; other values have none.
fn each_of<'t>(array: &'t str, each: impl FnMut(&'t str)) {
    let _ = each_item(array, each);
}

fn type_of(block: &str) -> Option<String> {
    member(block, "type").and_then(text_of)
}

fn uri_in(object: &str, mut each: impl FnMut(&str)) {
    if let Some(uri) = member(object, "uri") {
        each(uri);
    }
}

/// Returns the text of a JSON string, if it is one that may be remembered.
pub(super) fn text_of(value: &str) -> Option<String> {
    // A letter may be written with an escape of six.
    let is_short = value.len() <= 2 + 6 * MAX_URI_BYTES;
    let text = is_short.then(|| serde_json::from_str::<String>(value));
    text?.ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn few_updates_that_nobody_wants_are_listened_to() {
        let mut named = NamedResources::default();
        let begin = Instant::now();
        let mut heard = |server: &str, after: Duration| {
            let times = 0..1000;
            let heard = times.filter(|_| named.may_name_another(server, begin + after));
            heard.count()
        };
        assert_eq!(heard("one", Duration::ZERO), MAX_UNWANTED);
        assert_eq!(heard("one", PERIOD / 2), 0);
        // Another one's are its own.
        assert_eq!(heard("two", PERIOD / 2), MAX_UNWANTED);
        assert_eq!(heard("one", PERIOD), MAX_UNWANTED);
    }

    fn uris(text: &str) -> Vec<String> {
        let mut uris = Vec::new();
        each_uri(text, |uri| uris.extend(text_of(uri)));
        uris
    }

    #[test]
    fn a_long_result_is_read_without_making_values_of_it() {
        let many = "{},".repeat(1 << 20);
        let last = r#"{"type":"resource_link","uri":"a:\u0062"}"#;
        for (result, expected) in [
            (format!(r#"{{"content":[{many}{last}]}}"#), vec!["a:b"]),
            (
                format!(r#"{{"messages":[{many}{{"content":{last}}}]}}"#),
                vec!["a:b"],
            ),
            (
                format!(r#"{{"content":[{{"a":[{many}1]}},{last}]}}"#),
                vec!["a:b"],
            ),
            (format!(r#"{{"contents":[{last}]}}"#), vec!["a:b"]),
            (
                r#"{"content":{"uri":1},"contents":[{"uri":2}],"messages":["uri"]}"#.into(),
                vec![],
            ),
        ] {
            let before = dormouse_tests::processes::most_memory(std::process::id()).unwrap();
            assert_eq!(uris(&result), expected);
            let after = dormouse_tests::processes::most_memory(std::process::id()).unwrap();
            // Values of that take 100 MiB and more.
            assert!(after - before < 32 << 10, "{} KiB", after - before);
        }
    }

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
            assert_eq!(uris(&result.to_string()), expected, "{result}");
        }
    }

    #[test]
    fn a_server_makes_only_its_own_forgotten() {
        let servers = |named: &NamedResources, uri: &str| -> Vec<String> {
            named.servers(uri).map(str::to_owned).collect()
        };
        let mut named = NamedResources::default();
        named.note("one", "x:first");
        named.note("two", "x:first");
        named.note("two", &"x".repeat(MAX_URI_BYTES + 1));
        assert_eq!(servers(&named, "x:first"), ["one", "two"]);
        for i in 0..MAX_URIS {
            named.note("two", &format!("x:{i}"));
        }
        assert_eq!(servers(&named, "x:first"), ["one"]);
        let two = &named.servers["two"];
        assert_eq!((two.uris.len(), two.order.len()), (MAX_URIS, MAX_URIS));
        // Long ones take the room of many.
        for i in 0..MAX_URIS {
            named.note("two", &format!("{i}:{}", "x".repeat(1024)));
        }
        let two = &named.servers["two"];
        assert!(
            two.bytes <= MAX_BYTES && two.uris.len() < 1024,
            "{}",
            two.uris.len()
        );
        let total: usize = two.order.values().map(|uri| uri.len()).sum();
        assert_eq!(total, two.bytes);
        assert_eq!(servers(&named, "x:first"), ["one"]);
    }

    #[test]
    fn results_are_looked_through_in_linear_time() {
        let link = |uri: &str| json!({ "type": "resource_link", "uri": uri, "name": "x" });
        type Result<'r> = &'r dyn Fn(usize) -> Value;
        let results: [(&str, Result<'_>); 4] = [
            ("links", &|size| {
                let links = (0..size).map(|n| link(&format!("a:{n}")));
                json!({ "content": links.collect::<Vec<_>>() })
            }),
            (
                "one URI",
                &|size| json!({ "contents": vec![link("a:1"); size] }),
            ),
            ("messages", &|size| {
                let message = json!({ "content": [link("a:1"), link("b:2")] });
                json!({ "messages": vec![message; size] })
            }),
            ("long URIs", &|size| {
                let uri = "x".repeat(MAX_URI_BYTES);
                json!({ "content": vec![link(&uri); size / 100] })
            }),
        ];
        for (what, result) in results {
            let answer = |size: usize| result(size).to_string();
            dormouse_tests::growth::is_linear(what, 2_000, answer, |answer: &String| {
                let mut named = NamedResources::default();
                each_uri(answer, |uri| named.note("one", uri));
                assert!(named.servers("a:none").next().is_none());
            });
        }
    }
}
