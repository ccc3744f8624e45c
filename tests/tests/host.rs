//! The host as a process: before the first call, while plugins come and go, and at its end.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::time::{Duration, Instant};

use anyhow::ensure;
use dormouse_tests::http::Session;
use dormouse_tests::wire::{Wire, request};
use dormouse_tests::{Client, Home, artifacts, client, component, wait};
use serde_json::{Value, json};

fn guest(name: &str) -> Vec<u8> {
    artifacts::read(&artifacts::guest(name).unwrap()).unwrap()
}

/// The invariant: listing never reaches the runtime, however much is listed.
#[test]
fn heavy_lists_a_thousand_plugins_without_an_engine() {
    let home = Home::new().unwrap();
    let bytes = guest("bench");
    for number in 0..1000 {
        let name = format!("p{number:03}");
        let distinct = component::with_section(&bytes, "distinct", name.as_bytes());
        let file = home
            .plugin_file(&format!("{name}.wasm"), &distinct)
            .unwrap();
        home.server(&name, &file).unwrap();
    }
    // Without an index and with one.
    for start in ["first", "second"] {
        let mut client = home.serve().unwrap();
        // What is new and takes long to read is read while the host answers.
        let listed = |client: &mut Client| {
            let count = client.tools()?.len();
            ensure!(count == 20_000, "{count} at the {start} start");
            Ok(())
        };
        match start {
            "first" => wait::until("all tools are listed", || listed(&mut client)).unwrap(),
            _ => listed(&mut client).unwrap(),
        }
        let status = home.status().unwrap();
        assert_eq!(status["engines"], 0, "{start} start");
        assert_eq!(status["servers"].as_array().unwrap().len(), 1000);
        assert!(
            status["servers"]
                .as_array()
                .unwrap()
                .iter()
                .all(|server| server["state"] == "known")
        );
        if start == "second" {
            // The counter does count.
            client
                .text("p777__echo", json!({ "text": "awake" }))
                .unwrap();
            let status = home.status().unwrap();
            assert_eq!(status["engines"], 1);
            let awake = status["servers"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|server| server["state"] != "known");
            assert_eq!(
                awake.map(|server| &server["name"]).collect::<Vec<_>>(),
                ["p777"]
            );
        }
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
    }
}

/// Listings that a start has read are there for the next one, however soon the agent goes.
#[test]
fn leaves_an_index_behind() {
    for _ in 0..5 {
        let home = Home::new().unwrap();
        home.guests(&["bench"]).unwrap();
        let mut client = home.serve().unwrap();
        client.tools().unwrap();
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
        let index = home.path().join("cache/dormouse/catalog.index");
        let index = std::fs::read_to_string(index).unwrap();
        assert!(index.contains("bench.wasm"), "{index}");
    }
}

/// The list is the same, byte for byte, at every start.
#[test]
fn lists_the_same_bytes_each_time() {
    let home = Home::new().unwrap();
    home.guests(&["echo", "bench", "multibyte", "spin"])
        .unwrap();
    let list = || {
        let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
        wire.initialize().unwrap();
        wire.send(&request(1, "tools/list", json!({}))).unwrap();
        wire.receive_raw().unwrap()
    };
    let first = list();
    for _ in 0..3 {
        assert_eq!(list(), first);
    }
}

#[test]
fn introduces_itself() {
    let home = Home::new().unwrap();
    let client = home.serve().unwrap();
    assert_eq!(client.hello["serverInfo"]["name"], "dormouse");
    assert_eq!(
        client.hello["protocolVersion"],
        dormouse_tests::wire::LEGACY
    );
    assert_eq!(client.hello["capabilities"]["tools"]["listChanged"], true);
}

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

/// Running calls finish on the old bytes; new ones use the new.
#[test]
fn replaces_a_plugin_under_a_running_call() {
    let home = Home::new().unwrap();
    let file = home.plugin_file("swap.wasm", &guest("sleep")).unwrap();
    home.server("swap", &file).unwrap();
    let mut client = home.serve().unwrap();
    client
        .text("swap__sleep", json!({ "milliseconds": 0 }))
        .unwrap();
    let call = json!({ "name": "swap__sleep", "arguments": { "milliseconds": 2500 } });
    let running = client.send("tools/call", call).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    home.replace(&file, &guest("echo")).unwrap();
    client
        .notification("notifications/tools/list_changed", Duration::from_secs(20))
        .unwrap();
    assert_eq!(client.tools().unwrap()[0]["name"], "swap__echo");
    assert_eq!(
        client.text("swap__echo", json!({ "text": "new" })).unwrap(),
        "new"
    );
    let old = client.answer(running).unwrap();
    assert_eq!(client::text(&old["result"]), Some("slept 2500 ms"));
    assert!(
        client
            .request(
                "tools/call",
                json!({ "name": "swap__sleep", "arguments": {} })
            )
            .is_err()
    );
}

/// A plugin whose bytes change and whose tools do not: clients are told nothing, and the next call
/// runs the new bytes.
#[test]
fn replaces_a_plugin_by_one_with_the_same_tools() {
    let home = Home::new().unwrap();
    let file = home.plugin_file("swap.wasm", &guest("counter")).unwrap();
    home.server_with("swap", &file, "instance = \"per-session\"")
        .unwrap();
    let mut client = home.serve().unwrap();
    for count in 1..3 {
        assert_eq!(
            client.call("swap__count", json!({})).unwrap()["structuredContent"]["result"],
            count
        );
    }
    home.replace(
        &file,
        &component::with_section(&guest("counter"), "other", b"bytes"),
    )
    .unwrap();
    let start = Instant::now();
    // The new bytes have a new global.
    while client.call("swap__count", json!({})).unwrap()["structuredContent"]["result"] != 1 {
        assert!(start.elapsed() < client::PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A plugin that is added, disabled and removed while the host runs.
#[test]
fn follows_the_command_line() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    let names = |client: &mut dormouse_tests::Client| -> Vec<String> {
        let tools = client.tools().unwrap();
        let servers = tools.iter().map(|tool| {
            tool["name"]
                .as_str()
                .unwrap()
                .split("__")
                .next()
                .unwrap()
                .to_owned()
        });
        let mut servers: Vec<_> = servers.collect();
        servers.dedup();
        servers
    };
    assert_eq!(names(&mut client), ["echo"]);
    let counter = artifacts::guest("counter").unwrap();
    let steps: [(&[&str], &[&str]); 4] = [
        (
            &["add", "counter", counter.to_str().unwrap()],
            &["counter", "echo"],
        ),
        (&["disable", "echo"], &["counter"]),
        (&["enable", "echo"], &["counter", "echo"]),
        (&["remove", "counter"], &["echo"]),
    ];
    for (command, expected) in steps {
        let output = home.run(command).unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        client
            .notification("notifications/tools/list_changed", Duration::from_secs(10))
            .unwrap();
        let mut servers = names(&mut client);
        servers.sort();
        assert_eq!(servers, expected, "{command:?}");
    }
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
    let home = Home::new().unwrap();
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

/// The command line calls tools as an agent does, without one.
#[test]
fn is_used_without_an_agent() {
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let result = home
        .json(&["call", "echo", "add", r#"{"a":2,"b":3}"#, "--json"])
        .unwrap();
    assert_eq!(result["structuredContent"]["result"], 5);
    let list = home.json(&["list", "--json"]).unwrap();
    assert_eq!(list[0]["name"], "echo");
    let failed = home
        .run(&["call", "echo", "fail", r#"{"message":"no luck"}"#])
        .unwrap();
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let unknown = home.run(&["call", "ecko", "add", "{}"]).unwrap();
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        !unknown.status.success() && told.contains("`ecko`") && told.contains("`echo`"),
        "{told}"
    );
}

#[test]
fn offers_prompts_and_resources_without_an_agent() {
    let home = Home::new().unwrap();
    home.guests(&["library"]).unwrap();
    let printed = |arguments: &[&str]| {
        let output = home.run(arguments).unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    };
    let talk = ["prompt", "library__talk", "topic=sleep"];
    assert_eq!(
        String::from_utf8(printed(&talk)).unwrap(),
        "user: What do you know of sleep?\nassistant: Much.\n"
    );
    let talk = home.json(&[&talk[..], &["--json"]].concat()).unwrap();
    assert_eq!(talk["messages"][1]["role"], "assistant");
    let book = printed(&["read", "library://books/Dormouse"]);
    assert!(book.starts_with(b"It sleeps.\n"), "{book:?}");
    // Bytes are bytes where nobody looks at them.
    assert_eq!(printed(&["read", "library://zeros/5"]), [0; 5]);
    for (arguments, said) in [
        (&["prompt", "talk"][..], "did you mean `library__talk`?"),
        (&["prompt", "library__talk"], "`topic` is missing"),
        (&["prompt", "library__talk", "topic"], "KEY=VALUE"),
        (
            &["read", "library://tody"],
            "did you mean `library://today`?",
        ),
        (
            &["read", "library://books/none"],
            "there is no such resource",
        ),
    ] {
        let output = home.run(arguments).unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(said), "{told}");
    }
}

fn wait_for(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < client::PATIENCE, "still not so");
        std::thread::sleep(Duration::from_millis(10));
    }
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
