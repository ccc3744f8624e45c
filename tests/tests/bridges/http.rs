//! Servers that listen: one that refuses all requests without a header, and one that knows only the
//! transport before streamable HTTP.

use dormouse_tests::guard::Guard;
use dormouse_tests::upstream::{self, Listening};
use dormouse_tests::{Client, Home};
use serde_json::json;

use crate::pair::{Pair, able};

/// Value of the header that is let in.
const KEY: &str = "Bearer the-key-that-is-never-shown";

/// Returns the server itself on one side, and on the other the same one behind Dormouse, by the URL
/// at which it listens.
fn pair(lines: &str) -> Pair {
    let home = Home::new().unwrap();
    home.table("everything", lines).unwrap();
    let mut command = upstream::everything().unwrap().command();
    let direct = Client::start_able(&mut command, able()).unwrap();
    let [direct_folder, through] = ["direct", "through"].map(|side| home.path().join(side));
    let direct = crate::pair::Side::new(direct, direct_folder, String::new());
    Pair::with(home, "everything", direct, through)
}

/// Checks all that passes both ways.
fn everything_is_the_same(mut pair: Pair) {
    pair.same_tools();
    pair.same_list("prompts/list", "prompts");
    pair.same_list("resources/list", "resources");
    pair.same_list("resources/templates/list", "resourceTemplates");
    pair.same_call("echo", json!({ "message": "Grüße 😀" }));
    pair.same_call("get-structured-content", json!({ "location": "Chicago" }));
    pair.same_failure("get-sum", json!({ "a": "one" }));

    let params = json!({
        "name": "trigger-long-running-operation",
        "arguments": { "duration": 0.2, "steps": 2 },
        "_meta": { "progressToken": "token" }
    });
    pair.same("tools/call", params);
    for _ in 0..2 {
        pair.same_notification("notifications/progress");
    }

    for side in [&mut pair.direct, &mut pair.through] {
        let declined = json!({ "action": "decline" });
        side.client.always_answers("elicitation/create", declined);
    }
    let told = pair.same_call("trigger-elicitation-request", json!({}));
    assert!(told.contains("declined"), "{told}");
    let told = pair.same_call("get-roots-list", json!({}));
    assert!(told.contains("project"), "{told}");

    // Said outside of any call.
    let uri = "demo://resource/dynamic/text/1";
    pair.same("resources/subscribe", json!({ "uri": uri }));
    for side in [&mut pair.direct, &mut pair.through] {
        // The answer names a session, where there are any.
        let params = json!({ "name": "toggle-subscriber-updates", "arguments": {} });
        side.ask("tools/call", &params);
    }
    let told = pair.same_notification("notifications/resources/updated");
    assert_eq!(told["uri"], uri);
}

#[test]
fn behind_a_header_is_the_same() {
    let server = Listening::everything("streamableHttp").unwrap();
    let guard = Guard::stand(server.address(), KEY).unwrap();
    let url = guard.url("/mcp");
    let lines = format!("url = '{url}'\nheaders = {{ Authorization = '{KEY}' }}");
    everything_is_the_same(pair(&lines));
    // Every single request had it.
    let seen = guard.seen();
    let refused: Vec<_> = seen.iter().filter(|one| !one.passed).collect();
    assert!(refused.is_empty(), "{refused:?}");
    for method in ["POST", "GET"] {
        assert!(seen.iter().any(|one| one.method == method), "{seen:?}");
    }
}

#[test]
fn behind_a_header_stays_closed_without_it() {
    let server = Listening::everything("streamableHttp").unwrap();
    let guard = Guard::stand(server.address(), KEY).unwrap();
    let home = Home::new().unwrap();
    let url = guard.url("/mcp");
    // One letter is missing.
    let wrong = KEY.strip_suffix('n').unwrap();
    let lines = format!("url = '{url}'\nheaders = {{ Authorization = '{wrong}' }}");
    home.table("everything", &lines).unwrap();
    let output = home.run(&["sync", "everything"]).unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        !output.status.success() && told.contains("everything"),
        "{told}"
    );
    let mut client = home.serve().unwrap();
    let told = client.error("everything__discover", json!({})).unwrap();
    assert!(
        told.contains("`everything`") && told.contains("refuses the `Authorization` header"),
        "{told}"
    );
    let status = home.status().unwrap().to_string();
    for text in [told, status, format!("{output:?}")] {
        assert!(!text.contains(wrong), "a secret is shown: {text}");
    }
    let passed = guard.seen().into_iter().filter(|one| one.passed);
    assert_eq!(passed.count(), 0);
}

#[test]
fn of_the_older_transport_is_the_same() {
    let server = Listening::everything("sse").unwrap();
    let url = format!("http://{}/sse", server.address());
    everything_is_the_same(pair(&format!("url = '{url}'\ntype = 'sse'")));
}

/// An entry without a transport gets the one that works.
#[test]
fn of_the_older_transport_is_found_out() {
    let server = Listening::everything("sse").unwrap();
    let url = format!("http://{}/sse", server.address());
    let mut pair = pair(&format!("url = '{url}'"));
    pair.same_tools();
    pair.same_call("echo", json!({ "message": "found" }));
}
