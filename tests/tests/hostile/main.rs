//! Clients that mean harm, and a good one beside them, which is answered all the while. The host's
//! memory before and after is in the test's output.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test is over when something is not as it should be"
)]

mod odd_messages;
mod other_sessions;
mod smuggling;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::http::{Request, Server, Session, write_token};
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, processes, wait};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

/// Most memory that the host may keep beyond that before, in KiB. Generous, because memory in many
/// small pieces goes back late.
const KEPT: u64 = 64 << 10;

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn echo(id: u64) -> Request {
    let params = json!({ "name": "echo__echo", "arguments": { "text": "good" } });
    Request::stateless(id, "tools/call", params)
}

/// Does harm while a good client calls a tool again and again, each time over a connection of its
/// own, in both eras. Each of these calls has to be answered soon.
fn beside_a_good_client(server: &Server, harm: impl FnOnce()) {
    let session = Session::open(server).unwrap();
    server
        .text("echo__echo", json!({ "text": "warm" }))
        .unwrap();
    let before = server.memory().unwrap();
    let done = AtomicBool::new(false);
    let (count, slowest) = std::thread::scope(|scope| {
        let good = scope.spawn(|| {
            let (mut count, mut slowest) = (0, Duration::ZERO);
            while !done.load(Ordering::Relaxed) {
                let start = Instant::now();
                let request = match count % 2 {
                    0 => echo(count),
                    _ => {
                        let params =
                            json!({ "name": "echo__echo", "arguments": { "text": "good" } });
                        session.request(count, "tools/call", params)
                    }
                };
                let result = server.ask(&request).and_then(|mut answer| answer.result());
                let result = result.unwrap_or_else(|error| {
                    panic!(
                        "call {count} of the good client failed: {error:#}\n{}",
                        server.said()
                    )
                });
                assert_eq!(result["content"][0]["text"], "good");
                slowest = slowest.max(start.elapsed());
                count += 1;
                std::thread::sleep(Duration::from_millis(2));
            }
            (count, slowest)
        });
        harm();
        done.store(true, Ordering::Relaxed);
        good.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    // What was freed a moment ago is not yet given back.
    let patience = Instant::now();
    let mut after = server.memory().unwrap();
    while after > before + KEPT && patience.elapsed() < 5 * SECOND {
        std::thread::sleep(Duration::from_millis(100));
        after = server.memory().unwrap();
    }
    println!(
        "{count} good calls, the slowest took {slowest:?}; memory: {before} KiB before, {after} KiB after"
    );
    assert!(count > 0);
    assert!(
        slowest < 20 * SECOND,
        "the good client waited for {slowest:?}"
    );
    assert!(after <= before + KEPT, "{before} KiB became {after} KiB");
}

/// Whether the server has closed a connection, possibly after some words.
fn is_closed(stream: &mut TcpStream, within: Duration) -> bool {
    stream.set_read_timeout(Some(within)).unwrap();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                use std::io::ErrorKind::{TimedOut, WouldBlock};
                return !matches!(error.kind(), TimedOut | WouldBlock);
            }
        }
    }
}

#[test]
fn heavy_slow_heads_are_cut_off() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--header-time", "1s"]).unwrap();
    beside_a_good_client(&server, || {
        let mut slow: Vec<_> = (0..200).map(|_| server.connect().unwrap()).collect();
        let start = Instant::now();
        for byte in "POST /mcp HTTP/1.1\r\nhost: x".bytes() {
            for stream in &mut slow {
                // Those that are cut off already cannot be written to.
                let _ = stream.write_all(&[byte]);
            }
            std::thread::sleep(Duration::from_millis(60));
        }
        assert!(start.elapsed() > SECOND);
        for stream in &mut slow {
            assert!(is_closed(stream, SECOND), "a slow head is still waited for");
        }
    });
}

/// There are also more of them than connections: a client that has not sent a whole message makes
/// room for one that has.
#[test]
fn heavy_slow_bodies_are_cut_off() {
    let home = home(&["echo"]);
    let server = home
        .serve_http(&["--body-time", "1s", "--max-connections", "32"])
        .unwrap();
    beside_a_good_client(&server, || {
        let mut head = echo(1).header("content-length", "100000");
        head.body.truncate(10);
        let mut slow = Vec::new();
        for _ in 0..100 {
            let mut stream = server.connect().unwrap();
            stream.write_all(&head.bytes(&server)).unwrap();
            slow.push(stream);
        }
        for stream in &mut slow {
            assert!(
                is_closed(stream, 3 * SECOND),
                "a slow body is still waited for"
            );
        }
        let answer = server.begin(&head).unwrap().answer().unwrap();
        assert_eq!(answer.status, 408);
    });
}

#[test]
fn heavy_two_thousand_idle_connections_leave_room() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--header-time", "1m"]).unwrap();
    beside_a_good_client(&server, || {
        let idle: Vec<_> = (0..2000)
            .map(|number| {
                let stream = server.connect();
                stream.unwrap_or_else(|error| panic!("connection {number}: {error:#}"))
            })
            .collect();
        std::thread::sleep(SECOND);
        let open = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap();
        let open = open.count();
        assert!(open < 256 + 64, "{open} files are open");
        drop(idle);
    });
}

/// A client that comes while all connections are busy is told so.
#[test]
fn a_full_house_says_so() {
    let home = home(&["echo", "spin"]);
    let server = home.serve_http(&["--max-connections", "2"]).unwrap();
    let spin = json!({ "name": "spin__spin", "arguments": {} });
    let spin = Request::stateless(1, "tools/call", spin);
    server.text("echo__echo", json!({ "text": "" })).unwrap();
    let busy = [server.begin(&spin).unwrap(), server.begin(&spin).unwrap()];
    let start = Instant::now();
    while home.server_status("spin").unwrap()["running"] != 2 {
        assert!(start.elapsed() < 10 * SECOND);
    }
    let answer = server.ask(&Request::get("/health")).unwrap();
    assert_eq!(
        (answer.status, answer.header("retry-after")),
        (503, Some("1"))
    );
    drop(busy);
    let start = Instant::now();
    while server
        .ask(&Request::get("/health"))
        .map_or(0, |answer| answer.status)
        != 200
    {
        assert!(start.elapsed() < 10 * SECOND);
    }
}

/// A request to listen is never answered in full, in either era.
#[test]
fn clients_that_only_listen_keep_nobody_out() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--max-connections", "8"]).unwrap();
    let notifications = json!({ "notifications": { "toolsListChanged": true } });
    let listen = Request::stateless(1, "subscriptions/listen", notifications);
    let mut listening = Vec::new();
    for _ in 0..20 {
        listening.push(server.ask(&listen).unwrap());
        assert_eq!(listening.last().unwrap().status, 200);
    }
    server.text("echo__echo", json!({ "text": "x" })).unwrap();
    // Streams of sessions are as good as for ever, too.
    for _ in 0..20 {
        let session = Session::open(&server).unwrap();
        listening.push(server.ask(&session.news()).unwrap());
        assert_eq!(listening.last().unwrap().status, 200);
    }
    server.text("echo__echo", json!({ "text": "x" })).unwrap();
}

/// More is sent to the reader than the system's buffers hold.
#[test]
fn a_reader_that_never_reads_is_left_alone() {
    let home = home(&["echo", "huge"]);
    let server = home.serve_http(&[]).unwrap();
    // What is not read are 176 MB, three times over: as a text, as a value and as a
    // message.
    beside_a_good_client(&server, || {
        let huge = json!({ "name": "huge__huge", "arguments": { "bytes": 8_000_000 } });
        let request = Request::stateless(1, "tools/call", huge.clone());
        // It can be read.
        let result = server.ask(&request).unwrap().result().unwrap();
        assert_eq!(
            result["content"][0]["text"].as_str().unwrap().len(),
            8_000_000
        );
        // Ten answers on one connection, and four in each of three sessions.
        let sessions: Vec<_> = (0..3).map(|_| Session::open(&server).unwrap()).collect();
        let mut never = server.connect().unwrap();
        never.write_all(&request.bytes(&server).repeat(10)).unwrap();
        let legacy: Vec<_> = (0..12)
            .map(|id| {
                let request = sessions[id % 3].request(id as u64, "tools/call", huge.clone());
                server.begin(&request).unwrap()
            })
            .collect();
        // Given up is who has read nothing for 30 s, which begin with the first byte.
        never.peek(&mut [0]).unwrap();
        std::thread::sleep(Duration::from_secs(36));
        println!(
            "memory at the end of the wait: {} KiB",
            server.memory().unwrap()
        );
        drop(legacy);
        // It is given up: what it gets ends before the tenth answer.
        let mut read = 0;
        let mut buffer = vec![0; 1 << 20];
        while let Ok(some) = never.read(&mut buffer) {
            if some == 0 {
                break;
            }
            read += some;
        }
        assert!(read < 75_000_000, "{read} bytes came after all");
    });
}

#[test]
fn heavy_a_hundred_megabytes_are_not_taken() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    beside_a_good_client(&server, || {
        let before = server.memory().unwrap();
        let mut highest = 0;
        for chunked in [false, true] {
            for _ in 0..5 {
                let mut head = Request::post("");
                head = if chunked {
                    head.header("content-length", "")
                        .header("transfer-encoding", "chunked")
                } else {
                    head.header("content-length", "104857600")
                };
                let mut stream = server.connect().unwrap();
                stream.write_all(&head.bytes(&server)).unwrap();
                let some = vec![b' '; 1 << 20];
                let mut sent = 0;
                while sent < 100 {
                    let piece = if chunked {
                        stream
                            .write_all(b"100000\r\n")
                            .and_then(|()| stream.write_all(&some))
                            .and_then(|()| stream.write_all(b"\r\n"))
                    } else {
                        stream.write_all(&some)
                    };
                    if piece.is_err() {
                        break;
                    }
                    sent += 1;
                    highest = highest.max(server.memory().unwrap());
                }
                assert!(sent < 100, "it was all taken");
            }
        }
        println!("the highest was {highest} KiB");
        assert!(
            highest < before + (100 << 10),
            "{before} KiB became {highest} KiB"
        );
    });
}

#[test]
fn heavy_a_thousand_dropped_sessions_are_forgotten() {
    let home = home(&["echo", "keeper"]);
    let server = home.serve_http(&[]).unwrap();
    beside_a_good_client(&server, || {
        for number in 0..1000 {
            let session = Session::open(&server)
                .unwrap_or_else(|error| panic!("session {number}: {error:#}"));
            // Some leave an instance and a stream behind: more of them than sessions are kept,
            // because those that nobody has used go first.
            if number % 3 == 0 {
                let keep = json!({ "name": "keeper__count", "arguments": {} });
                let request = session.request(1, "tools/call", keep);
                server.ask(&request).unwrap().result().unwrap();
                drop(server.ask(&session.news()).unwrap());
            }
        }
        let start = Instant::now();
        loop {
            let sessions = home.status().unwrap()["sessions"].as_u64().unwrap();
            // One more is a request of the good client.
            if sessions <= 257 {
                break;
            }
            assert!(start.elapsed() < 10 * SECOND, "{sessions} sessions");
        }
        let instances = home.server_status("keeper").unwrap()["instances"].clone();
        assert!(instances.as_u64().unwrap() <= 257, "{instances} instances");
    });
}

#[test]
fn heavy_strangers_are_sent_away_by_the_thousand() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    beside_a_good_client(&server, || {
        for number in 0..1000 {
            let request = match number % 3 {
                0 => echo(1).header("host", "evil.example"),
                1 => echo(1).header("origin", "https://evil.example"),
                _ => Request::post("{\"jsonrpc\":"),
            };
            let expected = if number % 3 == 2 { 400 } else { 403 };
            assert_eq!(server.ask(&request).unwrap().status, expected);
        }
    });
}

#[test]
fn heavy_who_guesses_tokens_gets_nowhere() {
    let home = home(&["echo"]);
    let file = write_token(home.path(), "s3cret").unwrap();
    let server = home
        .serve_http(&["--token-file", &file.display().to_string()])
        .unwrap();
    let before = server.memory().unwrap();
    for number in 0..1000 {
        let mut request = echo(1).header("authorization", &format!("Bearer {number}"));
        if number % 2 == 0 {
            request = echo(1).header("authorization", "");
        }
        assert_eq!(server.ask(&request).unwrap().status, 401);
        let good = echo(1).header("authorization", "Bearer s3cret");
        assert!(server.ask(&good).unwrap().result().is_ok());
    }
    let after = server.memory().unwrap();
    println!("memory: {before} KiB before, {after} KiB after");
    assert!(after <= before + KEPT);
}

#[test]
fn heavy_a_line_without_an_end_is_not_kept() {
    let home = home(&["echo"]);
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    wire.initialize().unwrap();
    let memory = |wire: &Wire| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", wire.pid())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    let before = memory(&wire);
    let mut highest = before;
    let some = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        wire.send_raw(&some).unwrap();
        highest = highest.max(memory(&wire));
    }
    wire.send_raw(b"\n").unwrap();
    // It is refused, and the next line is heard.
    let refused = wire.receive().unwrap();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert_eq!(
        wire.request(7, "ping", json!({})).unwrap(),
        Value::Object(Default::default())
    );
    println!(
        "memory: {before} KiB before, {highest} KiB at most, {} KiB after",
        memory(&wire)
    );
    assert!(
        highest < before + (80 << 10),
        "{before} KiB became {highest} KiB"
    );
    assert!(memory(&wire) < before + KEPT);
}

/// Starts a server over stdio, and shakes hands with it in a revision.
fn stdio(home: &Home, version: &str) -> Wire {
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    let hello = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    wire.request(0, "initialize", hello).unwrap();
    wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .unwrap();
    wire
}

/// Returns the memory that a process has now, in KiB.
fn memory(pid: u32) -> u64 {
    processes::memory(pid).unwrap()
}

#[test]
fn a_batch_of_sixteen_megabytes_is_refused() {
    let home = home(&["echo"]);
    let mut wire = stdio(&home, "2025-03-26");
    let before = memory(wire.pid());
    let message = r#"{"jsonrpc":"2.0","method":"ping","id":"#;
    let messages = (0..340_000).map(|id| format!("{message}{id}}}"));
    let batch = format!("[{}]\n", messages.collect::<Vec<_>>().join(","));
    assert!(batch.len() < 16 << 20);
    wire.send_raw(batch.as_bytes()).unwrap();
    let told = wire.receive().unwrap();
    let why = told["error"]["message"].as_str().unwrap();
    assert!(why.contains("at most 1000 messages, not 340000"), "{told}");
    wire.request(1, "ping", json!({})).unwrap();
    let after = memory(wire.pid());
    assert!(
        after < before + (256 << 10),
        "{before} KiB became {after} KiB"
    );
    // One that is as long as it may be is answered, and its answers have an end.
    let messages = (0..1000).map(|id| {
        let params = json!({ "name": "echo__echo", "arguments": { "text": "x".repeat(15_000) } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    });
    let batch = format!("[{}]\n", messages.collect::<Vec<_>>().join(","));
    wire.send_raw(batch.as_bytes()).unwrap();
    assert_eq!(wire.receive().unwrap().as_array().unwrap().len(), 1000);
    processes::gives_back(wire.pid(), before).unwrap();
}

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

/// Bodies without an end take no more room than all bodies may take together.
#[test]
fn bodies_that_never_end_share_their_room() {
    const PART: usize = 4 << 20;
    let home = home(&["echo"]);
    let server = home.serve_http(&["--max-bodies", "32MiB"]).unwrap();
    beside_a_good_client(&server, || {
        let before = server.memory().unwrap();
        let mut head = Request::post(vec![b' '; PART]).header("content-length", "16000000");
        head.body.truncate(PART);
        let bytes = head.bytes(&server);
        let mut begun = Vec::new();
        for _ in 0..60 {
            let mut stream = server.connect().unwrap();
            // Whoever is refused need not be read to the end.
            let _ = stream.write_all(&bytes);
            begun.push(stream);
        }
        let after = server.memory().unwrap();
        assert!(
            after < before + (128 << 10),
            "{before} KiB became {after} KiB"
        );
        let refused = begun.iter_mut().filter_map(|stream| {
            stream.set_read_timeout(Some(SECOND / 100)).unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).ok().map(|()| start)
        });
        let refused = refused.filter(|start| start == b"HTTP/1.1 503").count();
        assert!(refused >= 40, "{refused} of 60 were refused");
    });
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

/// Returns a call of a tool, as a line.
fn call_line(id: u64, tool: &str, text: &str) -> Vec<u8> {
    let params = json!({ "name": tool, "arguments": { "text": text } });
    let call = dormouse_tests::wire::request(id, "tools/call", params);
    format!("{call}\n").into_bytes()
}

fn good_call(wire: &mut Wire, id: u64) {
    let params = json!({ "name": "echo__echo", "arguments": { "text": "good" } });
    let result = wire.request(id, "tools/call", params).unwrap();
    assert_eq!(result["content"][0]["text"], "good");
}

/// Reads the next answer; other messages of the host are dropped.
fn next_answer(wire: &mut Wire) -> Value {
    loop {
        let told = wire.receive().unwrap();
        if told.get("method").is_none() {
            return told;
        }
    }
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
