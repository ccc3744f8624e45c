//! Code that calls the host again and again without a loop and without a function of its own: an
//! engine looks at its clock in neither.

use super::*;

/// Number of times that each calls the host.
const CALLS: usize = 200;

/// Returns a component that hands over five million headers again and again.
fn headers() -> String {
    let call = "(call $given (i32.const 65536) (i32.const 5000000) (i32.const 16))";
    format!(
        r#"(component
    (import "wasi:http/types@0.2.0" (instance $http
      (export "fields" (type $fields (sub resource)))
      (type $error' (variant (case "invalid-syntax") (case "forbidden") (case "immutable")))
      (export "header-error" (type $error (eq $error')))
      (export "[static]fields.from-list" (func
        (param "entries" (list (tuple string (list u8))))
        (result (result (own $fields) (error $error)))))))
    (core module $mem (memory (export "mem") 1224))
    (core instance $mem (instantiate $mem))
    (core func $given (canon lower (func $http "[static]fields.from-list")
      (memory (core memory $mem "mem"))))
    (core module $m
      (import "" "mem" (memory 1))
      (import "" "given" (func $given (param i32 i32 i32)))
      (func (export "f") (local $at i32)
        (i32.store8 (i32.const 1024) (i32.const 32))
        (loop $l
          (i32.store (i32.add (i32.const 65536) (local.get $at)) (i32.const 1024))
          (i32.store (i32.add (i32.const 65540) (local.get $at)) (i32.const 1))
          (i32.store (i32.add (i32.const 65544) (local.get $at)) (i32.const 1024))
          (i32.store (i32.add (i32.const 65548) (local.get $at)) (i32.const 1))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const 80000000))))
        {}))
    (core instance $i (instantiate $m (with "" (instance
      (export "mem" (memory $mem "mem")) (export "given" (func $given))))))
    (func (export "f") (canon lift (core func $i "f"))))"#,
        call.repeat(CALLS / 4)
    )
}

/// Returns a component that copies a hundred megabytes through a stream again and again, which the
/// component model's concurrency does by itself: no function of the host is called.
fn streams() -> String {
    let copy = "(drop (call $read (local.get $r) (i32.const 0) (i32.const 100000000)))
        (drop (call $write (local.get $w) (i32.const 120000000) (i32.const 100000000)))
        (drop (call $poll (local.get $s) (i32.const 240000000)))";
    format!(
        r#"(component
  (type $s (stream u8))
  (core module $mem (memory (export "mem") 3700))
  (core instance $mem (instantiate $mem))
  (core func $new (canon stream.new $s))
  (core func $read (canon stream.read $s async (memory (core memory $mem "mem"))))
  (core func $write (canon stream.write $s async (memory (core memory $mem "mem"))))
  (core func $set (canon waitable-set.new))
  (core func $poll (canon waitable-set.poll (memory (core memory $mem "mem"))))
  (core func $join (canon waitable.join))
  (core module $m
    (import "" "new" (func $new (result i64)))
    (import "" "read" (func $read (param i32 i32 i32) (result i32)))
    (import "" "write" (func $write (param i32 i32 i32) (result i32)))
    (import "" "set" (func $set (result i32)))
    (import "" "poll" (func $poll (param i32 i32) (result i32)))
    (import "" "join" (func $join (param i32 i32)))
    (func (export "f") (local $x i64) (local $r i32) (local $w i32) (local $s i32)
      (local.set $x (call $new))
      (local.set $r (i32.wrap_i64 (local.get $x)))
      (local.set $w (i32.wrap_i64 (i64.shr_u (local.get $x) (i64.const 32))))
      (local.set $s (call $set))
      (call $join (local.get $r) (local.get $s))
      {}))
  (core instance $i (instantiate $m (with "" (instance
    (export "new" (func $new)) (export "read" (func $read)) (export "write" (func $write))
    (export "set" (func $set)) (export "poll" (func $poll)) (export "join" (func $join))))))
  (func (export "f") (canon lift (core func $i "f"))))"#,
        copy.repeat(CALLS * 4)
    )
}

/// As many calls at once as the host has threads. Each would come to its end, and answer.
#[test]
fn straight_lines_of_calls_end_at_the_deadline_and_others_are_heard() {
    for wat in [headers(), streams()] {
        let home = Home::new().unwrap();
        let component = wat::parse_str(wat).unwrap();
        let file = home.plugin_file("bad.wasm", &component).unwrap();
        home.server_with("bad", &file, "[servers.bad.limits]\ntimeout = \"1s\"")
            .unwrap();
        let mut command = home.command(&["serve"]);
        let mut client = Client::start(command.env("TOKIO_WORKER_THREADS", "2")).unwrap();
        let params = json!({ "name": "bad__f", "arguments": {} });
        let calls = [(); 2].map(|()| client.send("tools/call", params.clone()).unwrap());
        for call in calls {
            let answer = client.answer(call).unwrap();
            let text = dormouse_tests::client::text(&answer["result"]).unwrap();
            assert!(text.contains("longer than 1 s"), "{text}");
        }
        client.request("ping", json!({})).unwrap();
        let status = client.close(dormouse_tests::client::PATIENCE).unwrap();
        assert!(status.success());
    }
}
