//! Forms that are open while a server becomes one that may not be used: the user's answer then does
//! not reach it.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::ensure;
use dormouse_tests::client::PATIENCE;
use dormouse_tests::wire::stateless;
use dormouse_tests::{Client, wait};
use serde_json::{Value, json};

use crate::announcing::Announcing;
use crate::scripted::{agreed, asks, write};

fn offer(words: &str) -> Value {
    json!({ "tools": [{
        "name": "ask", "description": words, "inputSchema": { "type": "object" },
    }] })
}

/// Ways to take a server of a project away while a form is open.
const ENDS: [&str; 4] = ["revoke", "another file", "no file", "disable"];

/// Makes a project that is trusted, with a server `post` whose user knows it.
fn trusted(more: &str) -> Announcing {
    let all = Announcing(crate::scripted::Scripted::new());
    all.offers(&offer("Asks."));
    write(&file(&all), &entry(&all, "one"));
    if !more.is_empty() {
        all.0.home.table("post", more).unwrap();
    }
    run(&all, &["trust", "--yes"]);
    run(&all, &["sync", "post"]);
    all
}

fn file(all: &Announcing) -> std::path::PathBuf {
    all.0.project().join(".mcp.json")
}

fn entry(all: &Announcing, variable: &str) -> String {
    let words = all.words();
    let server = json!({
        "command": words[0], "args": words[1..], "env": { "VARIABLE": variable },
    });
    json!({ "mcpServers": { "post": server } }).to_string()
}

#[track_caller]
fn run(all: &Announcing, words: &[&str]) {
    let folder: &Path = &all.0.project();
    let (succeeded, said) = all.0.run_in(folder, words);
    assert!(succeeded, "{words:?}: {said}");
}

/// Takes the server away, and waits until the host has noticed.
fn end(all: &Announcing, how: &str) {
    match how {
        "revoke" => return run(all, &["trust", "--revoke"]),
        "disable" => return run(all, &["disable", "post"]),
        "no file" => fs::remove_file(file(all)).unwrap(),
        _ => write(&file(all), &entry(all, "other")),
    }
    wait::until("the host to notice", || {
        let servers = all.0.home.status()?["servers"].clone();
        ensure!(servers == json!([]), "{servers}");
        Ok(())
    })
    .unwrap();
}

#[track_caller]
fn is_refused(answer: &Value, how: &str) {
    let is_refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
    assert!(is_refused, "{how}: {answer}");
}

/// Checks that nothing has reached the server since, and that it was not started again, either.
#[track_caller]
fn is_left_alone(all: &Announcing, got: &[String], starts: usize, how: &str) {
    assert_eq!(all.got(), got, "{how}");
    assert_eq!(all.0.starts("post"), starts, "{how}");
}

/// The form is a question of the server.
#[test]
fn an_answer_does_not_reach_a_server_that_is_trusted_no_longer() {
    for how in ENDS {
        let all = trusted("");
        let mut host = all.0.serve_project(asks());
        let call = json!({ "name": "post__ask", "arguments": {} });
        // As long as it is trusted, it does.
        host.always_answers("elicitation/create", json!({ "action": "decline" }));
        let told = host.text("post__ask", json!({})).unwrap();
        assert_eq!(told, "asked decline");
        drop(host);
        let mut host = all.0.serve_project(asks());
        let call = host.send("tools/call", call).unwrap();
        let asked = host.notification("elicitation/create", PATIENCE).unwrap();
        let (got, starts) = (all.got(), all.0.starts("post"));
        assert_eq!(got.last().map(String::as_str), Some("call ask"));
        end(&all, how);
        host.reply(&asked, agreed()).unwrap();
        let answer = host.answer(call).unwrap();
        is_refused(&answer, how);
        assert!(host.close(PATIENCE).unwrap().success());
        is_left_alone(&all, &got, starts, how);
    }
}

/// The same holds where the answer comes with a call that goes on.
#[test]
fn a_call_does_not_go_on_to_a_server_that_is_trusted_no_longer() {
    for how in ["nothing"].into_iter().chain(ENDS) {
        let all = trusted("");
        let mut command = all.0.home.command(&["serve"]);
        let mut host = Client::spawn(command.current_dir(all.0.project())).unwrap();
        let call = |more: Value| {
            let mut params = json!({ "name": "post__ask", "arguments": {} });
            let members = params.as_object_mut().unwrap();
            members.extend(more.as_object().unwrap().clone());
            stateless(params, asks())
        };
        let first = host.request("tools/call", call(json!({}))).unwrap();
        assert_eq!(first["resultType"], "input_required", "{first}");
        let questions = first["inputRequests"].as_object().unwrap();
        let (id, _) = questions.iter().next().unwrap();
        let again = json!({
            "requestState": first["requestState"], "inputResponses": { id: agreed() },
        });
        let (got, starts) = (all.got(), all.0.starts("post"));
        if how == "nothing" {
            // As long as it is trusted, it goes on.
            let last = host.request("tools/call", call(again)).unwrap();
            assert_eq!(last["content"][0]["text"], "asked accept", "{last}");
            continue;
        }
        end(&all, how);
        let answer = host.outcome("tools/call", call(again)).unwrap();
        is_refused(&answer, how);
        assert!(host.close(PATIENCE).unwrap().success());
        is_left_alone(&all, &got, starts, how);
    }
}

/// The form is a question of Dormouse, whether a tool that has changed may be called.
#[test]
fn what_is_approved_in_a_form_is_not_called_of_a_server_that_is_trusted_no_longer() {
    for how in ENDS {
        let all = trusted("on_change = \"ask\"\n");
        all.offers(&offer("Asks more."));
        let mut host = all.0.serve_project(asks());
        let call = json!({ "name": "post__ask", "arguments": {} });
        let call = host.send("tools/call", call).unwrap();
        let asked = host.notification("elicitation/create", PATIENCE).unwrap();
        assert!(asked.to_string().contains("+ Asks more."), "{asked}");
        let (got, starts) = (all.got(), all.0.starts("post"));
        end(&all, how);
        host.reply(&asked, agreed()).unwrap();
        let answer = host.answer(call).unwrap();
        is_refused(&answer, how);
        assert!(host.close(PATIENCE).unwrap().success());
        is_left_alone(&all, &got, starts, how);
    }
}

/// A decision during a host's start is either read by the host, or told to it.
#[test]
fn a_host_that_starts_hears_that_a_project_is_trusted_no_longer() {
    let all = trusted("");
    for wait in 0..12 {
        let mut command = all.0.home.command(&["serve"]);
        let mut host = Client::spawn(command.current_dir(all.0.project())).unwrap();
        thread::sleep(Duration::from_millis(wait * 3));
        run(&all, &["trust", "--revoke"]);
        let listed = host.request("tools/list", stateless(json!({}), json!({})));
        let listed = listed.unwrap().to_string();
        assert!(!listed.contains("post__"), "after {wait}: {listed}");
        run(&all, &["trust", "--yes"]);
    }
}
