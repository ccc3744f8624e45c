//! Servers that users have.

use std::path::Path;
use std::process::Command;

use dormouse_tests::upstream;
use dormouse_tests::web::Web;
use serde_json::{Value, json};

use crate::pair::{HERE, Pair, no_digits, no_identifiers};

#[test]
fn filesystem_is_the_same() {
    let fill = |folder: &Path| {
        std::fs::create_dir(folder.join("sub")).unwrap();
        std::fs::write(folder.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(folder.join("sub/é 日本.md"), "# Sleep\n").unwrap();
        std::fs::write(folder.join("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    };
    let mut pair = Pair::start("filesystem", fill, upstream::filesystem);
    assert!(pair.same_tools().contains(&"edit_file".to_owned()));
    let at = |path: &str| json!(format!("{HERE}/{path}"));
    for (tool, arguments) in [
        ("list_allowed_directories", json!({})),
        ("list_directory", json!({ "path": HERE })),
        (
            "list_directory_with_sizes",
            json!({ "path": HERE, "sortBy": "size" }),
        ),
        ("directory_tree", json!({ "path": HERE })),
        (
            "search_files",
            json!({ "path": HERE, "pattern": "**/*.md" }),
        ),
        ("read_text_file", json!({ "path": at("a.txt"), "head": 2 })),
        ("read_media_file", json!({ "path": at("dot.png") })),
        (
            "read_multiple_files",
            json!({ "paths": [at("a.txt"), at("sub/é 日本.md"), at("no.txt")] }),
        ),
        (
            "write_file",
            json!({ "path": at("new.txt"), "content": "α\u{1f600}\n" }),
        ),
        (
            "edit_file",
            json!({
                "path": at("a.txt"), "edits": [{ "oldText": "two", "newText": "zwei" }]
            }),
        ),
        ("create_directory", json!({ "path": at("sub/deep/er") })),
        (
            "move_file",
            json!({ "source": at("new.txt"), "destination": at("sub/new.txt") }),
        ),
        ("directory_tree", json!({ "path": HERE })),
    ] {
        pair.same_call(tool, arguments);
    }
    // Says when it was made and changed.
    pair.alike_call("get_file_info", json!({ "path": at("a.txt") }), no_digits);
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": at("no.txt") })),
        ("read_text_file", json!({ "path": "/etc/passwd" })),
        ("read_text_file", json!({})),
        (
            "edit_file",
            json!({ "path": at("a.txt"), "edits": [{ "oldText": "x", "newText": "" }] }),
        ),
    ] {
        pair.same_failure(tool, arguments);
    }
}

#[test]
fn memory_is_the_same() {
    let server = |folder: &Path| upstream::memory(&folder.join("graph.jsonl"));
    let mut pair = Pair::start("memory", |_| {}, server);
    assert!(pair.same_tools().contains(&"create_entities".to_owned()));
    pair.same_list("resources/list", "resources");
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["counts"] });
    let dormouse = json!({ "name": "Dormouse", "entityType": "animal", "observations": [] });
    let knows = json!({ "from": "Ada", "to": "Dormouse", "relationType": "knows" });
    for (tool, arguments) in [
        ("create_entities", json!({ "entities": [ada, dormouse] })),
        ("create_relations", json!({ "relations": [knows] })),
        (
            "add_observations",
            json!({ "observations": [{ "entityName": "Dormouse", "contents": ["schläft"] }] }),
        ),
        ("search_nodes", json!({ "query": "schläft" })),
        ("open_nodes", json!({ "names": ["Ada", "Nobody"] })),
        ("read_graph", json!({})),
    ] {
        pair.same_call(tool, arguments);
    }
    let unknown = json!({ "observations": [{ "entityName": "Nobody", "contents": ["x"] }] });
    pair.same_failure("add_observations", unknown);
    let outcome = pair.same(
        "resources/read",
        json!({ "uri": "memory://knowledge-graph" }),
    );
    assert!(outcome.to_string().contains("schläft"), "{outcome}");
    pair.same_call("delete_entities", json!({ "entityNames": ["Ada"] }));
    let graph = pair.same_call("read_graph", json!({}));
    assert!(!graph.contains("Ada"), "{graph}");
}

#[test]
fn time_is_the_same() {
    let mut pair = Pair::start("time", |_| {}, |_| upstream::time());
    pair.same_tools();
    let noon = |zone: &str| json!({ "source_timezone": zone, "time": "12:00", "target_timezone": "Asia/Kathmandu" });
    pair.alike_call("convert_time", noon("Europe/Zurich"), no_digits);
    pair.alike_call("get_current_time", json!({ "timezone": "UTC" }), no_digits);
    pair.same_failure("convert_time", noon("Mars/Olympus"));
    pair.same_failure("get_current_time", json!({}));
}

#[test]
fn fetch_is_the_same() {
    let web = Web::serve(&[
        ("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\n"),
        (
            "/",
            "text/html",
            "<html><head><title>Sleep</title></head><body><article><h1>The dormouse</h1>\
             <p>It sleeps for <b>seven</b> months, from autumn to spring.</p></article></body></html>",
        ),
        ("/data.json", "application/json", r#"{"months":7}"#),
        ("/private", "text/html", "<p>Not for robots.</p>"),
    ])
    .unwrap();
    // With Node in its path it installs packages of npm's, and starts Node for each page.
    let server = |_: &Path| {
        let server = upstream::fetch()?.arg("--allow-private-ips");
        Ok(server.env("PATH", ""))
    };
    let mut pair = Pair::start("fetch", |_| {}, server);
    pair.same_tools();
    pair.same_list("prompts/list", "prompts");
    let page = pair.same_call("fetch", json!({ "url": web.url("/") }));
    assert!(page.contains("# The dormouse"), "{page}");
    pair.same_call("fetch", json!({ "url": web.url("/"), "raw": true }));
    pair.same_call(
        "fetch",
        json!({ "url": web.url("/data.json"), "max_length": 5 }),
    );
    pair.same_failure("fetch", json!({ "url": web.url("/private") }));
    pair.same_failure("fetch", json!({ "url": web.url("/missing") }));
    pair.same_failure("fetch", json!({ "url": "nowhere" }));
    let params = json!({ "name": "fetch", "arguments": { "url": web.url("/") } });
    pair.same("prompts/get", params);
    // Both sides have really been there, each time.
    let asked = web.asked();
    let pages = asked.iter().filter(|path| *path == "/");
    assert_eq!(pages.count(), 6, "{asked:?}");
}

/// A repository with one commit, and a change.
fn repository(folder: &Path) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(folder);
        // Whoever runs the tests has settings of their own.
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_DATE"), "2026-01-02T03:04:05Z");
        }
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.com"]);
    std::fs::write(folder.join("a.txt"), "one\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "First"]);
    std::fs::write(folder.join("a.txt"), "one\nzwei\n").unwrap();
}

#[test]
fn git_is_the_same() {
    let mut pair = Pair::start("git", repository, upstream::git);
    pair.same_tools();
    let with = |more: Value| {
        let mut arguments = json!({ "repo_path": HERE });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    for (tool, more) in [
        ("git_status", json!({})),
        ("git_diff_unstaged", json!({})),
        ("git_log", json!({ "max_count": 3 })),
        ("git_show", json!({ "revision": "HEAD" })),
        ("git_branch", json!({ "branch_type": "local" })),
        ("git_add", json!({ "files": ["a.txt"] })),
        ("git_diff_staged", json!({ "context_lines": 0 })),
        ("git_create_branch", json!({ "branch_name": "winter" })),
        ("git_checkout", json!({ "branch_name": "winter" })),
    ] {
        pair.same_call(tool, with(more));
    }
    // Two commits of two moments have two hashes.
    let commit = with(json!({ "message": "Zweiter" }));
    pair.alike_call("git_commit", commit, no_identifiers);
    let diff = pair.same_call("git_diff", with(json!({ "target": "main" })));
    assert!(diff.contains("+zwei"), "{diff}");
    pair.same_failure("git_show", with(json!({ "revision": "nothing" })));
    pair.same_failure("git_checkout", with(json!({ "branch_name": "nothing" })));
    pair.same_failure("git_status", json!({ "repo_path": "/" }));
}
