//! Values that a guest hands over, and that are there for as long as it goes on.

use super::*;

/// A list of 100 texts of a megabyte each, after which the guest never ends its clean-up.
const KEPT: &str = r#"(component
    (core module $m
      (memory (export "mem") 20)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1200000))
      (func (export "f") (param i32 i32) (result i32) (local $at i32)
        (memory.fill (i32.const 65536) (i32.const 65) (i32.const 1000000))
        (loop $l
          (i32.store (i32.add (i32.const 1024) (local.get $at)) (i32.const 65536))
          (i32.store (i32.add (i32.const 1028) (local.get $at)) (i32.const 1000000))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br_if $l (i32.lt_u (local.get $at) (i32.const 800))))
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 100))
        (i32.const 0))
      (func (export "after") (param i32) (loop $l (br $l))))
    (core instance $i (instantiate $m))
    (func (export "f") (param "text" string) (result (list string))
      (canon lift (core func $i "f") (memory (core memory $i "mem"))
        (realloc (core func $i "realloc")) (post-return (core func $i "after")))))"#;

/// Returns the same, with a task of the guest's own that has begun before and waits for ever.
fn kept_beside_a_task() -> String {
    let text = KEPT
        .strip_prefix("(component")
        .and_then(|text| text.strip_suffix(')'))
        .unwrap()
        .replace(
            "(core module $m",
            r#"(import "g" (func $g async))
            (core func $begin (canon lower (func $g) async))
            (core module $m
            (import "" "begin" (func $begin (result i32)))"#,
        )
        .replace("(memory.fill", "(drop (call $begin)) (memory.fill")
        .replace(
            "(instantiate $m)",
            r#"(instantiate $m (with "" (instance (export "begin" (func $begin)))))"#,
        );
    format!(
        r#"(component
          (component $waiting
            (core func $new (canon waitable-set.new))
            (core module $memory (memory (export "mem") 1))
            (core instance $memory (instantiate $memory))
            (core func $wait (canon waitable-set.wait (memory (core memory $memory "mem"))))
            (core module $m
              (import "" "new" (func $new (result i32)))
              (import "" "wait" (func $wait (param i32 i32) (result i32)))
              (func (export "g") (drop (call $wait (call $new) (i32.const 0)))))
            (core instance $i (instantiate $m
              (with "" (instance (export "new" (func $new)) (export "wait" (func $wait))))))
            (func (export "g") async (canon lift (core func $i "g"))))
          (instance $waiting (instantiate $waiting))
          (alias export $waiting "g" (func $g))
          (component $kept {text})
          (instance $kept (instantiate $kept (with "g" (func $g))))
          (alias export $kept "f" (func $f))
          (export "f" (func $f)))"#
    )
}

/// Results of a server's calls count until the calls end: there are only as many at once as there
/// is memory for.
#[test]
fn what_was_returned_counts_while_its_guest_cleans_up() {
    no_more_is_kept_than_there_is_memory_for(KEPT);
}

#[test]
fn what_was_returned_counts_while_tasks_of_its_guest_wait() {
    no_more_is_kept_than_there_is_memory_for(&kept_beside_a_task());
}

/// One inner component sends another a list of 30 texts of a megabyte each, for which the other
/// never makes room.
const SENT: &str = r#"(component
    (component $reader
      (type $sent (future (list string)))
      (core module $memory (memory (export "mem") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (loop $l (br $l)) (i32.const 0)))
      (core instance $memory (instantiate $memory))
      (core func $read (canon future.read $sent async
        (memory (core memory $memory "mem")) (realloc (core func $memory "realloc"))))
      (core module $m
        (import "" "read" (func $read (param i32 i32) (result i32)))
        (global $sent (mut i32) (i32.const 0))
        (func (export "take") (param i32) (global.set $sent (local.get 0)))
        (func (export "go") (drop (call $read (global.get $sent) (i32.const 16)))))
      (core instance $i (instantiate $m (with "" (instance (export "read" (func $read))))))
      (func (export "take") (param "sent" $sent) (canon lift (core func $i "take")))
      (func (export "go") (canon lift (core func $i "go"))))
    (component $writer
      (type $sent (future (list string)))
      (import "take" (func $take (param "sent" $sent)))
      (import "go" (func $go))
      (core func $take (canon lower (func $take)))
      (core func $go (canon lower (func $go)))
      (core module $memory (memory (export "mem") 20)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1200000)))
      (core instance $memory (instantiate $memory))
      (core func $new (canon future.new $sent))
      (core func $write (canon future.write $sent async (memory (core memory $memory "mem"))))
      (core module $m
        (import "" "mem" (memory 20))
        (import "" "new" (func $new (result i64)))
        (import "" "write" (func $write (param i32 i32) (result i32)))
        (import "" "take" (func $take (param i32)))
        (import "" "go" (func $go))
        (func (export "f") (param i32 i32) (local $sent i64) (local $at i32)
          (memory.fill (i32.const 65536) (i32.const 65) (i32.const 1000000))
          (loop $l
            (i32.store (i32.add (i32.const 1024) (local.get $at)) (i32.const 65536))
            (i32.store (i32.add (i32.const 1028) (local.get $at)) (i32.const 1000000))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br_if $l (i32.lt_u (local.get $at) (i32.const 240))))
          (i32.store (i32.const 0) (i32.const 1024))
          (i32.store (i32.const 4) (i32.const 30))
          (local.set $sent (call $new))
          (call $take (i32.wrap_i64 (local.get $sent)))
          (drop (call $write (i32.wrap_i64 (i64.shr_u (local.get $sent) (i64.const 32))) (i32.const 0)))
          (call $go)))
      (core instance $i (instantiate $m (with "" (instance
        (export "mem" (memory $memory "mem")) (export "new" (func $new))
        (export "write" (func $write)) (export "take" (func $take)) (export "go" (func $go))))))
      (func (export "f") (param "text" string) (canon lift (core func $i "f")
        (memory (core memory $memory "mem")) (realloc (core func $memory "realloc")))))
    (instance $reader (instantiate $reader))
    (instance $writer (instantiate $writer
      (with "take" (func $reader "take")) (with "go" (func $reader "go"))))
    (alias export $writer "f" (func $f))
    (export "f" (func $f)))"#;

#[test]
fn what_a_plugin_sends_itself_counts_until_it_has_taken_it() {
    no_more_is_kept_than_there_is_memory_for(SENT);
}

fn no_more_is_kept_than_there_is_memory_for(component: &str) {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemory = \"1GiB\"\n\n").unwrap();
    let limits = "[servers.bad.limits]\ntimeout = \"5s\"\nmemory = \"16MiB\"";
    let mut host = Host::in_home(home, &wat::parse_str(component).unwrap(), limits);
    let call = json!({ "name": "bad__f", "arguments": { "text": "a" } });
    let calls = [(); 20].map(|()| host.client.send("tools/call", call.clone()).unwrap());
    let answers = calls.map(|call| host.client.answer(call).unwrap().to_string());
    // A server has half of the memory.
    let count = |part: &str| {
        answers
            .iter()
            .filter(|answer| answer.contains(part))
            .count()
    };
    let (refused, late) = (count("there was no memory for it"), count("5 s"));
    assert!(
        refused > 0 && late > 0 && refused + late == 20,
        "{answers:?}"
    );
    let peak = host.peak();
    assert!(peak < 1 << 20, "the host took {peak} KiB");
    host.stays_well();
}

/// Seven hundred thousand times `true`, of which a tree of JSON takes seventy times the guest's memory.
const MANY_VALUES: &str = r#"(component
    (core module $m
      (memory (export "mem") 32)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
      (func (export "f") (result i32)
        (memory.fill (i32.const 1024) (i32.const 1) (i32.const 700000))
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 700000))
        (i32.const 0)))
    (core instance $i (instantiate $m))
    (func (export "f") (result (list bool))
      (canon lift (core func $i "f") (memory (core memory $i "mem"))
        (realloc (core func $i "realloc")))))"#;

/// Making JSON of a result takes memory of the host as well, which counts before it is taken.
#[test]
fn what_is_made_of_a_result_counts_as_memory() {
    let component = wat::parse_str(MANY_VALUES).unwrap();
    for (memory, is_answered) in [("1GiB", true), ("160MiB", false)] {
        let home = host_memory::home(memory);
        let mut host = Host::in_home(home, &component, "");
        let call = json!({ "name": "bad__f", "arguments": {} });
        let id = host.client.send("tools/call", call).unwrap();
        let answer = host.client.answer(id).unwrap();
        let result = &answer["result"];
        let said = result["content"][0]["text"].as_str().unwrap();
        match is_answered {
            true => assert!(said.starts_with(r#"{"result":[true,true,"#)),
            false => assert!(said.contains("`memory` in `[limits]`"), "{said}"),
        }
        assert_eq!(result["isError"] == true, !is_answered);
        host.stays_well();
    }
}

/// An instance's start functions are code of the plugin like any other.
#[test]
fn what_is_sent_while_an_instance_starts_counts_as_well() {
    let at_start = SENT.replace(
        r#"(func (export "f") (param i32 i32) (local $sent i64)"#,
        r#"(func (export "f") (param i32 i32)) (start $s) (func $s (local $sent i64)"#,
    );
    assert_ne!(at_start, SENT);
    no_more_is_kept_than_there_is_memory_for(&at_start);
}

/// A value in another one, in another one and so on takes several times what wasmtime counts of it.
#[test]
fn values_in_one_another_take_no_more_than_others() {
    let value = (0..20).fold("u8".to_owned(), |inner, _| format!("(tuple {inner})"));
    let component = format!(
        r#"(component
            (core module $m
              (memory (export "mem") 8)
              (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
              (func (export "f") (result i32)
                (i32.store (i32.const 0) (i32.const 1024))
                (i32.store (i32.const 4) (i32.const 300000))
                (i32.const 0)))
            (core instance $i (instantiate $m))
            (func (export "f") (result (list {value}))
              (canon lift (core func $i "f") (memory (core memory $i "mem"))
                (realloc (core func $i "realloc")))))"#
    );
    let mut host = Host::with(&wat::parse_str(&component).unwrap(), "");
    host.fails("bad__f", &["limit"]);
    let peak = host.peak();
    assert!(peak < 600 << 10, "the host took {peak} KiB");
    host.stays_well();
}
