//! Many calls at once, each within its own limit.

use super::*;

/// Grows to 200 MiB, writes to all of it, and spins.
const GREEDY: &str = r#"(component (core module $m (memory 1)
    (func (export "spin") (local $at i32)
      (if (i32.eq (memory.grow (i32.const 3200)) (i32.const -1)) (then unreachable))
      (loop $l
        (i32.store (local.get $at) (i32.const 1))
        (local.set $at (i32.add (local.get $at) (i32.const 4096)))
        (br_if $l (i32.lt_u (local.get $at) (i32.const 209715200))))
      (loop $l (br $l))))
  (core instance $i (instantiate $m))
  (func (export "spin") (canon lift (core func $i "spin"))))"#;

/// Makes a home whose guests together may have that much.
pub(super) fn home(memory: &str) -> Home {
    let home = Home::new().unwrap();
    std::fs::write(
        home.config(),
        format!("[limits]\nmemory = \"{memory}\"\n\n"),
    )
    .unwrap();
    home
}

#[test]
fn all_calls_of_a_host_share_a_budget_and_others_go_on() {
    let greedy = wat::parse_str(GREEDY).unwrap();
    let limits = "[servers.bad.limits]\ntimeout = \"3s\"";
    let mut host = Host::in_home(home("1GiB"), &greedy, limits);
    let call = json!({ "name": "bad__spin", "arguments": {} });
    let ids: Vec<_> = (0..64)
        .map(|_| host.client.send("tools/call", call.clone()).unwrap())
        .collect();
    for _ in 0..5 {
        let told = host
            .client
            .text("good__echo", json!({ "text": "beside" }))
            .unwrap();
        assert_eq!(told, "beside");
    }
    let mut no_memory = 0;
    for id in ids {
        let answer = host.client.answer(id).unwrap();
        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
        if said.contains("`memory` in `[limits]`") && said.contains("`bad`") {
            no_memory += 1;
        } else {
            assert!(said.contains("took longer"), "{said}");
        }
    }
    // One server has half of it, which is two of these.
    assert!(no_memory >= 40, "{no_memory} of 64 were refused memory");
    let peak = host.peak();
    assert!(peak < 900 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// An instance that is kept for a session is idle, and is ended before any call waits.
#[test]
fn idle_instances_make_room() {
    let kept = r#"(component (core module $m (memory 1)
            (func (export "keep") (result i32) (memory.grow (i32.const 1000))))
        (core instance $i (instantiate $m))
        (func (export "keep") (result u32) (canon lift (core func $i "keep"))))"#;
    let home = home("160MiB");
    let file = home
        .plugin_file("kept.wasm", &wat::parse_str(kept).unwrap())
        .unwrap();
    let stateful = "instance = \"per-session\"";
    home.server_with("one", &file, stateful).unwrap();
    home.server_with("two", &file, stateful).unwrap();
    let mut host = Host::in_home(home, &wat::parse_str(kept).unwrap(), stateful);
    for server in ["one", "two", "bad", "one", "two", "bad"] {
        let told = host.client.text(&format!("{server}__keep"), json!({}));
        // A fresh one, or one that has grown by as much.
        let told = told.unwrap();
        assert!(told.contains(":1}") || told.contains(":1001}"), "{told}");
    }
    let alive = ["one", "two", "bad"].map(|server| {
        let status = host.home.server_status(server).unwrap();
        status["instances"].as_u64().unwrap()
    });
    assert!(alive.iter().sum::<u64>() < 3, "{alive:?}");
    host.stays_well();
}

/// A server without room in its own share ends no instance of other servers: that would not help
/// it.
#[test]
fn a_server_without_room_in_its_share_ends_no_instance_of_others() {
    let keeper = artifacts::guest("keeper").unwrap();
    let home = home("160MiB");
    home.server("keep", &keeper).unwrap();
    // Each takes 50 MiB for as long as it runs; one server has 80 of 160.
    let greedy = GREEDY
        .replace("3200", "800")
        .replace("209715200", "52428800");
    let limits = "[servers.bad.limits]\ntimeout = \"2s\"";
    let mut host = Host::in_home(home, &wat::parse_str(greedy).unwrap(), limits);
    let first = host.client.text("keep__count", json!({})).unwrap();
    let call = json!({ "name": "bad__spin", "arguments": {} });
    let ids = [(); 2].map(|()| host.client.send("tools/call", call.clone()).unwrap());
    for id in ids {
        host.client.answer(id).unwrap();
    }
    let second = host.client.text("keep__count", json!({})).unwrap();
    assert_ne!(first, second, "the instance has been ended");
    host.stays_well();
}

#[test]
fn an_unknown_limit_of_the_host_is_told() {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemroy = \"1GiB\"\n").unwrap();
    let doctor = home.run(&["doctor"]).unwrap();
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("`memroy` is no key of `[limits]`"), "{told}");
    assert!(told.contains("did you mean `memory`?"), "{told}");
}

/// Memory of `wasi:http` for a plugin counts before it is taken: 25 methods of 4 MB.
#[test]
fn what_waits_for_memory_holds_none_that_is_not_counted() {
    const METHODS: &str = r#"(component
      (import "wasi:http/types@0.2.3" (instance $http
        (export "fields" (type $fields (sub resource)))
        (export "outgoing-request" (type $request (sub resource)))
        (type $m (variant (case "get") (case "head") (case "post") (case "put") (case "delete")
          (case "connect") (case "options") (case "trace") (case "patch") (case "other" string)))
        (export "method" (type $method (eq $m)))
        (export "[constructor]fields" (func (result (own $fields))))
        (export "[constructor]outgoing-request"
          (func (param "headers" (own $fields)) (result (own $request))))
        (export "[method]outgoing-request.set-method"
          (func (param "self" (borrow $request)) (param "method" $method) (result (result))))))
      (core module $memory (memory (export "mem") 64)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 16)))
      (core instance $memory (instantiate $memory))
      (core func $fields (canon lower (func $http "[constructor]fields")))
      (core func $request (canon lower (func $http "[constructor]outgoing-request")))
      (core func $set (canon lower (func $http "[method]outgoing-request.set-method")
        (memory (core memory $memory "mem")) (realloc (core func $memory "realloc"))))
      (core module $m
        (import "" "mem" (memory 64))
        (import "" "fields" (func $fields (result i32)))
        (import "" "request" (func $request (param i32) (result i32)))
        (import "" "set" (func $set (param i32 i32 i32 i32) (result i32)))
        (func (export "f") (param $n i32) (local $i i32)
          (if (i32.eqz (local.get $n)) (then (loop $e (br $e))))
          (memory.fill (i32.const 1024) (i32.const 65) (i32.const 4000000))
          (loop $l
            (drop (call $set (call $request (call $fields))
              (i32.const 9) (i32.const 1024) (i32.const 4000000)))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $l (i32.lt_u (local.get $i) (i32.const 25))))
          (loop $e (br $e))))
      (core instance $i (instantiate $m (with "" (instance (export "mem" (memory $memory "mem"))
        (export "fields" (func $fields)) (export "request" (func $request))
        (export "set" (func $set))))))
      (func (export "f") (param "n" u32) (canon lift (core func $i "f"))))"#;
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemory = \"512MiB\"\n\n").unwrap();
    let limits = "[servers.bad.limits]\ntimeout = \"6s\"";
    let mut host = Host::in_home(home, &wat::parse_str(METHODS).unwrap(), limits);
    // One that waits for nothing keeps those that do from being given up.
    let calls = (0..30).map(|n| {
        let call = json!({ "name": "bad__f", "arguments": { "n": n } });
        host.client.send("tools/call", call).unwrap()
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        let answer = host.client.answer(call).unwrap();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    let peak = host.peak();
    assert!(peak < 600 << 10, "the host took {peak} KiB");
    host.stays_well();
}
