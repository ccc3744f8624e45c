//! Values that guests hand over at once: one text as often as they like, and long texts in a loop.

use super::*;

/// A list of 240 texts of a megabyte each, which are all the same one, of letters that take six
/// times their room as JSON.
const REPEATED: &str = r#"(component
    (core module $m
      (memory (export "mem") 20)
      (func (export "f") (result i32) (local $at i32)
        (memory.fill (i32.const 65536) (i32.const 27) (i32.const 1000000))
        (loop $l
          (i32.store (i32.add (i32.const 1024) (local.get $at)) (i32.const 65536))
          (i32.store (i32.add (i32.const 1028) (local.get $at)) (i32.const 1000000))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const 1920))))
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 240))
        (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "f") (result (list string))
      (canon lift (core func $i "f") (memory (core memory $i "mem")))))"#;

/// Number of times that [`LONG`] hands over its list.
const TIMES: usize = 6;

/// A list of a million headers of one letter each, handed over again and again.
const LONG: &str = r#"(component
    (import "wasi:http/types@0.2.0" (instance $http
      (export "fields" (type $fields (sub resource)))
      (type $error' (variant (case "invalid-syntax") (case "forbidden") (case "immutable")))
      (export "header-error" (type $error (eq $error')))
      (export "[static]fields.from-list" (func
        (param "entries" (list (tuple string (list u8))))
        (result (result (own $fields) (error $error)))))))
    (core module $mem (memory (export "mem") 256))
    (core instance $mem (instantiate $mem))
    (core func $given (canon lower (func $http "[static]fields.from-list")
      (memory (core memory $mem "mem"))))
    (core module $m
      (import "" "mem" (memory 1))
      (import "" "given" (func $given (param i32 i32 i32)))
      (func (export "f") (local $at i32) (local $n i32)
        (i32.store8 (i32.const 1024) (i32.const 32))
        (loop $l
          (i32.store (i32.add (i32.const 65536) (local.get $at)) (i32.const 1024))
          (i32.store (i32.add (i32.const 65540) (local.get $at)) (i32.const 1))
          (i32.store (i32.add (i32.const 65544) (local.get $at)) (i32.const 1024))
          (i32.store (i32.add (i32.const 65548) (local.get $at)) (i32.const 1))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const 16000000))))
        (loop $l
          (call $given (i32.const 65536) (i32.const 1000000) (i32.const 16))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $l (i32.lt_u (local.get $n) (i32.const 10))))))
    (core instance $i (instantiate $m (with "" (instance
      (export "mem" (memory $mem "mem")) (export "given" (func $given))))))
    (func (export "f") (canon lift (core func $i "f"))))"#;

/// The result would have 3 GiB.
#[test]
fn a_result_that_is_too_long_is_not_made() {
    let bad = wat::parse_str(REPEATED).unwrap();
    let mut host = Host::with(&bad, "[servers.bad.limits]\nmemory = \"4MiB\"");
    host.fails("bad__f", &["the result has at least", "`result` in"]);
    let peak = host.peak();
    assert!(peak < 700 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// Thirty-three lists that all are the same one of a hundred thousand sets of 32 flags, each of
/// which becomes a text of its own.
#[test]
fn a_list_of_flags_takes_no_more_than_other_lists() {
    let flags: Vec<_> = ('a'..='z').chain('A'..='F').collect();
    let flags = flags.iter().map(|flag| match flag.is_ascii_uppercase() {
        true => format!("\"x-{}\" ", flag.to_ascii_lowercase()),
        false => format!("\"{flag}\" "),
    });
    let bad = format!(
        r#"(component
          (type $flags' (flags {}))
          (import "set" (type $flags (eq $flags')))
          (core module $m
            (memory (export "mem") 20)
            (func (export "f") (result i32) (local $at i32)
              (memory.fill (i32.const 65536) (i32.const 255) (i32.const 400000))
              (loop $l
                (i32.store (i32.add (i32.const 1024) (local.get $at)) (i32.const 65536))
                (i32.store (i32.add (i32.const 1028) (local.get $at)) (i32.const 100000))
                (local.set $at (i32.add (local.get $at) (i32.const 8)))
                (br_if $l (i32.lt_u (local.get $at) (i32.const 264))))
              (i32.store (i32.const 0) (i32.const 1024))
              (i32.store (i32.const 4) (i32.const 33))
              (i32.const 0)))
          (core instance $i (instantiate $m))
          (func (export "f") (result (list (list $flags)))
            (canon lift (core func $i "f") (memory (core memory $i "mem")))))"#,
        flags.collect::<String>()
    );
    let bad = wat::parse_str(bad).unwrap();
    let mut host = Host::with(&bad, "[servers.bad.limits]\nmemory = \"4MiB\"");
    host.fails("bad__f", &["`result` in"]);
    let peak = host.peak();
    assert!(peak < 700 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// As many calls as the host has threads, each of which takes much longer than an epoch for each
/// turn.
#[test]
fn others_are_heard_between_the_turns_of_busy_guests() {
    let home = Home::new().unwrap();
    let file = home.plugin_file("bad.wasm", &wat::parse_str(LONG).unwrap());
    let limits = "[servers.bad.limits]\ntimeout = \"2m\"";
    home.server_with("bad", &file.unwrap(), limits).unwrap();
    let mut command = home.command(&["serve"]);
    let mut client = Client::start(command.env("TOKIO_WORKER_THREADS", "2")).unwrap();
    let params = json!({ "name": "bad__f", "arguments": {} });
    let calls = [(); 2].map(|()| client.send("tools/call", params.clone()).unwrap());
    let mut pings = 0;
    while calls.iter().any(|call| !client.has_answer(*call)) {
        client.request("ping", json!({})).unwrap();
        // Whoever never pauses is never waited for.
        std::thread::sleep(Duration::from_millis(20));
        pings += 1;
    }
    // Each of them waits for a turn or two of both calls' twenty, and not for the last.
    assert!(pings > TIMES / 2, "{pings} pings");
    for call in calls {
        let answer = client.answer(call).unwrap();
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    }
}
