//! Results that are large as values, and are there for as long as their guest goes on.

use super::*;

/// A list of 100 texts of a megabyte each, after which the guest never has done with cleaning up.
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

/// The same, with a task of the guest's own that has begun before and waits for ever.
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

/// What a server's calls have returned counts until they end: as many as there is memory for are
/// there at once.
#[test]
fn what_was_returned_counts_while_its_guest_cleans_up() {
    no_more_is_kept_than_there_is_memory_for(KEPT);
}

#[test]
fn what_was_returned_counts_while_tasks_of_its_guest_wait() {
    no_more_is_kept_than_there_is_memory_for(&kept_beside_a_task());
}

fn no_more_is_kept_than_there_is_memory_for(component: &str) {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemory = \"1GiB\"\n\n").unwrap();
    let limits = "[servers.bad.limits]\ntimeout = \"5s\"\nmemory = \"4MiB\"";
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
