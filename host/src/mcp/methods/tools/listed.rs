//! Tools as agents have listed them last, and results that do not fit them.

mod by_client;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::name::SEPARATOR;
use dormouse_jsonrpc::member;
use dormouse_protocol::{Answer, Edit, Era};
use dormouse_upstream::without_blocking;
use parking_lot::Mutex;
use serde_json::json;

use crate::mcp::schema_checks::SchemaChecks;
use crate::roster::Snapshot;
use by_client::ListingsByClient;

/// Tools of all servers as agents have listed them last. Many clients check a result against the
/// output schema that they have listed, and reject all of it where it does not fit. Agents over
/// HTTP without a session are told apart by the names that they give themselves; one that has not
/// listed, or not among the last ones, is taken to have listed what the last one has.
#[derive(Debug, Default)]
pub(in crate::mcp) struct ListedTools(Mutex<Listed>);

#[derive(Debug, Default)]
struct Listed {
    by_client: ListingsByClient,
    /// Names by which agents were ever told of tools that are Dormouse's own while a server is unknown,
    /// each with the profiles of these agents. Their user has chosen what the names begin with: there
    /// are no more than servers were configured.
    own: BTreeMap<String, BTreeSet<Option<String>>>,
    /// Servers of tools that were ever listed by names without a prefix, by those names.
    without_prefix: BTreeMap<String, String>,
}

/// Longest result that is checked against a schema, in bytes: values take up to 40 times as much
/// memory as their text.
const MAX_JUDGED_BYTES: u64 = 1 << 20;

/// Most names without a prefix that are remembered. Once there are as many, any other name may be
/// one that was forgotten.
const MAX_NAMES: usize = 1 << 16;

/// A tool that was called.
#[derive(Debug, Clone, Copy)]
pub(super) struct CalledTool<'a> {
    pub(super) server: &'a str,
    pub(super) name: &'a str,
    /// The era of its client.
    pub(super) era: Era,
    /// Name under which its client has listed.
    pub(super) client: &'a str,
}

impl CalledTool<'_> {
    /// Returns the tool's output schema in a listing, as its client is shown it.
    fn output_schema<'l>(&self, listing: &'l Listing) -> Option<&'l str> {
        let mut tools = listing.tools.iter();
        let tool = tools.find(|tool| tool.name == self.name)?;
        member(
            tool.object(self.era == Era::Stateless).get(),
            "outputSchema",
        )
    }
}

impl ListedTools {
    /// Records the tools that an agent is shown now.
    pub(super) fn note(&self, client: &str, snapshot: &Snapshot) {
        let servers = snapshot.servers().iter();
        let listings = servers.filter_map(|(name, server)| {
            let listing = server.listed()?;
            Some((name.clone(), Arc::clone(listing)))
        });
        let listings = listings.collect();
        let mut listed = self.0.lock();
        listed.by_client.note(client, listings);
        for tool in snapshot.tools() {
            let is_known = listed.without_prefix.contains_key(&tool.name);
            if tool.name.contains(SEPARATOR) || is_known {
                continue;
            }
            if listed.without_prefix.len() == MAX_NAMES {
                break;
            }
            let server = tool.server().to_owned();
            listed.without_prefix.insert(tool.name.clone(), server);
        }
    }

    /// Records the tools of Dormouse's own that agents of a profile are told of now, and that may be no
    /// more of these later.
    pub(super) fn note_own(&self, profile: Option<&str>, snapshot: &Snapshot) {
        for tool in snapshot.tools().iter().filter(|tool| tool.is_discover()) {
            self.note_discover(profile, &tool.name);
        }
    }

    /// Records that an agent of a profile knows a tool that connects a server by a name.
    pub(super) fn note_discover(&self, profile: Option<&str>, name: &str) {
        let mut listed = self.0.lock();
        let profiles = listed.own.entry(name.to_owned()).or_default();
        profiles.insert(profile.map(str::to_owned));
    }

    /// Returns the reason why a server's tool is not called by a name, if agents of that profile were told
    /// that it is one of Dormouse's own: what they would send then is not meant for that server.
    pub(super) fn taken_from_dormouse(
        &self,
        profile: Option<&str>,
        name: &str,
        server: &str,
    ) -> Option<String> {
        let listed = self.0.lock();
        let profiles = listed.own.get(name)?;
        profiles.contains(&profile.map(str::to_owned)).then(|| {
            format!(
                "`{name}` was not called: it was listed as a tool of Dormouse's own that connects a \
                 server, and is one of server `{server}` by now\n\
                 hint: list the tools again, in a new session; this one keeps the name for Dormouse"
            )
        })
    }

    /// Checks whether an agent may have listed a tool of another server by a name without a prefix.
    pub(in crate::mcp) fn is_of_another(&self, server: &str, name: &str) -> bool {
        let listed = self.0.lock();
        match listed.without_prefix.get(name) {
            Some(known) => known != server,
            None => listed.without_prefix.len() == MAX_NAMES,
        }
    }

    /// Returns a result in a form that its client accepts: one that does not fit the output schema
    /// which the client has listed, where that has changed since, becomes an error with the same
    /// content.
    pub(super) async fn result(
        &self,
        result: Answer,
        tool: CalledTool<'_>,
        snapshot: &Snapshot,
        checks: &SchemaChecks,
    ) -> Answer {
        let listed = self.0.lock().by_client.of(tool.client, tool.server);
        let Some(listed) = listed else {
            return result;
        };
        let server = snapshot.servers().get(tool.server);
        let now = server.and_then(|server| server.listed());
        if now.is_some_and(|now| Arc::ptr_eq(now, &listed)) {
            return result;
        }
        match tool.output_schema(&listed) {
            Some(schema) if now.and_then(|now| tool.output_schema(now)) != Some(schema) => {
                fitting(result, schema, tool.server, checks).await
            }
            _ => result,
        }
    }
}

/// Returns a result that fits an output schema, or else an error with the same content. A large one
/// is taken to fit, and any one where that cannot be checked.
async fn fitting(mut result: Answer, schema: &str, server: &str, checks: &SchemaChecks) -> Answer {
    if result.size() > MAX_JUDGED_BYTES {
        return result;
    }
    let failed = result.is_error();
    let content = without_blocking(usize::MAX, || {
        result.get("structuredContent").map(Cow::into_owned)
    });
    let is_fit = match &content {
        _ if failed => true,
        None => false,
        Some(content) => {
            let problems = checks.problems(server, schema, || content, 1).await;
            problems.is_none_or(|problems| problems.is_empty())
        }
    };
    if is_fit {
        return result;
    }
    let said = result.get("content");
    let is_said = said.is_some_and(|said| said.as_array().is_some_and(|said| !said.is_empty()));
    if let (Some(content), false) = (content, is_said) {
        result.push_text(&content.to_string());
    }
    result.remove("structuredContent");
    result.remove("isError");
    result.edit(&Edit {
        defaults: vec![("isError", json!(true))],
        ..Edit::default()
    });
    result.push_text(&format!(
        "[dormouse] The call has been made, and its result does not fit the output schema that was \
         listed for this tool: its definition has changed since. List the tools again; \
         `dormouse approve {server}` shows what has changed, and allows it."
    ));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_names_each_may_be_anothers() {
        let listed = ListedTools::default();
        let name = |n: usize| (format!("tool{n}"), "notes".to_owned());
        listed
            .0
            .lock()
            .without_prefix
            .extend((0..MAX_NAMES - 1).map(name));
        assert!(!listed.is_of_another("page", "send"));
        assert!(!listed.is_of_another("notes", "tool7"));
        assert!(listed.is_of_another("page", "tool7"));
        listed.0.lock().without_prefix.extend([name(MAX_NAMES)]);
        assert!(listed.is_of_another("page", "send"));
    }

    #[test]
    fn what_one_profile_was_told_takes_no_name_from_another() {
        let listed = ListedTools::default();
        listed.note_discover(Some("work"), "gh__discover");
        listed.note_discover(None, "hub__discover");
        for (profile, name, is_taken) in [
            (Some("work"), "gh__discover", true),
            (Some("home"), "gh__discover", false),
            (None, "gh__discover", false),
            (None, "hub__discover", true),
            (Some("work"), "hub__discover", false),
        ] {
            let told = listed.taken_from_dormouse(profile, name, "evil");
            assert_eq!(told.is_some(), is_taken, "{profile:?} {name}");
            assert!(told.iter().all(|told| told.contains("server `evil`")));
        }
    }

    #[tokio::test]
    async fn what_does_not_fit_is_an_error_with_the_same_content() {
        let checks = &SchemaChecks::default();
        let schema = r#"{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}"#;
        let text = |text: &str| json!({ "type": "text", "text": text });
        for (result, content) in [
            (
                json!({ "content": [], "structuredContent": { "a": 1.5 } }),
                None,
            ),
            (json!({ "content": [text("x")], "isError": true }), None),
            (json!({ "content": [text("x")] }), Some(vec![text("x")])),
            (
                json!({ "content": [text("x")], "structuredContent": { "a": "b" } }),
                Some(vec![text("x")]),
            ),
            (
                json!({ "content": [], "structuredContent": { "b": 1 }, "isError": false }),
                Some(vec![text(r#"{"b":1}"#)]),
            ),
            (json!({ "structuredContent": [] }), Some(vec![text("[]")])),
        ] {
            for answer in [
                Answer::Made(result.clone()),
                Answer::Verbatim(result.to_string()),
            ] {
                let fitting = fitting(answer, schema, "post", checks).await;
                let fitting = fitting.into_value().unwrap();
                let Some(content) = &content else {
                    assert_eq!(fitting, result);
                    continue;
                };
                assert_eq!(fitting["isError"], true, "{fitting}");
                assert_eq!(fitting.get("structuredContent"), None, "{fitting}");
                let (line, before) = fitting["content"].as_array().unwrap().split_last().unwrap();
                assert_eq!(before, content);
                assert!(
                    line["text"]
                        .as_str()
                        .unwrap()
                        .contains("dormouse approve post")
                );
            }
        }
        // Nor is what is large made into values.
        let large = json!({ "content": [], "structuredContent": { "b": "x".repeat(1 << 20) } });
        let fitting_large = Answer::Verbatim(large.to_string());
        let fitting_large = fitting(fitting_large, schema, "post", checks).await;
        assert_eq!(fitting_large.into_value().unwrap(), large);
        // What nobody can hold a result against, nobody does.
        for schema in ["7", r#"{"$ref":"https://example.com/x"}"#] {
            let result = json!({ "content": [], "structuredContent": {} });
            let fitting = fitting(Answer::Made(result.clone()), schema, "post", checks).await;
            assert_eq!(fitting.into_value().unwrap(), result, "{schema}");
        }
    }
}
