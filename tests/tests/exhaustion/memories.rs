//! Many linear memories, each as large as an instance's limit.

use std::fmt::Write as _;

use super::*;

/// Returns a component of so many core instances, whose function writes to every page of a memory
/// of its own in each: 256 MiB.
fn memories(count: usize) -> Vec<u8> {
    let mut wat = String::from(
        r#"(component (core module $m (memory 1)
            (func (export "grow") (local $at i32)
              (drop (memory.grow (i32.const 4095)))
              (loop $l
                (i32.store (local.get $at) (i32.const 1))
                (local.set $at (i32.add (local.get $at) (i32.const 4096)))
                (br_if $l (i32.lt_u (local.get $at) (i32.const 268435456))))))"#,
    );
    let mut imports = String::new();
    let mut calls = String::new();
    let mut instances = String::new();
    for at in 0..count {
        let _ = write!(wat, "(core instance $i{at} (instantiate $m))");
        let _ = write!(imports, r#"(import "{at}" "grow" (func $f{at}))"#);
        let _ = write!(calls, "call $f{at} ");
        let _ = write!(instances, r#"(with "{at}" (instance $i{at}))"#);
    }
    let _ = write!(
        wat,
        r#"(core module $all {imports} (func (export "grow") {calls}))
           (core instance $a (instantiate $all {instances}))
           (func (export "grow") (canon lift (core func $a "grow"))))"#
    );
    wat::parse_str(wat).unwrap()
}

#[test]
fn all_memories_of_an_instance_count_together() {
    let mut host = Host::with(&memories(12), "[servers.bad.limits]\nmemory = \"256MiB\"");
    host.fails("bad__grow", &["memory", "[servers.bad.limits]"]);
    let peak = host.peak();
    assert!(peak < 700 << 10, "the host took {peak} KiB");
    host.stays_well();
}

/// The same holds where memories are large from the start, and none has to grow.
#[test]
fn memories_that_are_large_from_the_start_count_too() {
    let module = r#"(core module $m (memory 2000) (func (export "f")))"#;
    let instances = "(core instance (instantiate $m))".repeat(12);
    let wat = format!(
        r#"(component {module} {instances} (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let bad = wat::parse_str(wat).unwrap();
    let mut host = Host::with(&bad, "");
    host.fails("bad__f", &["memory", "[servers.bad.limits]"]);
    host.stays_well();
}

/// Instances cost the host memory that is no linear memory.
#[test]
fn the_instances_of_a_component_are_counted() {
    let module = r#"(core module $m (global (mut i64) (i64.const 1)) (func (export "f")))"#;
    let instances = "(core instance (instantiate $m))".repeat(900);
    let wat = format!(
        r#"(component {module} {instances} (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let mut host = Host::with(&wat::parse_str(wat).unwrap(), "");
    host.fails("bad__f", &["instance count"]);
    host.stays_well();
}

/// Globals and passive element segments are memory too, which a component multiplies by its
/// instances.
#[test]
fn the_globals_and_segments_of_a_module_are_counted() {
    for part in [
        "(global i64 (i64.const 1)) ".repeat(200_000),
        format!("(elem funcref {})", "(ref.null func) ".repeat(200_000)),
    ] {
        let wat = format!(
            r#"(component (core module $m {part} (func (export "f")))
                (core instance $i (instantiate $m))
                (func (export "f") (canon lift (core func $i "f"))))"#
        );
        let mut host = Host::with(&wat::parse_str(wat).unwrap(), "");
        host.fails("bad__f", &["`200000` globals", "65536"]);
        host.stays_well();
    }
}

/// A table with more elements than numbers can count fails to grow, and no memory was taken for
/// that growth: it gives nothing back.
#[test]
fn growths_that_fail_give_nothing_back() {
    let wat = r#"(component (core module $m
            (memory 1) (memory 1) (memory 1)
            (table $t i64 1 funcref)
            (func (export "grow") (local $round i32)
              (loop $l
                (if (i32.eq (memory.grow (i32.const 512)) (i32.const -1)) (then unreachable))
                (drop (table.grow $t (ref.null func) (i64.const -1)))
                (local.set $round (i32.add (local.get $round) (i32.const 1)))
                (br_if $l (i32.lt_u (local.get $round) (i32.const 20))))))
          (core instance $i (instantiate $m))
          (func (export "grow") (canon lift (core func $i "grow"))))"#;
    let limit = "[servers.bad.limits]\nmemory = \"64MiB\"";
    let mut host = Host::with(&wat::parse_str(wat).unwrap(), limit);
    host.fails("bad__grow", &["memory", "[servers.bad.limits]"]);
    host.stays_well();
}
