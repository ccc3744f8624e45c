//! Tools that have become others before `confirm` has a user asked about them: what counts is what they
//! are when they are called.

use std::fs;

use dormouse_tests::client::{PATIENCE, text};
use dormouse_tests::wait;
use serde_json::{Value, json};

use crate::confirmed_calls::{ASK, chosen, home, is_added, is_refused, serve, sum};
use crate::scripted::{Scripted, asks};

/// A server that became destructive while it slept is asked about at its first call, whichever way the
/// change is taken, and is not called by a tool that only reads.
#[test]
fn what_counts_is_what_a_server_that_slept_is_now() {
    for on_change in ["freeze", "accept", "ask"] {
        for mode in ["direct", "search"] {
            let all = Scripted::new();
            let tool = |hints: Value| json!([{ "name": "wipe", "inputSchema": { "type": "object" }, "annotations": hints }]);
            all.offers_just("disk", &tool(json!({ "readOnlyHint": true })));
            all.own("disk", &format!("on_change = \"{on_change}\"\n"));
            all.home.synced("disk").unwrap();
            let own = all.home.config();
            let servers = fs::read_to_string(&own).unwrap();
            let exposure = format!("[exposure]\nmode = '{mode}'\nconfirm = ['destructive']\n\n");
            fs::write(&own, exposure + &servers).unwrap();
            all.offers_just("disk", &tool(json!({ "destructiveHint": true })));
            let mut client = serve(&all.home, asks());
            // They approve what it has become, and do not want it called.
            let answers = json!({ "agree": true, "answer": "no" });
            client.always_answers(ASK, json!({ "action": "accept", "content": answers }));
            let (tool, arguments) = match mode {
                "direct" => ("disk__wipe", json!({})),
                _ => ("call_tool", json!({ "name": "disk__wipe" })),
            };
            let refused = client.call(tool, arguments).unwrap();
            let why = match mode {
                "direct" => "its user was asked, and does not want it",
                _ => "was not called",
            };
            assert!(is_refused(&refused, why), "{on_change} {mode}: {refused}");
        }
    }
}

/// The same of a component that `adapt` has made: what it declares of its upstream is no more careful
/// than that was.
#[test]
fn what_counts_is_what_the_upstream_of_a_component_is_now() {
    let all = Scripted::new();
    let offer = |reads: bool| {
        let tool = json!({
            "name": "wipe", "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
        });
        all.offers_just("up", &json!({ "tools": [tool] }));
    };
    offer(true);
    all.configure(&all.cursor(), &["up"]);
    let file = all.home.path().join("up.wasm").display().to_string();
    all.run(&["adapt", "up", "-o", &file]);
    fs::remove_file(all.cursor()).unwrap();
    let command = json!(all.words("up")).to_string();
    let table = format!("component = '{file}'\ncommand = {command}\n");
    all.home.table("n2", &table).unwrap();
    let servers = fs::read_to_string(all.home.config()).unwrap();
    let exposure = "[exposure]\nmode = 'direct'\nconfirm = ['destructive']\n\n";
    fs::write(all.home.config(), format!("{exposure}{servers}")).unwrap();
    let mut client = serve(&all.home, asks());
    client.always_answers(ASK, chosen("no"));
    let made = client.call("n2__wipe", json!({})).unwrap();
    assert!(!is_refused(&made, "was not called"), "{made}");
    drop(client);
    offer(false);
    let mut client = serve(&all.home, asks());
    client.always_answers(ASK, chosen("no"));
    let refused = client.call("n2__wipe", json!({})).unwrap();
    assert!(
        is_refused(&refused, "its user was asked, and does not want it"),
        "{refused}"
    );
}

/// A yes for one call is for the tool that was shown, and not for what it has become meanwhile.
#[test]
fn a_tool_that_changes_while_its_user_is_asked_is_not_called() {
    let home = home("confirm = ['destructive']", "");
    let guest = dormouse_tests::artifacts::guest("echo").unwrap();
    let own = home.path().join("own.wasm");
    fs::copy(&guest, &own).unwrap();
    let config = fs::read_to_string(home.config()).unwrap();
    let component = config.lines().find(|line| line.starts_with("component"));
    let component = component.unwrap().to_owned();
    let config = config.replace(&component, &format!("component = '{}'", own.display()));
    fs::write(home.config(), config).unwrap();
    let mut client = serve(&home, asks());
    let call = json!({ "name": "echo__add", "arguments": sum() });
    let id = client.send("tools/call", call.clone()).unwrap();
    let asked = client.notification(ASK, PATIENCE).unwrap();
    fs::remove_file(&own).unwrap();
    fs::copy(&guest, &own).unwrap();
    client.reply(&asked, chosen("once")).unwrap();
    let refused = client.answer(id).unwrap();
    assert!(
        is_refused(&refused["result"], "it has changed while the call waited"),
        "{refused}"
    );
    let id = client.send("tools/call", call).unwrap();
    client.answers(ASK, chosen("once")).unwrap();
    let made = client.answer(id).unwrap();
    assert!(is_added(&made["result"]), "{made}");
}

/// An upstream that ends while its user is asked, and is something else when it is started again for the
/// call, is not called; one that is the same is. Behind a component that `adapt` has made, too.
#[test]
fn an_upstream_that_has_changed_when_it_is_started_for_a_call_is_not_called() {
    for is_adapted in [false, true] {
        let all = Scripted::new();
        let offer = |destroys: bool| {
            let hints = json!({ "readOnlyHint": false, "destructiveHint": destroys });
            let tool = json!({ "name": "wipe", "inputSchema": { "type": "object" }, "annotations": hints });
            all.offers_just("disk", &json!([tool]));
        };
        offer(false);
        all.own("disk", "");
        all.home.synced("disk").unwrap();
        if is_adapted {
            let file = all.home.path().join("disk.wasm").display().to_string();
            all.run(&["adapt", "disk", "-o", &file]);
            let own = fs::read_to_string(all.home.config()).unwrap();
            let own = own.replace("command =", &format!("component = '{file}'\ncommand ="));
            fs::write(all.home.config(), own).unwrap();
        }
        let servers = fs::read_to_string(all.home.config()).unwrap();
        let exposure = "[exposure]\nmode = 'direct'\nconfirm = ['write']\n\n";
        fs::write(all.home.config(), format!("{exposure}{servers}")).unwrap();
        let mut client = serve(&all.home, asks());
        for destroys in [false, true] {
            let call = json!({ "name": "disk__wipe", "arguments": {} });
            let id = client.send("tools/call", call).unwrap();
            let asked = client.notification(ASK, PATIENCE).unwrap();
            offer(destroys);
            let starts = all.starts("disk");
            end_upstream(&all, "disk");
            client.reply(&asked, chosen("once")).unwrap();
            let answer = client.answer(id).unwrap();
            let why = "it has changed while the call waited";
            let refused = is_refused(&answer["result"], why);
            assert_eq!(refused, destroys, "{is_adapted}: {answer}");
            let called = text(&answer["result"]).is_some_and(|text| text == "wipe {}");
            assert_eq!(called, !destroys, "{is_adapted}: {answer}");
            assert_eq!(all.starts("disk"), starts + 1, "{is_adapted}: {answer}");
        }
    }
}

/// Kills the process of an upstream, and waits until its host has noticed.
fn end_upstream(all: &Scripted, name: &str) {
    let pids = || {
        let status = all.home.server_status(name)?;
        let pids = status["pids"].as_array().cloned().unwrap_or_default();
        anyhow::Ok(pids)
    };
    let running = pids().unwrap();
    assert_eq!(running.len(), 1, "{running:?}");
    let mut kill = std::process::Command::new("kill");
    let killed = kill.arg("-KILL").arg(running[0].to_string()).status();
    assert!(killed.unwrap().success());
    wait::until("the upstream to be gone", || {
        let left = pids()?;
        anyhow::ensure!(left.is_empty(), "{left:?}");
        Ok(())
    })
    .unwrap();
}

/// What was allowed for a session is asked about again where another program has got its name.
#[test]
fn what_is_allowed_is_the_tool_that_was_shown() {
    let home = home("confirm = ['destructive']", "");
    let mut client = serve(&home, asks());
    client.always_answers(ASK, chosen("session"));
    for _ in 0..2 {
        assert!(is_added(&client.call("echo__add", sum()).unwrap()));
    }
    assert_eq!(client.asked.len(), 1);
    let other = home.path().join("other.wasm");
    fs::copy(dormouse_tests::artifacts::guest("echo").unwrap(), &other).unwrap();
    let config = fs::read_to_string(home.config()).unwrap();
    let component = config.lines().find(|line| line.starts_with("component"));
    let replaced = config.replace(
        component.unwrap(),
        &format!("component = '{}'", other.display()),
    );
    assert_ne!(replaced, config);
    fs::write(home.config(), replaced).unwrap();
    wait::until("the other file to be asked about", || {
        let result = client.call("echo__add", sum())?;
        anyhow::ensure!(client.asked.len() == 2 && is_added(&result), "{result}");
        Ok(())
    })
    .unwrap();
}

/// What was allowed for a session is asked about again where its server has been given something else.
#[test]
fn what_is_allowed_is_for_what_its_server_was_given() {
    let home = home("confirm = ['destructive']", "");
    let mut client = serve(&home, asks());
    client.always_answers(ASK, chosen("session"));
    for _ in 0..2 {
        assert!(is_added(&client.call("echo__add", sum()).unwrap()));
    }
    assert_eq!(client.asked.len(), 1);
    let config = fs::read_to_string(home.config()).unwrap();
    let component = config.lines().find(|line| line.starts_with("component"));
    let component = component.unwrap();
    let given = format!("{component}\ngrants.env = ['DORMOUSE_ZONE']");
    fs::write(home.config(), config.replace(component, &given)).unwrap();
    wait::until("what it is given to be asked about", || {
        let result = client.call("echo__add", sum())?;
        anyhow::ensure!(client.asked.len() == 2 && is_added(&result), "{result}");
        Ok(())
    })
    .unwrap();
}

/// A server that was known to destroy, or of whose tools nothing is said, is not believed when it says
/// that it only reads: its user has not approved that.
#[test]
fn what_counts_are_the_hints_that_its_user_has_approved() {
    let all = Scripted::new();
    let tool = |hints: Value| json!([{ "name": "wipe", "inputSchema": { "type": "object" }, "annotations": hints }]);
    let own = all.home.config();
    all.offers_just("disk", &tool(json!({})));
    all.own("disk", "");
    all.home.synced("disk").unwrap();
    let servers = fs::read_to_string(&own).unwrap();
    fs::write(
        &own,
        format!("[exposure]\nconfirm = ['destructive']\n\n{servers}"),
    )
    .unwrap();
    all.offers_just("disk", &tool(json!({ "readOnlyHint": true })));
    for _ in 0..2 {
        let mut client = serve(&all.home, json!({}));
        let refused = client.call("disk__wipe", json!({})).unwrap();
        assert!(is_refused(&refused, "this client cannot ask"), "{refused}");
        drop(client);
        all.home.synced("disk").unwrap();
    }
    // What the user says of it counts.
    let more = "[servers.disk.annotations]\nwipe = { readOnlyHint = true }\n";
    let config = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("{config}\n{more}")).unwrap();
    let mut client = serve(&all.home, json!({}));
    let made = client.call("disk__wipe", json!({})).unwrap();
    assert!(!is_refused(&made, "was not called"), "{made}");
}
