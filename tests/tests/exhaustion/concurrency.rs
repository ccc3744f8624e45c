//! Streams and tasks of the component model's concurrency, whose memory is the host's.

use super::*;

/// Makes streams for as long as it may, and then spins.
const STREAMS: &str = r#"(component
  (type $s (stream))
  (core func $new (canon stream.new $s))
  (core module $m
    (import "" "new" (func $new (result i64)))
    (func (export "f") (param $n i32)
      (loop $l
        (drop (call $new))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br_if $l (local.get $n)))
      (loop $e (br $e))))
  (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
  (func (export "f") (param "n" u32) (canon lift (core func $i "f"))))"#;

/// Begins tasks that wait for ever, for as long as it may.
const TASKS: &str = r#"(component
  (component $stuck
    (core func $set (canon waitable-set.new))
    (core module $m
      (import "" "new" (func $new (result i32)))
      (func (export "g") (result i32) (i32.or (i32.const 2) (i32.shl (call $new) (i32.const 4))))
      (func (export "back") (param i32 i32 i32) (result i32) (i32.const 0)))
    (core instance $i (instantiate $m (with "" (instance (export "new" (func $set))))))
    (func (export "g") async
      (canon lift (core func $i "g") async (callback (core func $i "back")))))
  (instance $stuck (instantiate $stuck))
  (alias export $stuck "g" (func $g))
  (component $drive
    (import "g" (func $g async))
    (core func $lowered (canon lower (func $g) async))
    (core module $m
      (import "" "g" (func $g (result i32)))
      (func (export "f") (param $n i32)
        (loop $l
          (drop (call $g))
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (br_if $l (local.get $n)))
        (loop $e (br $e))))
    (core instance $i (instantiate $m (with "" (instance (export "g" (func $lowered))))))
    (func (export "f") (param "n" u32) (canon lift (core func $i "f"))))
  (instance $drive (instantiate $drive (with "g" (func $g))))
  (alias export $drive "f" (func $f))
  (export "f" (func $f)))"#;

/// Calls the component that many times at once, each with that number of streams or tasks, and
/// returns the answer to the first call.
fn at_once(host: &mut Host, calls: usize, number: u32) -> String {
    let call = json!({ "name": "bad__f", "arguments": { "n": number } });
    let ids: Vec<_> = (0..calls)
        .map(|_| host.client.send("tools/call", call.clone()).unwrap())
        .collect();
    let answers: Vec<_> = ids
        .into_iter()
        .map(|id| host.client.answer(id).unwrap())
        .collect();
    answers[0]["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn streams_and_tasks_are_few_for_each_call() {
    for wat in [STREAMS, TASKS] {
        let limits = "[servers.bad.limits]\ntimeout = \"3s\"";
        let mut host = Host::with(&wat::parse_str(wat).unwrap(), limits);
        let said = at_once(&mut host, 16, 40_000);
        assert!(said.contains("held more resources"), "{said}");
        let peak = host.peak();
        assert!(peak < 250 << 10, "the host took {peak} KiB");
        host.stays_well();
    }
}

/// Streams and tasks that are within their limits count as the plugin's memory.
#[test]
fn what_the_host_keeps_for_streams_is_memory_of_the_call() {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemory = \"16MiB\"\n\n").unwrap();
    let limits = "[servers.bad.limits]\ntimeout = \"3s\"";
    let mut host = Host::in_home(home, &wat::parse_str(STREAMS).unwrap(), limits);
    let call = json!({ "name": "bad__f", "arguments": { "n": 100 } });
    let ids: Vec<_> = (0..32)
        .map(|_| host.client.send("tools/call", call.clone()).unwrap())
        .collect();
    let mut no_memory = 0;
    for id in ids {
        let answer = host.client.answer(id).unwrap();
        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
        no_memory += usize::from(said.contains("`memory` in `[limits]`"));
    }
    // One server has half of it, and each call more than 1 MiB.
    assert!(no_memory >= 24, "{no_memory} of 32 were refused memory");
    host.stays_well();
}

/// Globals of many core instances are the host's memory, too.
#[test]
fn core_instances_with_many_globals_count_as_memory() {
    let globals = "(global (mut i64) (i64.const 1)) ".repeat(60_000);
    let instances = "(core instance (instantiate $m))".repeat(200);
    let wat = format!(
        r#"(component (core module $m {globals} (func (export "f") (loop $e (br $e))))
            {instances} (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let limits = "[servers.bad.limits]\nmemory = \"64MiB\"\ntimeout = \"3s\"";
    let mut host = Host::with(&wat::parse_str(wat).unwrap(), limits);
    host.fails("bad__f", &["bytes of memory", "[servers.bad.limits]"]);
    host.stays_well();
}

/// Each core instance may keep a stack, and each memory is a mapping or more, of which a process
/// may have a limited number.
#[test]
fn instances_have_few_stacks_and_few_memories() {
    let instances = "(core instance (instantiate $m))".repeat(70);
    let stacks = format!(
        r#"(component (type $s (stream)) (core func (canon stream.new $s))
            (core module $m (func (export "f"))) {instances}
            (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let memories = format!(
        r#"(component (core module $m {} (func (export "f")))
            (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#,
        "(memory 1)".repeat(20)
    );
    for (wat, why) in [(stacks, "instance count"), (memories, "memory count")] {
        let mut host = Host::with(&wat::parse_str(wat).unwrap(), "");
        host.fails("bad__f", &[why]);
        host.stays_well();
    }
}

/// Returns a component, in each component of which a function waits for ever for the one that all
/// of them call, after it has called itself until its stack is nearly full.
fn deep_stacks(components: usize) -> Vec<u8> {
    let each = |part: &dyn Fn(usize) -> String| (0..components).map(part).collect::<String>();
    let instances = each(&|n| {
        format!(
            r#"(instance $i{n} (instantiate $deep (with "g" (func $one)))) (alias export $i{n} "g" (func $g{n}))"#
        )
    });
    let imports = each(&|n| {
        format!(
            r#"(import "g{n}" (func $g{n} async)) (core func $f{n} (canon lower (func $g{n}) async))"#
        )
    });
    let of_core = each(&|n| format!(r#"(import "" "g{n}" (func $g{n} (result i32)))"#));
    let calls = each(&|n| format!("(drop (call $g{n}))"));
    let functions = each(&|n| format!(r#"(export "g{n}" (func $f{n}))"#));
    let given = each(&|n| format!(r#"(with "g{n}" (func $g{n}))"#));
    let text = format!(
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
          (instance $one (instantiate $waiting))
          (alias export $one "g" (func $one))
          (component $deep
            (import "g" (func $g async))
            (core func $wait (canon lower (func $g)))
            (core module $m
              (import "" "g" (func $g))
              (func $call (param $n i32) (result i64) (local $a i64) (local $b i64) (local $c i64)
                (local.set $a (i64.extend_i32_u (local.get $n)))
                (local.set $b (i64.mul (local.get $a) (i64.const 3)))
                (if (local.get $n)
                  (then (local.set $c (call $call (i32.sub (local.get $n) (i32.const 1)))))
                  (else (call $g)))
                (i64.add (local.get $c) (i64.xor (local.get $a) (local.get $b))))
              (func (export "g") (drop (call $call (i32.const 12000)))))
            (core instance $i (instantiate $m (with "" (instance (export "g" (func $wait))))))
            (func (export "g") async (canon lift (core func $i "g"))))
          {instances}
          (component $drive
            {imports}
            (core module $m {of_core} (func (export "f") {calls} (loop $e (br $e))))
            (core instance $i (instantiate $m (with "" (instance {functions}))))
            (func (export "f") (canon lift (core func $i "f"))))
          (instance $drive (instantiate $drive {given}))
          (alias export $drive "f" (func $f))
          (export "f" (func $f)))"#
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn stacks_of_functions_that_wait_count_as_memory() {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), "[limits]\nmemory = \"512MiB\"\n\n").unwrap();
    let limits = "[servers.bad.limits]\nmemory = \"128MiB\"\ntimeout = \"3s\"";
    let mut host = Host::in_home(home, &deep_stacks(55), limits);
    let call = json!({ "name": "bad__f", "arguments": {} });
    let calls = [(); 20].map(|()| host.client.send("tools/call", call.clone()).unwrap());
    let answers = calls.map(|call| host.client.answer(call).unwrap().to_string());
    let late = answers.iter().filter(|answer| answer.contains("3 s"));
    assert!(late.count() > 0, "{answers:?}");
    // Half of the memory, and the host itself.
    let peak = host.peak();
    assert!(peak < 450 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// Components within components take memory of the host for each instance, without any code.
#[test]
fn components_within_a_component_are_few() {
    let hundred = "(instance (instantiate $c))".repeat(100);
    let many = format!(
        r#"(component
          (component $c (component $c (component $c) {hundred}) {hundred}) {hundred}
          (core module $m (func (export "f") (loop $e (br $e))))
          (core instance $i (instantiate $m))
          (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let unknown = r#"(component
          (component $one)
          (component $takes (import "c" (component $c)) (instance (instantiate $c)))
          (instance (instantiate $takes (with "c" (component $one))))
          (core module $m (func (export "f")))
          (core instance $i (instantiate $m))
          (func (export "f") (canon lift (core func $i "f"))))"#;
    for (wat, why) in [
        (
            &*many,
            "it has 1010101 component instances, where 1000 are allowed",
        ),
        (unknown, "nobody knows how many, where 1000 are allowed"),
    ] {
        let mut host = Host::with(&wat::parse_str(wat).unwrap(), "");
        host.fails("bad__f", &[why]);
        host.stays_well();
    }
}
