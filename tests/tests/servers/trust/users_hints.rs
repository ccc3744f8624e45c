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
