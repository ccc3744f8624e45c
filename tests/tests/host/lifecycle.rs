//! Starts and stops of plugins and of hosts.

use std::time::{Duration, Instant};

use dormouse_tests::http::Session;
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, Upstream, artifacts, client, compiled};
use serde_json::{Value, json};

use crate::wait_for;

/// A cancelled loop is over within a second, while others go on.
#[test]
fn ends_a_cancelled_call() {
    let home = Home::new().unwrap();
    home.guests(&["spin", "echo"]).unwrap();
    let mut client = home.serve().unwrap();
    client.text("echo__echo", json!({ "text": "" })).unwrap();
    let id = client
        .send(
            "tools/call",
            json!({ "name": "spin__spin", "arguments": {} }),
        )
        .unwrap();
    wait_for(|| {
        home.server_status("spin")
            .is_ok_and(|spin| spin["running"] == 1)
    });
    client
        .text("echo__echo", json!({ "text": "beside it" }))
        .unwrap();
    client
        .notify(
            "notifications/cancelled",
            json!({ "requestId": id, "reason": "enough" }),
        )
        .unwrap();
    let start = Instant::now();
    wait_for(|| home.server_status("spin").unwrap()["running"] == 0);
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "ended after {:?}",
        start.elapsed()
    );
    client
        .text("echo__echo", json!({ "text": "after it" }))
        .unwrap();
    // The specification wants no answer to what was cancelled.
    assert!(
        client
            .answer_within(id, Duration::from_millis(300))
            .is_err()
    );
}

/// At the end of its input the host ends, whatever runs.
#[test]
fn goes_when_its_input_ends() {
    let home = Home::new().unwrap();
    home.guests(&["spin"]).unwrap();
    let client = home.serve().unwrap();
    let start = Instant::now();
    assert!(client.close(Duration::from_secs(2)).unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(1));

    let mut client = home.serve().unwrap();
    client
        .send(
            "tools/call",
            json!({ "name": "spin__spin", "arguments": {} }),
        )
        .unwrap();
    wait_for(|| {
        home.server_status("spin")
            .is_ok_and(|spin| spin["running"] == 1)
    });
    assert!(client.close(Duration::from_secs(8)).unwrap().success());
    let sockets: Vec<_> = walk(&home.path().join("run"));
    assert!(sockets.is_empty(), "left behind: {sockets:?}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Rubbish on the wire is answered or passed over, and never the end.
#[test]
fn survives_rubbish_on_its_input() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    wire.initialize().unwrap();
    for rubbish in [
        &b"\n"[..],
        b"{}\n",
        b"not json\n",
        b"[1,2,3]\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"größe\"}\n".as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":[]}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n",
    ] {
        wire.send_raw(rubbish).unwrap();
    }
    let params = json!({ "name": "echo__echo", "arguments": { "text": "well" } });
    let result = wire.request(10, "tools/call", params).unwrap();
    assert_eq!(client::text(&result), Some("well"));
    // Unknown tools and servers are told with what might have been meant.
    let params = json!({ "name": "echo__ecko", "arguments": {} });
    let error = wire
        .request(11, "tools/call", params)
        .unwrap_err()
        .to_string();
    assert!(error.contains("echo__echo"), "{error}");
}

/// A second host finds compiled what the first one has compiled.
#[test]
fn compiles_once() {
    let home = Home::with_empty_cache().unwrap();
    home.guests(&["echo"]).unwrap();
    for (compiled, cache_hits) in [(1, 0), (0, 1)] {
        let mut client = home.serve().unwrap();
        // All at once: they share one start.
        let call = json!({ "name": "echo__echo", "arguments": { "text": "a" } });
        let ids: Vec<_> = (0..8)
            .map(|_| client.send("tools/call", call.clone()).unwrap())
            .collect();
        for id in ids {
            assert_eq!(
                client::text(&client.answer(id).unwrap()["result"]),
                Some("a")
            );
        }
        let status = home.status().unwrap();
        assert_eq!(status["compiled"], compiled);
        assert_eq!(status["cache_hits"], cache_hits);
        client.close(Duration::from_secs(6)).unwrap();
    }
    // A flipped byte in what was compiled is noticed, and it is compiled again.
    let compiled: Vec<_> = walk(&home.path().join("cache"))
        .into_iter()
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "cwasm")
        })
        .collect();
    assert!(!compiled.is_empty());
    for file in compiled {
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        home.replace(&file, &bytes).unwrap();
    }
    let mut client = home.serve().unwrap();
    assert_eq!(
        client.text("echo__echo", json!({ "text": "b" })).unwrap(),
        "b"
    );
    assert_eq!(home.status().unwrap()["compiled"], 1);
}

/// What `cargo xtask test` has had compiled is in the cache of each home from the start, but for
/// what another build of the program has compiled.
#[test]
fn homes_have_what_is_compiled_for_many_tests() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let floor = Upstream::new(&artifacts::program("dormouse-floor").unwrap());
    home.upstream("floor", &floor.arg(1).arg(1), "").unwrap();
    home.synced("floor").unwrap();
    let mut client = home.serve().unwrap();
    for tool in ["echo__echo", "floor__p0000__echo"] {
        let text = client.text(tool, json!({ "text": "a" })).unwrap();
        assert_eq!(text, "a");
    }
    let status = home.status().unwrap();
    let (compiled, cache_hits) = if compiled::is_current() {
        (0, 2)
    } else {
        (2, 0)
    };
    assert_eq!(status["compiled"], compiled);
    assert_eq!(status["cache_hits"], cache_hits);
}

/// After its idle time a server is stopped, and woken again by the next call.
#[test]
fn sleeps_after_use() {
    let home = Home::new().unwrap();
    let more = "instance = \"per-session\"\n[servers.counter.limits]\nidle = \"300ms\"";
    home.server_with("counter", &artifacts::guest("counter").unwrap(), more)
        .unwrap();
    let mut client = home.serve().unwrap();
    for _ in 0..2 {
        let first = client.call("counter__count", json!({})).unwrap();
        assert_eq!(first["structuredContent"]["result"], 1);
        assert_eq!(home.server_status("counter").unwrap()["instances"], 1);
        wait_for(|| home.server_status("counter").unwrap()["state"] == "idle");
        assert_eq!(home.server_status("counter").unwrap()["instances"], 0);
        // The session has lost its count.
        let told = client
            .notification("notifications/message", Duration::from_secs(30))
            .unwrap();
        let text = told["params"]["data"].as_str().unwrap();
        assert!(text.contains("server `counter` was stopped"), "{told}");
    }
}

/// Each session that has lost an instance is told, and no other.
#[test]
fn sessions_whose_instances_are_stopped_are_told_with_the_next_result() {
    let home = Home::new().unwrap();
    let more = "instance = \"per-session\"\n[servers.counter.limits]\nidle = \"1s\"";
    home.server_with("counter", &artifacts::guest("counter").unwrap(), more)
        .unwrap();
    let server = home.serve_http(&[]).unwrap();
    let request = |session: &Session, method: &str, params| {
        let request = session.request(1, method, params);
        server.ask(&request).unwrap().result().unwrap()
    };
    let count = |session: &Session| {
        let params = json!({ "name": "counter__count", "arguments": {} });
        let result = request(session, "tools/call", params);
        let content = result["content"].as_array().unwrap();
        let texts: Vec<String> = content
            .iter()
            .map(|block| block["text"].as_str().unwrap().to_owned())
            .collect();
        (result["structuredContent"]["result"].clone(), texts)
    };
    let sessions = [(), (), ()].map(|()| {
        let session = Session::open(&server).unwrap();
        let level = json!({ "level": "error" });
        request(&session, "logging/setLevel", level);
        session
    });
    let [one, two, other] = &sessions;
    for session in [one, two] {
        for expected in [1, 2] {
            let (counted, texts) = count(session);
            assert_eq!((counted, texts.len()), (json!(expected), 1));
        }
    }
    wait_for(|| home.server_status("counter").unwrap()["state"] == "idle");
    for session in [one, two] {
        let (counted, texts) = count(session);
        assert_eq!(counted, 1);
        assert!(
            texts[1].starts_with("[dormouse] server `counter` was stopped"),
            "{texts:?}"
        );
        let (counted, texts) = count(session);
        assert_eq!((counted, texts.len()), (json!(2), 1));
    }
    // Nobody has kept anything for this one.
    let (counted, texts) = count(other);
    assert_eq!((counted, texts.len()), (json!(1), 1));
}

/// Nothing but MCP is ever on stdout, whatever is logged.
#[test]
fn logs_to_stderr_only() {
    let home = Home::new().unwrap();
    home.guests(&["echo", "flood"]).unwrap();
    let mut command = home.command(&["serve"]);
    command
        .env("DORMOUSE_LOG", "trace")
        .stderr(std::process::Stdio::null());
    let mut wire = Wire::spawn(&mut command).unwrap();
    wire.initialize().unwrap();
    for (id, (tool, arguments)) in [
        ("echo__echo", json!({ "text": "a" })),
        ("flood__flood", json!({ "megabytes": 1 })),
    ]
    .into_iter()
    .enumerate()
    {
        let params = json!({ "name": tool, "arguments": arguments });
        // Fails on a line that is no JSON.
        let result: Value = wire.request(100 + id as u64, "tools/call", params).unwrap();
        assert_ne!(result["isError"], true, "{result}");
    }
}
