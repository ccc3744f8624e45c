//! Code that asks the host for much.

use super::*;
use crate::odd_code::answers;

/// Returns a component that is handed an interface of WASI, and calls a function of it before it
/// answers.
fn with_import(interface: &str, name: &str, kind: &str, lowered: &str, call: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
          (import "{interface}" (instance $host (export "{name}" (func {kind}))))
          (core module $libc
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
          (core instance $libc (instantiate $libc))
          (core func $f (canon lower (func $host "{name}") (memory (core memory $libc "memory"))
            (realloc (core func $libc "realloc"))))
          (core module $m
            (import "host" "f" (func $host {lowered}))
            (import "libc" "memory" (memory 1))
            (func (export "f") (param i32 i32) (result i32) {call} {answer}))
          (core instance $i (instantiate $m
            (with "host" (instance (export "f" (func $f))))
            (with "libc" (instance $libc))))
          (func (export "f") (param "text" string) (result string)
            (canon lift (core func $i "f") (memory (core memory $libc "memory"))
              (realloc (core func $libc "realloc"))))
        )"#,
        answer = answers(0, 0),
    );
    wat::parse_str(text).unwrap()
}

/// Calls the function of a component beside a good one. Returns whether that fails, the text, and
/// the most memory that the host has had more than before, in KiB, which comes back.
fn called_for_memory(component: &[u8]) -> (bool, String, u64) {
    let home = Home::new().unwrap();
    let file = home.plugin_file("bad.wasm", component).unwrap();
    home.server_with("bad", &file, "[servers.bad.limits]\ntimeout = \"2s\"")
        .unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    let good = json!({ "text": "good" });
    assert_eq!(client.text("echo__echo", good.clone()).unwrap(), "good");
    let before = processes::memory(client.pid()).unwrap();
    let result = client
        .call("bad__f", json!({ "text": "x".repeat(100) }))
        .unwrap();
    let text = client::text(&result).unwrap().to_owned();
    assert_eq!(client.text("echo__echo", good).unwrap(), "good");
    let most = processes::most_memory(client.pid()).unwrap();
    processes::gives_back(client.pid(), before).unwrap();
    (result["isError"] == true, text, most.saturating_sub(before))
}

const RANDOM: &str = "wasi:random/random@0.2.0";

#[test]
fn a_gigabyte_of_random_numbers_is_refused() {
    let random = |bytes: u64| {
        with_import(
            RANDOM,
            "get-random-bytes",
            r#"(param "len" u64) (result (list u8))"#,
            "(param i64 i32)",
            &format!("(call $host (i64.const {bytes}) (i32.const 64))"),
        )
    };
    let (failed, text, _) = called_for_memory(&random(1000));
    assert!(!failed, "{text}");
    let (failed, text, more) = called_for_memory(&random(1 << 30));
    assert!(failed && text.contains("`bad`"), "{text}");
    assert!(more < 128 << 10, "{more} KiB more");
}

#[test]
fn who_asks_a_clock_again_and_again_ends_at_the_deadline() {
    let flood = with_import(
        "wasi:clocks/monotonic-clock@0.2.0",
        "now",
        "(result u64)",
        "(result i64)",
        "(loop (drop (call $host)) (br 0))",
    );
    let (failed, text, more) = called_for_memory(&flood);
    assert!(failed && text.contains("longer than 2 s"), "{text}");
    assert!(more < 128 << 10, "{more} KiB more");
}
