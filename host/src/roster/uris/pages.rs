//! URIs of pages that clients show for tools (MCP Apps), in tools and in results.

use std::borrow::Cow;
use std::sync::LazyLock;

use dormouse_jsonrpc::member;
use memchr::memmem;

use super::replaced::with_replaced;
use super::result::{ResultPart, each_part};
use super::server_uri::with_server;

/// Members of `_meta` with URIs of pages that a client shows for a tool (MCP Apps in its current
/// and its earlier form, and the extension that it came from).
const PAGES: [&str; 2] = ["ui/resourceUri", "openai/outputTemplate"];

/// Returns the text of a listed item with the URIs of its pages in the form that agents are shown:
/// its pages are always of its own server.
pub(in super::super) fn with_shown_pages<'t>(server: &str, object: &'t str) -> Cow<'t, str> {
    let shown = |uri: &str| Some(with_server(uri, server));
    with_replaced(object, |each| each_page(object, each), shown).map_or(object.into(), Cow::Owned)
}

/// Checks whether a tool has a page in its `_meta`.
pub(in super::super) fn has_page(tool: &str) -> bool {
    let mut has = false;
    each_page(tool, &mut |_| has = true);
    has
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
pub(in super::super) fn each_page_of_result(result: &str, each: &mut dyn FnMut(&str)) {
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
pub(in super::super) fn each_page(object: &str, each: &mut dyn FnMut(&str)) {
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
