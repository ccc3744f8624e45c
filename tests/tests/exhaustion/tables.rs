//! Many tables, each as large as tables once were allowed to be.

use super::*;

#[test]
fn tables_count_as_memory() {
    let tables = "(table 1000000 funcref)".repeat(60);
    let wat = format!(
        r#"(component (core module $m {tables} (func (export "f")))
            (core instance $i (instantiate $m))
            (func (export "f") (canon lift (core func $i "f"))))"#
    );
    let mut host = Host::with(
        &wat::parse_str(wat).unwrap(),
        "[servers.bad.limits]\nmemory = \"64MiB\"",
    );
    host.fails("bad__f", &["memory", "[servers.bad.limits]"]);
    let peak = host.peak();
    assert!(peak < 400 << 10, "the host took {peak} KiB");
    host.stays_well();
}

#[test]
fn a_table_that_grows_counts_as_memory() {
    let wat = r#"(component (core module $m (table $t 100000 funcref)
            (func (export "f")
              (loop $l
                (br_if $l (i32.ne (i32.const -1)
                  (table.grow $t (ref.null func) (i32.const 500000)))))
              unreachable))
        (core instance $i (instantiate $m))
        (func (export "f") (canon lift (core func $i "f"))))"#;
    let mut host = Host::with(
        &wat::parse_str(wat).unwrap(),
        "[servers.bad.limits]\nmemory = \"32MiB\"",
    );
    host.fails("bad__f", &["memory", "[servers.bad.limits]"]);
    host.stays_well();
}
