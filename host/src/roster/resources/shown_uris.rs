//! URIs in servers' messages, in the form that agents are shown.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;

use dormouse_protocol::Answer;
use dormouse_upstream::without_blocking;
use serde_json::Value;

use super::matching_steps::MAX_STEPS;
use crate::roster::uris::{
    each_page, each_page_of_result, each_uri, is_always_named, text_of, with_replaced, with_server,
};
use crate::roster::{Roster, Server, ShownTool, Snapshot};

/// Most URIs of one result that get their server's name because others have the same: each becomes
/// longer by that.
const MAX_SHARED: usize = 4096;

/// URI of the resource that a request reads.
#[derive(Clone, Copy)]
pub(in super::super) struct RequestedUri<'u> {
    /// The URI as its server knows it.
    pub(in super::super) own: &'u str,
    /// The URI as the agent knows it.
    pub(in super::super) shown: &'u str,
}

impl Snapshot {
    /// Returns a server's URI in the form that agents are shown, if that includes the server's
    /// name because others have the same. `steps` is the number of bytes that may yet be compared with templates.
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
        let is_shared = self.resources().shares(server, uri) || steps.get() > 0 && is_of_template();
        is_shared.then(|| with_server(uri, server))
    }

    /// Returns the servers of which shown tools name a page, whether these list it or not.
    pub(super) fn servers_naming_page(&self, uri: &str) -> BTreeSet<&str> {
        let names = |tool: &&ShownTool| {
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
            .map(ShownTool::server)
            .collect()
    }
}

impl Roster {
    /// Returns a server's answer with its URIs in the form that agents are shown: that of the
    /// request, and those that other servers have, too. Remembers the resources that it names.
    pub(in super::super) fn with_shown_uris(
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
        let steps = Cell::new(MAX_STEPS);
        let shared = Cell::new(0_usize);
        let shown = |uri: &str| match asked {
            Some(RequestedUri { own, shown }) if own == uri => {
                (own != shown).then(|| shown.to_owned())
            }
            // However many there are, none looks like another server's, or Dormouse's.
            _ if is_always_named(uri) => Some(with_server(uri, server)),
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
        with_replaced(text, each, shown)
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
