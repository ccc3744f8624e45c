//! Clients that ask for long answers, and read none.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::time::Instant;

use dormouse_tests::http::{Request, Session};
use dormouse_tests::wire::{self, Wire};
use rustix::net::sockopt::set_socket_recv_buffer_size;

use super::*;

/// Number of answers of eight megabytes that are not read. The sockets of a connection take half of
/// one.
const UNREAD: u64 = 80;

/// Tool whose result is one long text: making it takes next to no time, so that the results that
/// are not read are all there soon.
const LONG_TEXT: &str = r#"(component
    (core module $m
      (memory (export "mem") 128)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
      (func (export "f") (result i32)
        (memory.fill (i32.const 1024) (i32.const 65) (i32.const 8000000))
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 8000000))
        (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "f") (result string)
      (canon lift (core func $i "f") (memory (core memory $i "mem"))
        (realloc (core func $i "realloc")))))"#;

/// Most memory that a host may have while they are not read, in KiB: it keeps 256 MiB of them.
const MAX_KIB: u64 = 500 << 10;

fn home() -> Home {
    let home = Home::new().unwrap();
    let component = wat::parse_str(LONG_TEXT).unwrap();
    let file = home.plugin_file("big.wasm", &component).unwrap();
    home.server("big", &file).unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    home
}

/// Returns the memory of a host, in KiB, when all results have been made that are not read: making
/// results has a budget of its own, which is that of plugins.
fn kept(pid: u32) -> u64 {
    let start = Instant::now();
    let mut before = (0, Instant::now());
    while start.elapsed() < Duration::from_secs(60) && before.1.elapsed() < Duration::from_secs(3) {
        let peak = processes::most_memory(pid).unwrap();
        if peak > before.0 || start.elapsed() < Duration::from_secs(5) {
            before = (peak, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // What was being made then may be given back yet.
    let start = Instant::now();
    loop {
        let kept = processes::memory(pid).unwrap();
        if kept < MAX_KIB || start.elapsed() > Duration::from_secs(30) {
            return kept;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn results_that_a_client_over_stdio_does_not_read_have_a_limit() {
    let home = home();
    let mut client = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    let hello = wire::initialize(json!({}));
    client.request(0, "initialize", hello).unwrap();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    client.send(&ready).unwrap();
    for id in 1..=UNREAD {
        let call = json!({ "name": "big__f", "arguments": {} });
        client.send(&wire::request(id, "tools/call", call)).unwrap();
    }
    let kept = kept(client.pid());
    assert!(kept < MAX_KIB, "the host keeps {kept} KiB");
    let mut missing: BTreeSet<u64> = (1..=UNREAD).collect();
    let (mut whole, mut refused) = (0, 0);
    while !missing.is_empty() {
        let answer = client.receive().unwrap();
        let Some(id) = answer["id"].as_u64() else {
            continue;
        };
        assert!(missing.remove(&id), "{id} was answered twice");
        let why = answer["error"]["message"].as_str().unwrap_or_default();
        refused += u64::from(why.contains("too many long results"));
        whole += u64::from(answer["result"]["isError"] != true && answer["error"].is_null());
    }
    assert!(whole > 8 && refused > 0, "{whole} whole, {refused} refused");
    let call = json!({ "name": "good__echo", "arguments": { "text": "well" } });
    let answer = client.request(UNREAD + 1, "tools/call", call).unwrap();
    assert!(answer.to_string().contains("well"), "{answer}");
}

#[test]
fn answers_that_clients_over_http_do_not_read_have_a_limit() {
    let home = home();
    let server = home.serve_http(&[]).unwrap();
    let call = |tool: &str, arguments| {
        let params = json!({ "name": tool, "arguments": arguments });
        Request::stateless(1, "tools/call", params)
    };
    let unread = || {
        let mut connection = server.connect().unwrap();
        // Where it grows, the sockets take whole answers.
        set_socket_recv_buffer_size(&connection, 64 << 10).unwrap();
        let request = call("big__f", json!({})).bytes(&server);
        connection.write_all(&request).unwrap();
        connection
    };
    let mut connections: Vec<_> = (0..UNREAD).map(|_| unread()).collect();
    let kept = kept(server.pid());
    assert!(kept < MAX_KIB, "the host keeps {kept} KiB");
    // The others of that name are told so, once enough of those have been made, and short answers
    // go out. One that is asked for behind many others may take longer than a client waits.
    let start = Instant::now();
    loop {
        let answer = server.ask(&call("big__f", json!({})));
        let answer = answer.and_then(|mut answer| answer.json());
        let last = match &answer {
            Ok(answer) => answer["error"]["message"].to_string(),
            Err(error) => error.to_string(),
        };
        if last.contains("too many long messages") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(45), "{last}");
        // Some of the first may have failed, on a busy machine.
        connections.push(unread());
    }
    let mut answer = server
        .ask(&call("good__echo", json!({ "text": "well" })))
        .unwrap();
    assert!(answer.result().unwrap().to_string().contains("well"));
    drop(connections);
    let start = Instant::now();
    loop {
        let answer = server.ask(&call("big__f", json!({})));
        if answer.and_then(|mut answer| answer.result()).is_ok() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(45));
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// An error may repeat what its client has written.
#[test]
fn errors_that_clients_over_http_do_not_read_are_short() {
    let home = home();
    let server = home.serve_http(&[]).unwrap();
    let long = "x".repeat(4 << 20);
    let mut connections = Vec::new();
    for (method, params) in [
        ("tools/list", json!({ "cursor": long })),
        ("prompts/get", json!({ "name": long })),
        ("no/such", json!({ "_meta": { "x": long } })),
        (long.as_str(), json!({})),
    ] {
        for _ in 0..20 {
            let mut connection = server.connect().unwrap();
            set_socket_recv_buffer_size(&connection, 64 << 10).unwrap();
            let request = Request::stateless(1, method, params.clone());
            let request = request.header("mcp-method", "x").header("mcp-name", "x");
            connection.write_all(&request.bytes(&server)).unwrap();
            connections.push(connection);
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    let kept = server.memory().unwrap();
    assert!(kept < 200 << 10, "the host keeps {kept} KiB");
}

/// Each message of a batch is answered, and a refusal repeats its id and what was wrong.
#[test]
fn batches_whose_answers_clients_over_http_do_not_read_have_a_limit() {
    let home = home();
    let server = home.serve_http(&[]).unwrap();
    let mut params = wire::initialize(json!({}));
    params["protocolVersion"] = json!("2025-03-26");
    let initialize = wire::request(0, "initialize", params).to_string();
    let answer = server.ask(&Request::post(initialize)).unwrap();
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    let session = Session { id };
    let batch = |message: &dyn Fn(usize) -> serde_json::Value| {
        let messages: Vec<_> = (0..1000).map(message).collect();
        let request = session.message(&json!(messages));
        request.header("mcp-protocol-version", "2025-03-26")
    };
    let version = "\u{1}".repeat(2000);
    let long = "i".repeat(4080);
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
    let batches = [
        batch(&|id| wire::request(id as u64, "ping", json!({ "_meta": meta }))),
        batch(&|id| json!({ "jsonrpc": "2.0", "id": format!("{id}{long}"), "method": "ping" })),
        batch(
            &|id| json!({ "jsonrpc": "2.0", "id": format!("{id}{long}"), "method": "initialize" }),
        ),
        batch(&|id| wire::request(id as u64, &long, json!({}))),
    ];
    let mut connections = Vec::new();
    for request in &batches {
        for _ in 0..60 {
            let mut connection = server.connect().unwrap();
            set_socket_recv_buffer_size(&connection, 64 << 10).unwrap();
            connection.write_all(&request.bytes(&server)).unwrap();
            connections.push(connection);
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    let kept = server.memory().unwrap();
    assert!(kept < 400 << 10, "the host keeps {kept} KiB");
    drop(connections);
    let call = json!({ "name": "good__echo", "arguments": { "text": "well" } });
    let call = Request::stateless(1, "tools/call", call);
    let mut answer = server.ask(&call).unwrap();
    assert!(answer.result().unwrap().to_string().contains("well"));
}
