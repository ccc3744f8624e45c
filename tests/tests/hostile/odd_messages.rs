//! Messages that are deep, long or many: each is refused soon, and the next client is answered.

use super::*;

/// Time that an answer to one may take, on a machine that does much else.
const SOON: Duration = Duration::from_secs(10);

/// Returns messages, each with a description of its oddness.
fn odd() -> Vec<(&'static str, String)> {
    let call = |id: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo__echo","arguments":{{"text":{text}}}}}}}"#
        )
    };
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let long = format!("\"{}\"", "i".repeat(5 << 20));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let many = |bytes: usize| {
        let number = bytes / (ping.len() + 1);
        format!("[{}]", vec![ping; number].join(","))
    };
    vec![
        ("200,000 levels", call("1", &deep(200_000))),
        ("open brackets", "[".repeat(3_000_000)),
        ("open braces", r#"{"a":"#.repeat(600_000)),
        ("an id of 5 MB", call(&long, "\"x\"")),
        ("a batch of 8 MB", many(8 << 20)),
        ("a batch of 1001", many(1001 * (ping.len() + 1))),
    ]
}

#[test]
fn odd_bodies_are_refused_soon_over_http() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let session = Session::open(&server).unwrap();
    beside_a_good_client(&server, || {
        for (what, body) in odd() {
            for is_stateless in [false, true] {
                let mut request = match is_stateless {
                    true => echo(1),
                    false => session.message(&json!({})),
                };
                request.body = body.clone().into_bytes();
                let start = Instant::now();
                let mut answer = server.ask(&request).unwrap();
                let took = start.elapsed();
                println!("{what}: {} after {took:?}", answer.status);
                let told = String::from_utf8(answer.body().unwrap()).unwrap();
                assert!(
                    (400..500).contains(&answer.status) && told.len() < 10_000,
                    "{what}: {} {told:.300}",
                    answer.status
                );
                assert!(took < SOON, "{what}: {took:?}");
            }
        }
    });
}

#[test]
fn odd_lines_are_refused_soon_over_stdio() {
    let home = home(&["echo"]);
    // The revision that has batches, and one that has none.
    for version in ["2025-03-26", "2025-11-25"] {
        let mut wire = stdio(&home, version);
        good_call(&mut wire, 1000);
        let before = memory(wire.pid());
        for (place, (what, line)) in odd().into_iter().enumerate() {
            let start = Instant::now();
            wire.send_raw(line.as_bytes()).unwrap();
            wire.send_raw(b"\n").unwrap();
            let told = next_answer(&mut wire);
            let took = start.elapsed();
            println!("{version}, {what}: {took:?}");
            let code = told["error"]["code"].as_i64();
            assert!(
                matches!(code, Some(-32700 | -32600)),
                "{version}, {what}: {told:.300}"
            );
            assert!(told.to_string().len() < 10_000, "{what}");
            assert!(took < SOON, "{what}: {took:?}");
            good_call(&mut wire, 1001 + place as u64);
        }
        processes::gives_back(wire.pid(), before).unwrap();
    }
}
