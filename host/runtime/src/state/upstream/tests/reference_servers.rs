//! Servers of MCP's own collection.

use std::path::PathBuf;

use dormouse_policy::Limits;
use serde_json::json;
use tempfile::TempDir;

use super::{bridged, run, text};

/// Returns a path below the target folder, where `cargo xtask test` installs servers.
fn installed(path: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).unwrap();
    let found = target.join(path);
    let name = found.display();
    assert!(
        found.exists(),
        "`{name}` is missing; `cargo xtask test` installs it"
    );
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_time_server_answers_through_the_bridge() {
    let time = installed("python/reference/bin/mcp-server-time");
    let odd = bridged(run(&time, &[]), Limits::default());
    let arguments = json!({ "timezone": "Europe/Paris" });
    let answer = odd.tool("get_current_time", arguments).await.unwrap();
    assert!(text(&answer).contains("Europe/Paris"), "{answer}");
    let nowhere = json!({ "timezone": "Mars/Base" });
    let answer = odd.tool("get_current_time", nowhere).await.unwrap();
    assert_eq!(answer["isError"], true);
    assert_eq!(odd.upstream.status().server_info["name"], "mcp-time");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_filesystem_server_answers_through_the_bridge() {
    let server = installed("npm/node_modules/.bin/mcp-server-filesystem");
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("a.txt"), "hello").unwrap();
    let folder = dir.path().canonicalize().unwrap().display().to_string();
    let odd = bridged(run(&server, &[&folder]), Limits::default());
    let arguments = json!({ "path": format!("{folder}/a.txt") });
    let answer = odd.tool("read_text_file", arguments).await.unwrap();
    assert_eq!(text(&answer), "hello");
}
