//! URIs in servers' messages, in the form that agents are shown.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use dormouse_jsonrpc::member;
use dormouse_protocol::Answer;
use dormouse_upstream::without_blocking;
use memchr::memmem;
use serde_json::Value;

use super::named_resources::{ResultPart, each_part, each_uri, text_of};
use super::server_uri::{is_page, split, with_server};
use super::{Roster, Server, Shown, Snapshot, resource};

/// Members of `_meta` with URIs of pages that a client shows for a tool (MCP Apps in its current
/// and its earlier form, and the extension that it came from).
const PAGES: [&str; 2] = ["ui/resourceUri", "openai/outputTemplate"];

/// Most URIs of one result that get their server's name because others have the same: each becomes
/// longer by that.
const MAX_SHARED: usize = 4096;

/// URI of the resource that a request reads.
#[derive(Clone, Copy)]
pub(super) struct RequestedUri<'u> {
    /// The URI as its server knows it.
    pub(super) own: &'u str,
    /// The URI as the agent knows it.
    pub(super) shown: &'u str,
}

impl Snapshot {
    /// Returns a server's URI in the form that agents are shown, if that includes the server's
    /// name. `steps` is the number of bytes that may yet be compared with templates.
    fn shown_uri(&self, server: &str, uri: &str, steps: &Cell<usize>) -> Option<String> {
        let is_of_template = || {
            let mut templates = self.templates().shared_of(server).iter();
            templates.any(|template| {
                // With nothing left, no other is looked at either.
                if steps.get() == 0 {
                    return false;
                }
                let left = steps.get().saturating_sub(template.steps(uri));
                steps.set(left);
                left > 0 && template.matched(uri).is_some()
            })
        };
        // What looks as if it were another's is this one's all the same.
        let is_marked = is_page(uri) || split(uri).is_some();
        let is_shared = is_marked
            || self.resources().shares(server, uri)
            || steps.get() > 0 && is_of_template();
        is_shared.then(|| with_server(uri, server))
    }

    /// Returns the servers of which shown tools name a page, whether these list it or not.
    pub(super) fn servers_naming_page(&self, uri: &str) -> BTreeSet<&str> {
        let names = |tool: &&Shown| {
            let mut is_named = false;
            let mut each = |page: &str| is_named |= text_of(page).is_some_and(|page| page == uri);
            if let Some(declared) = tool.declared() {
                each_page(declared.tool.get(), &mut each);
            }
            is_named
        };
        self.tools()
            .iter()
            .filter(names)
            .map(Shown::server)
            .collect()
    }
}

/// Returns the text of a listed item with the URIs of its pages in the form that agents are shown:
/// its pages are always of its own server.
pub(super) fn with_shown_pages<'t>(server: &str, object: &'t str) -> Cow<'t, str> {
    let shown = |uri: &str| Some(with_server(uri, server));
    rewritten(object, |each| each_page(object, each), shown).map_or(object.into(), Cow::Owned)
}

impl Roster {
    /// Returns a server's answer with its URIs in the form that agents are shown: that of the
    /// request, and those that other servers have, too. Remembers the resources that it names.
    pub(super) fn with_shown_uris(
        &self,
        server: &Server,
        asked: Option<RequestedUri<'_>>,
        answer: Answer,
    ) -> Answer {
        let text = match &answer {
            Answer::Verbatim(text) => Cow::Borrowed(text.as_str()),
            Answer::Made(value) if may_name_resources(value) => Cow::Owned(value.to_string()),
            Answer::Made(_) => return answer,
        };
        let rewritten = without_blocking(text.len(), || {
            self.note(server, &text);
            self.rewritten_uris(server, asked, &text)
        });
        match (rewritten, &answer) {
            (None, _) => answer,
            (Some(text), Answer::Verbatim(_)) => Answer::Verbatim(text),
            (Some(text), Answer::Made(_)) => serde_json::from_str(&text)
                .map(Answer::Made)
                .unwrap_or(answer),
        }
    }

    /// Returns the text of an answer with its URIs as agents are shown them; none where they are
    /// that already.
    fn rewritten_uris(
        &self,
        server: &Server,
        asked: Option<RequestedUri<'_>>,
        text: &str,
    ) -> Option<String> {
        let server = server.config().name.as_str();
        let snapshot = self.snapshot();
        let steps = Cell::new(resource::MAX_STEPS);
        let shared = Cell::new(0_usize);
        let shown = |uri: &str| match asked {
            Some(RequestedUri { own, shown }) if own == uri => {
                (own != shown).then(|| shown.to_owned())
            }
            // However many there are, none looks like another server's.
            _ if is_page(uri) || split(uri).is_some() => Some(with_server(uri, server)),
            _ if shared.get() >= MAX_SHARED => None,
            _ => {
                let shown = snapshot.shown_uri(server, uri, &steps);
                shared.set(shared.get() + usize::from(shown.is_some()));
                shown
            }
        };
        let each = |each: &mut dyn FnMut(&str)| {
            each_uri(text, &mut *each);
            each_page_of_result(text, each);
        };
        rewritten(text, each, shown)
    }

    /// Returns the URI of a changed resource in the form that its followers are shown.
    pub(super) fn shown_update(&self, server: &str, uri: String) -> String {
        let with_server = with_server(&uri, server);
        // Comparing takes time, and its server says how often.
        if !self.changes.is_wanted(&with_server) {
            return uri;
        }
        let steps = Cell::new(resource::MAX_STEPS);
        let shown = self.snapshot().shown_uri(server, &uri, &steps);
        shown.unwrap_or(uri)
    }
}

/// Checks whether a result may name resources or pages. Most results of plugins do not, and need
/// not be serialized to be searched.
fn may_name_resources(result: &Value) -> bool {
    let is_resource = |block: &Value| {
        let kind = block.get("type").and_then(Value::as_str);
        matches!(kind, Some("resource" | "resource_link")) || block.get("_meta").is_some()
    };
    let blocks = result.get("content").and_then(Value::as_array);
    let others = ["contents", "messages", "_meta"];
    others.iter().any(|name| result.get(name).is_some())
        || blocks.is_some_and(|blocks| blocks.iter().any(is_resource))
}

/// Checks whether a tool has a page in its `_meta`.
pub(super) fn has_page(tool: &str) -> bool {
    let mut has = false;
    each_page(tool, &mut |_| has = true);
    has
}

/// Checks whether pages may call a tool: unless its server declares that it is for others.
pub(super) fn is_for_pages(tool: &str) -> bool {
    let visibility = member(tool, "_meta")
        .and_then(|meta| member(meta, "ui"))
        .and_then(|ui| member(ui, "visibility"));
    let Some(visibility) = visibility else {
        return true;
    };
    let visible: Option<Vec<String>> = serde_json::from_str(visibility).ok();
    visible.is_none_or(|visible| visible.iter().any(|to| to == "app"))
}

/// Checks whether a text may name a page: most do not, and then they need not be read. A letter may
/// be written as an escape.
fn may_name_page(text: &str) -> bool {
    // Every tool is looked through for each client that lists it, and most have neither.
    static META: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("_meta"));
    let text = text.as_bytes();
    let has = |part: &str| memmem::find(text, part.as_bytes()).is_some();
    META.find(text).is_some() && (has("esourceUri") || has("outputTemplate"))
        || memchr::memchr(b'\\', text).is_some() && has("\\u00")
}

/// Calls a function with the URIs of pages in a result's `_meta`, and in those of its parts, each
/// as it is written.
fn each_page_of_result(result: &str, each: &mut dyn FnMut(&str)) {
    if !may_name_page(result) {
        return;
    }
    each_page(result, each);
    each_part(result, |part| {
        let (ResultPart::Contents(part) | ResultPart::Block(part) | ResultPart::Embedded(part)) =
            part;
        each_page(part, each);
    });
}

/// Calls a function with the URIs of pages in an object's `_meta`, each as it is written.
fn each_page(object: &str, each: &mut dyn FnMut(&str)) {
    if !may_name_page(object) {
        return;
    }
    let Some(meta) = member(object, "_meta") else {
        return;
    };
    let pages = PAGES.into_iter().filter_map(|name| member(meta, name));
    let page = member(meta, "ui").and_then(|ui| member(ui, "resourceUri"));
    pages.chain(page).for_each(each);
}

/// Returns a text with some strings replaced, which `each` finds as parts of the text. None if
/// nothing is replaced.
fn rewritten(
    text: &str,
    each: impl FnOnce(&mut dyn FnMut(&str)),
    other: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let mut changes: Vec<(usize, usize, String)> = Vec::new();
    each(&mut |literal: &str| {
        let start = (literal.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
        // However long it is: what is not read here would be read as another server's.
        let uri = serde_json::from_str::<String>(literal).ok();
        let Some(other) = uri.and_then(|uri| other(&uri)) else {
            return;
        };
        let other = Value::from(other).to_string();
        changes.extend(start.map(|start| (start, literal.len(), other)));
    });
    if changes.is_empty() {
        return None;
    }
    changes.sort();
    // One may be both of what is looked for.
    changes.dedup_by_key(|(start, ..)| *start);
    let mut all = String::with_capacity(text.len());
    let mut done = 0;
    for (start, length, other) in changes {
        all.push_str(text.get(done..start)?);
        all.push_str(&other);
        done = start + length;
    }
    all.push_str(text.get(done..)?);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_replaced_where_they_are_uris_and_nowhere_else() {
        let other = |uri: &str| (uri == "a:1").then(|| "a:1#\"".to_owned());
        let text = r#"{"content": [{"type":"text","text":"a:1","uri":"a:1","_meta":{"ui":{"resourceUri":"a:1"}}}, {"type":"resource_link", "uri" : "a:\u0031","name":"a:1"},
            {"type":"resource","resource":{"uri":"a:1","text":"\"uri\":\"a:1\"","_meta":{"openai/outputTemplate":"a:1"}}},{"type":"resource_link","uri":"b:2"}],
            "structuredContent":{"uri":"a:1"},"_meta":{"ui":{"resourceUri":"a:1"},"ui/resourceUri":"a:1","x":"a:1"}}"#;
        let each = |each: &mut dyn FnMut(&str)| {
            each_uri(text, &mut *each);
            each_page_of_result(text, each);
        };
        let expected = text
            .replace(r#""uri" : "a:\u0031""#, r#""uri" : "a:1#\"""#)
            .replace(r#"{"uri":"a:1","text""#, r#"{"uri":"a:1#\"","text""#)
            .replace(
                r#""openai/outputTemplate":"a:1""#,
                r#""openai/outputTemplate":"a:1#\"""#,
            )
            .replace(r#""resourceUri":"a:1""#, r#""resourceUri":"a:1#\"""#)
            .replace(r#""ui/resourceUri":"a:1""#, r#""ui/resourceUri":"a:1#\"""#);
        assert_eq!(
            rewritten(text, each, other).as_deref(),
            Some(expected.as_str())
        );
        assert_eq!(rewritten(text, each, |_| None), None);
    }

    #[test]
    fn many_uris_are_replaced_in_linear_time() {
        let texts = |links: usize| {
            let links: Vec<_> = (0..links)
                .map(|n| format!(r#"{{"type":"resource_link","uri":"a:{n}"}}"#))
                .collect();
            format!(r#"{{"content":[{}]}}"#, links.join(","))
        };
        dormouse_tests::growth::is_linear("links", 4_000, texts, |text: &String| {
            let each = |each: &mut dyn FnMut(&str)| each_uri(text, each);
            let all = rewritten(text, each, |uri| Some(with_server(uri, "x")));
            assert!(all.unwrap().len() > text.len());
        });
    }
}
