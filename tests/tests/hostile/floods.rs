//! Requests without number, and messages without end.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use dormouse_tests::http::{Request, Session, write_token};
use dormouse_tests::processes;
use dormouse_tests::wire::Wire;
use serde_json::{Value, json};

use crate::{KEPT, SECOND, beside_a_good_client, echo, home, memory, stdio};

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
