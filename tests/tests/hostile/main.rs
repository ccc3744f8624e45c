//! Clients that mean harm, and a good one beside them, which is answered all the while. The host's
//! memory before and after is in the test's output.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test is over when something is not as it should be"
)]

mod connections;
mod floods;
mod large_messages;

mod odd_messages;
mod other_sessions;
mod smuggling;

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::http::{Request, Server, Session};
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, processes};
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
