//! Memory for instances of components of all kinds.

use super::scope::*;
use super::*;

fn of(wat: &str) -> InstanceFootprint {
    instance_footprint(&wat::parse_str(wat).unwrap()).unwrap()
}

#[test]
fn instances_are_counted_with_what_they_declare() {
    const BASE: u64 = CORE_INSTANCE_BYTES;
    const EACH: u64 = COMPONENT_INSTANCE_BYTES;
    for (wat, component_instances, with_code, bytes) in [
        ("(component)", 1, 0, EACH),
        ("(component (core module))", 1, 0, EACH),
        (
            "(component (core module $m (import \"\" \"f\" (func)) (global i32 (i32.const 1)) (func)
                (elem funcref (ref.null func) (ref.null func)))
              (core module $n (func (export \"f\")))
              (core instance $i (instantiate $n))
              (core instance (instantiate $m (with \"\" (instance $i)))))",
            1,
            1,
            EACH + 2 * BASE + 3 * ITEM_BYTES + 3 * FUNCTION_BYTES,
        ),
        // Three within each of four.
        (
            "(component $top (core module $m)
              (component $a (alias outer $top $m (core module $m))
                (core instance (instantiate $m)) (core instance (instantiate $m))
                (core instance (instantiate $m)))
              (component $b (alias outer $top $a (component $a))
                (instance (instantiate $a)) (instance (instantiate $a)))
              (instance (instantiate $b)) (instance (instantiate $b)))",
            7,
            4,
            7 * EACH + 12 * BASE,
        ),
        (
            "(component (component $a (type $r (resource (rep i32))) (core func (canon resource.new $r)))
              (instance (instantiate $a)))",
            2,
            0,
            2 * EACH + 2 * CANONICAL_BYTES,
        ),
        // Nobody knows which is meant.
        (
            "(component (core module (func))
              (component $a (import \"c\" (component $c)) (instance (instantiate $c))))",
            1,
            0,
            EACH,
        ),
        (
            "(component (core module (func))
              (component $b)
              (component $a (import \"c\" (component $c)) (instance (instantiate $c)))
              (instance (instantiate $a (with \"c\" (component $b)))))",
            u64::MAX,
            u64::MAX,
            u64::MAX,
        ),
    ] {
        let expected = InstanceFootprint {
            component_instances,
            with_code,
            bytes,
            sent_flags: 0,
            sends_values: false,
        };
        assert_eq!(of(wat), expected, "{wat}");
    }
    let none = instance_footprint(b"no component");
    assert_eq!(none, Ok(InstanceFootprint::default()));
}

/// Memory that is kept of an alias of four bytes takes twelve times as much.
#[test]
fn no_more_parts_are_kept_than_tools_take() {
    let component = |parts: String| wat::parse_str(format!("(component $top {parts})")).unwrap();
    type Parts<'p> = &'p dyn Fn(usize) -> String;
    let kinds: [(Parts<'_>, TooManyParts); 6] = [
        (
            &|number| "(core module)".repeat(number),
            TooManyParts::Modules,
        ),
        (
            &|number| "(component)".repeat(number),
            TooManyParts::Components,
        ),
        (
            &|number| {
                let alias = "(alias outer $top $c (component))";
                format!("(component $c) {}", alias.repeat(number - 1))
            },
            TooManyParts::Components,
        ),
        (
            &|number| {
                let alias = "(alias outer $top $m (core module))";
                format!("(core module $m) {}", alias.repeat(number - 1))
            },
            TooManyParts::Modules,
        ),
        (
            &|number| {
                let exports = (1..number).map(|n| format!("(export \"e{n}\" (component $c))"));
                format!("(component $c) {}", exports.collect::<String>())
            },
            TooManyParts::Components,
        ),
        (
            &|number| {
                let imports = (0..number).map(|n| format!("(import \"i{n}\" (component))"));
                imports.collect()
            },
            TooManyParts::Components,
        ),
    ];
    for (parts, error) in kinds {
        let most = component(parts(MAX_KNOWN));
        assert!(instance_footprint(&most).is_ok(), "{error}");
        let more = component(parts(MAX_KNOWN + 1));
        assert_eq!(instance_footprint(&more), Err(error));
    }
}

#[test]
fn flags_that_can_be_sent_are_found() {
    let flags = "(type $flags (flags \"a\" \"b\" \"c\")) (type $one (flags \"a\"))";
    let sent = "(type $list (list $flags)) (type (future $list))";
    for (wat, expected) in [
        (format!("(component {flags} {sent})"), 3),
        (
            format!("(component {flags} (type (stream u8)) (type (future)))"),
            0,
        ),
        (format!("(component {flags})"), 0),
        (
            format!("(component (component (component {flags})) (type (stream string)))"),
            0,
        ),
        (format!("(component (type (component {flags} {sent})))"), 3),
        (format!("(component (type (instance {flags} {sent})))"), 3),
        (
            format!("(component (component {flags}) (type $l (list u8)) (type (stream $l)))"),
            3,
        ),
    ] {
        assert_eq!(of(&wat).sent_flags, expected, "{wat}");
    }
}

/// Each component instantiates the one before twice: the count exceeds all numbers.
#[test]
fn instances_of_instances_are_counted_without_making_them() {
    let mut wat = "(component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
    for at in 1..80 {
        let two = "(instance (instantiate $c))".repeat(2);
        wat += &format!(
            "(component $c{at} (alias outer $top $c{} (component $c)) {two})",
            at - 1
        );
    }
    let takes = of(&format!(
        "(component $top {wat} (instance (instantiate $c79)))"
    ));
    assert_eq!(takes, UNKNOWN);
}

/// Components whose footprint is known, each of which counts the one before twice.
#[test]
fn instances_are_counted_in_linear_time() {
    type Component<'c> = &'c dyn Fn(usize) -> String;
    let kinds: [(&str, Component<'_>); 5] = [
        ("modules with instances", &|size| {
            (0..size)
                .map(|n| format!("(core module $m{n} (func)) (core instance (instantiate $m{n}))"))
                .collect()
        }),
        ("components that each have the one before twice", &|size| {
            (1..size).fold("(component $c0)".to_owned(), |text, n| {
                let outer = format!("(alias outer $top $c{} (component $c))", n - 1);
                let instances = "(instance (instantiate $c))".repeat(2);
                text + &format!("(component $c{n} {outer} {instances})")
            })
        }),
        ("types that are sent", &|size| {
            "(type (flags \"a\" \"b\")) (type (stream string))".repeat(size)
        }),
        ("exports of one component", &|size| {
            let exports = (0..size).map(|n| format!("(export \"e{n}\" (component $c))"));
            format!("(component $c) {}", exports.collect::<String>())
        }),
        ("functions and elements", &|size| {
            let items = "(ref.null func) ".repeat(size);
            let functions = "(func) (global i32 (i32.const 1))".repeat(size);
            format!("(core module (elem funcref {items}) {functions})")
        }),
    ];
    for (what, kind) in kinds {
        let component =
            |size: usize| wat::parse_str(format!("(component $top {})", kind(size))).unwrap();
        dormouse_tests::growth::is_linear(what, 60, component, |component: &Vec<u8>| {
            std::hint::black_box(instance_footprint(component).unwrap());
        });
    }
}

/// Reading a type recursively would take all of the stack.
#[test]
fn types_that_are_nested_without_end_are_read() {
    let component = crate::tests::nested_types(300_000);
    let footprint = instance_footprint(&component).unwrap();
    assert_eq!(footprint.component_instances, 1);
}
