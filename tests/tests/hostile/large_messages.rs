//! Messages that take much memory, and answers that nobody reads.

use std::io::{Read as _, Write as _};
use std::sync::atomic::Ordering;

use dormouse_tests::http::{Request, Session};
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, processes, wait};
use serde_json::{Value, json};

use crate::{SECOND, beside_a_good_client, call_line, good_call, home, memory, next_answer, stdio};

/// The host does not read from such a client, either, which loses nothing when it reads after all.
#[test]
fn a_client_that_does_not_read_is_bounded() {
    const REQUESTS: u64 = 300_000;
    let home = home(&["echo"]);
    let mut wire = stdio(&home, "2025-11-25");
    let pid = wire.pid();
    let before = memory(pid);
    let mut stdout = wire.take_stdout().unwrap();
    let written = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for id in 1..=REQUESTS {
                wire.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))
                    .unwrap();
                written.store(id, Ordering::Relaxed);
            }
        });
        let mut known = 0;
        let mut most = 0;
        loop {
            std::thread::sleep(3 * SECOND);
            most = most.max(memory(pid));
            let now = written.load(Ordering::Relaxed);
            if now == known || now == REQUESTS {
                break;
            }
            known = now;
        }
        println!("{known} requests were taken; memory: {before} KiB before, {most} KiB then");
        assert!(
            most < before + (256 << 10),
            "{before} KiB became {most} KiB"
        );
        let mut line = String::new();
        for _ in 0..REQUESTS {
            line.clear();
            std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
            assert!(line.contains("\"result\""), "{line}");
        }
    });
    processes::gives_back(pid, before).unwrap();
}

/// Messages of calls count as long as the calls wait for their answers.
#[test]
fn messages_of_calls_that_wait_share_their_room() {
    const LENGTH: usize = 4 << 20;
    let home = home(&["echo"]);
    let script = dormouse_tests::artifacts::workspace().join("tests/servers/hostile.py");
    let kind = home.path().join("kind");
    std::fs::write(&kind, "no answer").unwrap();
    let words = json!(["python3", script, home.path().join("starts"), kind]);
    home.table("odd", &format!("command = {words}\ntools = [\"echo\"]\n"))
        .unwrap();
    let server = home.serve_http(&["--max-bodies", "64MiB"]).unwrap();
    beside_a_good_client(&server, || {
        let session = Session::open(&server).unwrap();
        let before = server.memory().unwrap();
        let arguments = json!({ "text": "x".repeat(LENGTH) });
        let call = json!({ "name": "odd__echo", "arguments": arguments });
        let begin = |session: &Session, id: u64| {
            let request = session.request(id, "tools/call", call.clone());
            let mut stream = server.connect().unwrap();
            // Whoever is refused need not be read to the end.
            let _ = stream.write_all(&request.bytes(&server));
            let mut start = [0; 12];
            let read = stream.read_exact(&mut start);
            let waits = read.is_ok() && &start == b"HTTP/1.1 200";
            waits.then_some(stream)
        };
        let waiting: Vec<_> = (1..=30).filter_map(|id| begin(&session, id)).collect();
        assert!((2..=4).contains(&waiting.len()), "{} wait", waiting.len());
        let after = server.memory().unwrap();
        assert!(
            after < before + (256 << 10),
            "{before} KiB became {after} KiB"
        );
        // Whoever has gone gives it back.
        drop(waiting);
        server.ask(&session.delete()).unwrap();
        wait::until("room", || {
            let session = Session::open(&server)?;
            anyhow::ensure!(begin(&session, 1).is_some(), "there is none");
            Ok(())
        })
        .unwrap();
    });
}

/// Makes a home with a guest `echo`, and a bridged server `odd` of that kind.
fn home_with_odd(kind: &str) -> Home {
    let home = home(&["echo"]);
    let script = dormouse_tests::artifacts::workspace().join("tests/servers/hostile.py");
    let file = home.path().join("kind");
    std::fs::write(&file, kind).unwrap();
    let words = json!(["python3", script, home.path().join("starts"), file]);
    home.table("odd", &format!("command = {words}\ntools = [\"echo\"]\n"))
        .unwrap();
    home
}

/// Returns the most memory that a process has had, in KiB.
fn most_memory(pid: u32) -> u64 {
    processes::most_memory(pid).unwrap()
}

/// A state is kept until there are answers that an upstream wants it back with.
#[test]
fn a_state_that_waits_for_answers_counts_as_what_is_asked() {
    let home = home_with_odd("a long state");
    let mut wire = stdio(&home, "2025-11-25");
    wire.send_raw(&call_line(1, "odd__echo", "x")).unwrap();
    let told = next_answer(&mut wire);
    let why = "more than 16777216 bytes of requests wait for an answer";
    assert!(told.to_string().contains(why), "{told:.500}");
    good_call(&mut wire, 2);
}

/// Messages of calls count as long as the calls wait for their answers, over stdio as well.
#[test]
fn messages_of_calls_that_wait_share_their_room_over_stdio() {
    const CALLS: u64 = 120;
    let home = home_with_odd("no answer");
    let mut wire = stdio(&home, "2025-11-25");
    let pid = wire.pid();
    good_call(&mut wire, 1000);
    let before = memory(pid);
    let long = "x".repeat(4 << 20);
    for id in 1..=CALLS {
        wire.send_raw(&call_line(id, "odd__echo", &long)).unwrap();
    }
    // What is short has room all the while, and is answered behind those that had none.
    wire.send(&dormouse_tests::wire::request(1001, "ping", json!({})))
        .unwrap();
    let mut refused = 0;
    loop {
        let told = next_answer(&mut wire);
        match told["id"].as_u64().unwrap() {
            1001 => break,
            id => assert!((1..=CALLS).contains(&id), "{told}"),
        }
        assert_eq!(told["error"]["code"], -32603, "{told}");
        let why = told["error"]["message"].as_str().unwrap();
        assert!(why.contains("`--max-bodies` sets"), "{told}");
        refused += 1;
    }
    assert!(refused >= CALLS - 20, "{refused} of {CALLS} were refused");
    assert!(refused <= CALLS - 10, "{refused} of {CALLS} were refused");
    good_call(&mut wire, 1002);
    let most = most_memory(pid);
    println!("{refused} were refused; memory: {before} KiB before, {most} KiB at most");
    // With the memories of the instances that the calls are in, which count for themselves.
    assert!(
        most < before + (1200 << 10),
        "{before} KiB became {most} KiB"
    );
    // What is cancelled gives its room back.
    for id in 1..=CALLS {
        let params = json!({ "requestId": id });
        let cancelled = "notifications/cancelled";
        wire.send(&json!({ "jsonrpc": "2.0", "method": cancelled, "params": params }))
            .unwrap();
    }
    let params = json!({ "name": "echo__echo", "arguments": { "text": long } });
    let result = wire.request(1003, "tools/call", params).unwrap();
    assert_eq!(result["content"][0]["text"], long);
    processes::gives_back(pid, before).unwrap();
}

/// The values of a message are counted before they are made.
#[test]
fn messages_of_too_many_values_are_refused_over_stdio() {
    let home = home_with_odd("nothing");
    let mut wire = stdio(&home, "2025-03-26");
    let pid = wire.pid();
    good_call(&mut wire, 1000);
    let before = memory(pid);
    let values = r#"{"a":1},"#.repeat(1_900_000);
    let message = |id: &str, method: &str| {
        let params = format!(r#"{{"name":"odd__echo","arguments":{{"a":[{values}1]}}}}"#);
        format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#)
    };
    for method in ["tools/call", "ping", "initialize", "x"] {
        wire.send_raw(message(r#""id":7,"#, method).as_bytes())
            .unwrap();
        wire.send_raw(b"\n").unwrap();
        let told = next_answer(&mut wire);
        assert_eq!(told["id"], 7, "{told}");
        assert_eq!(told["error"]["code"], -32600, "{told}");
        let why = told["error"]["message"].as_str().unwrap();
        assert!(why.contains("so many values"), "{told}");
    }
    // Nobody waits for an answer to a notification, and each request of a batch is answered.
    wire.send_raw(message("", "notifications/x").as_bytes())
        .unwrap();
    let batch = format!(
        "\n[{},{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}}]\n",
        message(r#""id":7,"#, "ping")
    );
    wire.send_raw(batch.as_bytes()).unwrap();
    let told = next_answer(&mut wire);
    let ids: Vec<_> = told.as_array().unwrap().iter().collect();
    assert_eq!(ids.len(), 2, "{told}");
    assert!(ids.iter().all(|one| one["error"]["code"] == -32600));
    good_call(&mut wire, 1001);
    let most = most_memory(pid);
    println!("memory: {before} KiB before, {most} KiB at most");
    assert!(
        most < before + (256 << 10),
        "{before} KiB became {most} KiB"
    );
    processes::gives_back(pid, before).unwrap();
}

/// A message of the largest size passes, and so do many that come one behind the other: they wait
/// for those before them.
#[test]
fn long_messages_of_an_honest_client_pass_over_stdio() {
    const CALLS: u64 = 60;
    let home = home_with_odd("nothing");
    let mut wire = Wire::spawn(home.command(&["serve"]).args(["--max-bodies", "16MiB"])).unwrap();
    wire.initialize().unwrap();
    let pid = wire.pid();
    good_call(&mut wire, 1000);
    let before = memory(pid);
    let around = call_line(1001, "odd__echo", "").len() - 1;
    let longest = call_line(1001, "odd__echo", &"x".repeat((16 << 20) - around));
    assert_eq!(longest.len(), (16 << 20) + 1);
    wire.send_raw(&longest).unwrap();
    let told = next_answer(&mut wire);
    assert_eq!(told["result"]["content"][0]["text"], "echo", "{told:.300}");
    // Room for eight of them.
    let long = "x".repeat(2 << 20);
    let mut stdout = wire.take_stdout().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for id in 1..=CALLS {
                wire.send_raw(&call_line(id, "odd__echo", &long)).unwrap();
            }
        });
        let lines = std::io::BufRead::lines(&mut stdout).map(|line| line.unwrap());
        let answers = lines.filter(|line| !line.contains("\"method\""));
        for line in answers.take(CALLS as usize) {
            let told: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(told["result"]["content"][0]["text"], "echo", "{told:.300}");
        }
    });
    processes::gives_back(pid, before).unwrap();
}

/// A request to a bridged server with very many members in its `_meta` takes as long as
/// one with as many in its arguments.
#[test]
fn a_meta_of_very_many_members_is_read_in_linear_time() {
    let home = Home::new().unwrap();
    let script = dormouse_tests::artifacts::workspace().join("tests/servers/hostile.py");
    let kind = home.path().join("kind");
    std::fs::write(&kind, "nothing").unwrap();
    let starts = home.path().join("starts");
    let words = json!(["python3", script, starts, kind]);
    home.table("odd", &format!("command = {words}\ntools = [\"echo\"]\n"))
        .unwrap();
    let server = home.serve_http(&[]).unwrap();
    let many = |number: usize| {
        let members = (0..number).map(|one| (format!("m{one}"), json!(1)));
        Value::Object(members.collect())
    };
    let spent = |params: Value| {
        let before = server.cpu_time().unwrap();
        for id in 1..5 {
            let request = Request::stateless(id, "tools/call", params.clone());
            server.ask(&request).unwrap().result().unwrap();
        }
        server.cpu_time().unwrap() - before
    };
    let call = |arguments: Value, meta: Option<Value>| {
        let mut params = json!({ "name": "odd__echo", "arguments": arguments });
        if let Some(meta) = meta {
            params["_meta"] = meta;
        }
        params
    };
    spent(call(json!({}), None));
    let control = spent(call(many(60_000), None));
    let meta = spent(call(json!({}), Some(many(60_000))));
    println!("arguments take {control:?}, `_meta` takes {meta:?}");
    assert!(
        meta < 5 * control + SECOND / 2,
        "{meta:?} instead of {control:?}"
    );
    let refused = Request::stateless(9, "tools/call", call(json!({}), Some(many(100_000))));
    let refused = server.ask(&refused).unwrap().json().unwrap().to_string();
    assert!(
        refused.contains("more than 65536 members"),
        "{refused:.300}"
    );
}
