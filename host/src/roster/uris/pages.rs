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

/// Member of `_meta` by which a server says who may call a tool, in MCP Apps' flat form.
const VISIBILITY: &str = "ui/visibility";

/// Member of `_meta` by which a server keeps a tool from models, in the extension that MCP Apps came
/// from.
const EARLIER_VISIBILITY: &str = "openai/visibility";

/// Checks whether pages may call a tool: unless its server declares that it is for others.
pub(crate) fn is_for_pages(tool: &str) -> bool {
    is_for(tool, "app")
}

/// Checks whether models may be told of a tool and call it: unless its server declares that it is for
/// others.
pub(crate) fn is_for_models(tool: &str) -> bool {
    if !may_have_visibility(tool) {
        return true;
    }
    let meta = member(tool, "_meta");
    let earlier = meta.and_then(|meta| member(meta, EARLIER_VISIBILITY));
    let earlier = earlier.and_then(|text| serde_json::from_str::<String>(text).ok());
    is_for(tool, "model") && earlier.is_none_or(|visibility| visibility != "private")
}

/// Checks whether a tool is for one of those that MCP Apps names, by its server's declaration: for all
/// where that says nothing that can be read.
fn is_for(tool: &str, whom: &str) -> bool {
    let Some(meta) = member(tool, "_meta") else {
        return true;
    };
    let visibility = member(meta, "ui").and_then(|ui| member(ui, "visibility"));
    let Some(visibility) = visibility.or_else(|| member(meta, VISIBILITY)) else {
        return true;
    };
    let visible: Option<Vec<String>> = serde_json::from_str(visibility).ok();
    visible.is_none_or(|visible| visible.iter().any(|to| to == whom))
}

/// Checks whether a text may say who may call a tool: most do not, and all are looked through for a
/// search. A letter may be written as an escape.
fn may_have_visibility(text: &str) -> bool {
    let text = text.as_bytes();
    memmem::find(text, b"isibility").is_some()
        || memchr::memchr(b'\\', text).is_some() && memmem::find(text, b"\\u00").is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_for_whom_its_server_declares_it() {
        for (meta, pages, models) in [
            ("{}", true, true),
            (r#"{"ui":{"visibility":["app"]}}"#, true, false),
            (r#"{"ui":{"visibility":["model"]}}"#, false, true),
            (r#"{"ui":{"visibility":["model","app"]}}"#, true, true),
            (r#"{"ui":{"visibility":[]}}"#, false, false),
            (r#"{"ui":{"visibility":7}}"#, true, true),
            (r#"{"ui/visibility":["app"]}"#, true, false),
            (r#"{"ui":{"v\u0069sibility":["app"]}}"#, true, false),
            (r#"{"openai/visibility":"private"}"#, true, false),
            (r#"{"openai/visibility":"public"}"#, true, true),
        ] {
            let tool = format!(r#"{{"name":"t","_meta":{meta}}}"#);
            assert_eq!(is_for_pages(&tool), pages, "{tool}");
            assert_eq!(is_for_models(&tool), models, "{tool}");
        }
        assert!(is_for_models(r#"{"name":"t"}"#));
    }
}
