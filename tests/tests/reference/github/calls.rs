//! Calls of the tools of both servers.

use serde_json::{Value, json};

use super::in_repository;

/// Calls of tools that work, in an order in which each finds what it needs.
pub(super) fn calls() -> Vec<(&'static str, Value)> {
    let calls = [
        ("search_repositories", json!({ "query": "hello world" })),
        (
            "search_repositories",
            json!({ "query": "q", "page": 2, "perPage": 5 }),
        ),
        (
            "create_repository",
            json!({ "name": "pond", "description": "d", "private": true }),
        ),
        ("fork_repository", json!({})),
        ("list_commits", json!({})),
        (
            "list_commits",
            json!({ "sha": "main", "page": 1, "perPage": 10 }),
        ),
        (
            "create_branch",
            json!({ "branch": "topic/żółw", "from_branch": "main" }),
        ),
        ("create_branch", json!({ "branch": "other" })),
        ("get_file_contents", json!({ "path": "README.md" })),
        (
            "get_file_contents",
            json!({ "path": "README.md", "branch": "main" }),
        ),
        ("get_file_contents", json!({ "path": "" })),
        (
            "create_or_update_file",
            json!({ "path": "docs/a b.md", "content": "żółw\n", "message": "Add", "branch": "main" }),
        ),
        ("get_file_contents", json!({ "path": "docs/a b.md" })),
        (
            "create_or_update_file",
            json!({ "path": "README.md", "content": "", "message": "Empty it", "branch": "main" }),
        ),
        (
            "create_or_update_file",
            json!({ "path": "docs/a b.md", "content": "x", "message": "Change", "branch": "main", "sha": format!("{:040x}", 12) }),
        ),
        (
            "push_files",
            json!({
                "branch": "main", "message": "Both",
                "files": [{ "path": "a", "content": "1" }, { "path": "b/c", "content": "" }],
            }),
        ),
        ("create_issue", json!({ "title": "It sleeps" })),
        (
            "create_issue",
            json!({
                "title": "It snores", "body": "Loudly.\n\"Zzz\"", "assignees": ["hubot"],
                "milestone": 1, "labels": ["bug", "help wanted"],
            }),
        ),
        (
            "add_issue_comment",
            json!({ "issue_number": 2, "body": "Let it." }),
        ),
        (
            "update_issue",
            json!({ "issue_number": 2, "state": "closed", "labels": [], "title": "It snored" }),
        ),
        ("get_issue", json!({ "issue_number": 2 })),
        ("list_issues", json!({})),
        (
            "list_issues",
            json!({
                "state": "all", "labels": ["a", "b c"], "sort": "comments", "direction": "asc",
                "since": "2026-01-01T00:00:00Z", "page": 1, "per_page": 50,
            }),
        ),
        (
            "create_pull_request",
            json!({
                "title": "Better", "head": "new-topic", "base": "main", "body": "b", "draft": true,
                "maintainer_can_modify": false,
            }),
        ),
        ("get_pull_request", json!({ "pull_number": 1347 })),
        ("list_pull_requests", json!({})),
        (
            "list_pull_requests",
            json!({
                "state": "all", "head": "octocat:new-topic", "base": "main", "sort": "long-running",
                "direction": "desc", "per_page": 5, "page": 1,
            }),
        ),
        ("get_pull_request_files", json!({ "pull_number": 1347 })),
        ("get_pull_request_status", json!({ "pull_number": 1347 })),
        ("get_pull_request_comments", json!({ "pull_number": 1347 })),
        (
            "create_pull_request_review",
            json!({
                "pull_number": 1347, "body": "Hm.", "event": "REQUEST_CHANGES", "commit_id": "1",
                "comments": [
                    { "path": "a", "position": 3, "body": "No." },
                    { "path": "a", "line": 7, "body": "Nor this." },
                ],
            }),
        ),
        ("get_pull_request_reviews", json!({ "pull_number": 1347 })),
        (
            "update_pull_request_branch",
            json!({ "pull_number": 1347, "expected_head_sha": "1" }),
        ),
        ("update_pull_request_branch", json!({ "pull_number": 1347 })),
        (
            "merge_pull_request",
            json!({
                "pull_number": 1347, "commit_title": "t", "commit_message": "m",
                "merge_method": "squash",
            }),
        ),
        ("search_code", json!({ "q": "addClass in:file" })),
        (
            "search_issues",
            json!({ "q": "snore", "sort": "reactions-+1", "order": "desc", "per_page": 100, "page": 1 }),
        ),
        (
            "search_users",
            json!({ "q": "octo", "sort": "followers", "order": "asc" }),
        ),
    ];
    calls
        .map(|(tool, more)| (tool, in_repository("Hello-World", &more, tool)))
        .into()
}
