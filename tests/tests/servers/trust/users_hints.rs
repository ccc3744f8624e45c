//! Hints that a user sets on the tools of a project's server (`annotations`).

use std::fs;

use serde_json::json;

use crate::confirmed_calls::{ASK, is_refused};
use crate::scripted::asks;
use crate::trust::project;

/// Its server calls it harmless, and its user does not: they are asked, whether their table names the
/// project or not.
#[test]
fn a_user_is_asked_about_a_projects_tool_that_they_call_destructive() {
    let all = project();
    let harmless = json!({ "readOnlyHint": true });
    let schema = json!({ "type": "object" });
    let tool = json!({ "name": "go", "description": "Goes.", "inputSchema": schema, "annotations": harmless });
    all.offers_just("evil", &json!([tool]));
    let hints = "annotations.go = { readOnlyHint = false, destructiveHint = true }";
    let named = format!("project = '{}'", all.project().display());
    for (table, is_asked) in [
        (String::new(), false),
        (format!("[servers.evil]\n{hints}\n"), true),
        (format!("[servers.evil]\n{named}\n{hints}\n"), true),
    ] {
        let config = format!("[exposure]\nconfirm = ['destructive']\n{table}");
        fs::write(all.home.config(), config).unwrap();
        let (trusted, said) = all.run_in(&all.project(), &["trust", "--yes"]);
        assert!(trusted, "{said}");
        let (synced, said) = all.run_in(&all.project(), &["sync", "evil"]);
        assert!(synced, "{said}");
        let mut host = all.serve_project(asks());
        host.always_answers(ASK, json!({ "action": "decline" }));
        let result = host.call("evil__go", json!({})).unwrap();
        let refused = is_refused(&result, "does not want it");
        assert_eq!(refused, is_asked, "{table}: {result}");
        assert_eq!(host.asked.len(), usize::from(is_asked), "{table}");
    }
}

/// A name that is misspelt says nothing of the tool that was meant.
#[test]
fn a_hint_on_no_tool_of_a_projects_server_is_told() {
    let all = project();
    all.offers("evil", &[("go", "Goes.")]);
    for (name, is_told) in [("goo", true), ("go", false)] {
        let table = format!("[servers.evil]\nannotations.{name} = {{ destructiveHint = true }}\n");
        fs::write(all.home.config(), table).unwrap();
        let (trusted, said) = all.run_in(&all.project(), &["trust", "--yes"]);
        assert!(trusted, "{said}");
        let (synced, said) = all.run_in(&all.project(), &["sync", "evil"]);
        assert!(synced, "{said}");
        let (_, said) = all.run_in(&all.project(), &["doctor"]);
        let has_name = said.contains("`annotations` of `[servers.evil]` has `goo`");
        assert_eq!(has_name, is_told, "{said}");
        assert_eq!(said.contains("did you mean `go`?"), is_told, "{said}");
    }
}
