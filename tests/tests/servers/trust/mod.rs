//! Servers from a project's files, which the author of the project has chosen.

mod asked;
#[cfg(unix)]
mod project_secrets;
mod project_variables;
mod revoked;
mod shown;
mod taken_names;
mod untrusted;
#[cfg(target_os = "linux")]
pub(crate) mod untrusted_files;
#[cfg(unix)]
mod untrusted_links;
mod users_hints;

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_tests::wire::stateless;
use dormouse_tests::{Client, artifacts};
use serde_json::{Value, json};

use crate::scripted::{Scripted, asks};

/// Only tool of a project that nobody trusts, for clients whose user can be asked.
const TRUST: &str = "dormouse__trust_project";

fn project() -> Scripted {
    let all = Scripted::new();
    all.offers("evil", &[("go", "Goes.")]);
    all.configure(&all.project().join(".mcp.json"), &["evil"]);
    all
}

/// Returns the error of a call of a tool which is not there.
#[track_caller]
fn unknown(host: &mut Client, tool: &str) -> String {
    let answer = host.outcome("tools/call", json!({ "name": tool, "arguments": {} }));
    let answer = answer.unwrap();
    let message = answer["error"]["message"].as_str();
    message.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Returns the answer to a call of a tool which is refused, as an error or as a result.
#[track_caller]
fn refusal(host: &mut Client, tool: &str) -> String {
    let answer = host.outcome("tools/call", json!({ "name": tool, "arguments": {} }));
    let answer = answer.unwrap();
    let is_refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
    assert!(is_refused, "{answer}");
    answer.to_string()
}

/// What a stateless client says before it was shown the project trusts nothing, and what it says to
/// another project than this has become does not either.
#[test]
fn what_was_said_before_a_project_was_shown_trusts_nothing() {
    let all = project();
    let mut host = all.serve_project(asks());
    // Each is given up then: the next one would wait for its answer.
    let asked = |host: &mut Client, more: &Value| {
        let mut params = json!({ "name": TRUST, "arguments": {} });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        let id = host.send("tools/call", stateless(params, asks())).unwrap();
        let answer = host.answer(id).unwrap();
        let given_up = json!({ "requestId": id });
        host.notify("notifications/cancelled", given_up).unwrap();
        answer["result"].clone()
    };
    let yes = json!({ "action": "accept", "content": { "agree": true } });
    let first = asked(&mut host, &json!({}));
    assert_eq!(first["resultType"], "input_required", "{first}");
    let questions = first["inputRequests"].as_object().unwrap();
    let id = questions.keys().next().unwrap();
    let answers = json!({ id: yes, "dormouse": yes });
    for _ in 0..2 {
        let again = asked(&mut host, &json!({ "inputResponses": answers }));
        assert_eq!(again["resultType"], "input_required", "{again}");
        unknown(&mut host, "evil__go");
        // The next one is another project.
        all.configure(&all.project().join(".mcp.json"), &["evil", "more"]);
    }
}

/// Counts connections.
pub(crate) fn counting() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for _connection in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, count)
}

/// Runs a command on a terminal, with input for each text that is shown. Returns the output and the
/// exit code. Before an input, a program is run where a step names one.
pub(crate) fn at_a_terminal(
    all: &Scripted,
    folder: &Path,
    words: &[&str],
    steps: &Value,
) -> (String, Option<i32>) {
    let script = artifacts::workspace().join("tests/clients/python/terminal.py");
    let mut command = std::process::Command::new("python3");
    command.arg(script).arg(steps.to_string());
    let run = all.home.command(words);
    command.arg(run.get_program()).args(run.get_args());
    command.envs(all.home.environment()).current_dir(folder);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("never shown"), "{output:?}");
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code(),
    )
}
