//! Connections that are slow, many, or never read.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use dormouse_tests::http::{Request, Session};
use serde_json::json;

use crate::{SECOND, beside_a_good_client, echo, home};

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

/// Whoever has no token cannot have an upload of somebody who has one end.
#[test]
fn silent_connections_end_no_upload_that_was_let_in() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--max-connections", "4"]).unwrap();
    let upload = echo(1).header("expect", "100-continue").bytes(&server);
    let (head, body) = upload.split_at(upload.len() - 5);
    let mut stream = server.connect().unwrap();
    stream.write_all(head).unwrap();
    let mut begun = [0; 25];
    stream.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 100 Continue\r\n\r\n");
    let silent: Vec<_> = (0..20).map(|_| server.connect().unwrap()).collect();
    // All that came before it have had their seats.
    assert_eq!(server.ask(&Request::get("/health")).unwrap().status, 200);
    stream.write_all(body).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    drop(silent);
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
