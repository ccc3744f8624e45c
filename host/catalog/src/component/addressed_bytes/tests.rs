//! Components with addressed functions, and what these leave as it was.

use wasmparser::{ComponentExternalKind, Parser, Payload};

use super::*;
use crate::tests::nested_components;

/// A core module with all that functions of any type are made of.
const CODE: &str = r#"
    (core module $m
        (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable)
        (func (export "one") (param i32) (result i32) local.get 0)
        (func (export "two") (param i32 i32) (result i32) local.get 0)
        (func (export "end") (param i32)))
    (core instance $i (instantiate $m))
    (alias core export $i "memory" (core memory $memory))
    (alias core export $i "realloc" (core func $realloc))
    (alias core export $i "one" (core func $one))
    (alias core export $i "two" (core func $two))
    (alias core export $i "end" (core func $end))"#;

const LIFT_ONE: &str = r#"(canon lift (core func $one) (memory $memory) (realloc $realloc))"#;

/// Returns the names of a component's own exports of functions, those that are added included.
fn exported(component: &[u8]) -> Vec<String> {
    let mut depth = 0;
    let mut names = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        match payload.unwrap() {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentExportSection(section) if depth == 1 => {
                let exports = section.into_iter().map(Result::unwrap);
                let functions = exports.filter(|export| export.kind == ComponentExternalKind::Func);
                names.extend(functions.map(|export| export.name.name.to_owned()));
            }
            _ => {}
        }
    }
    names
}

/// Returns the names that are added to a component.
fn added_names(component: &str) -> Vec<String> {
    let component = wat::parse_str(component).unwrap();
    let whole = with_addressed_bytes(&component);
    assert!(whole.starts_with(&component));
    Validator::new_with_features(WasmFeatures::all())
        .validate_all(&whole)
        .unwrap();
    let own = exported(&component);
    let mut names = exported(&whole);
    assert_eq!(names[..own.len()], own);
    names.drain(..own.len());
    names
}

fn names(interface: Option<&str>, function: &str) -> AddressedNames {
    AddressedNames::of(&Export {
        interface: interface.map(str::to_owned),
        function: function.to_owned(),
    })
}

#[test]
fn functions_with_bytes_are_exported_once_more() {
    let AddressedNames { call, result, end } = names(None, "f");
    let reach = [READ_BYTES, SAVE, RESTORE, PLACE_BYTES];
    for (ty, ends, expected) in [
        ("(param \"a\" u32) (result string)", false, vec![]),
        (
            "(param \"a\" u32) (result (list u8))",
            false,
            vec![&call, &result],
        ),
        (
            "(param \"a\" u32) (result (list u8))",
            true,
            vec![&call, &result, &end],
        ),
        (
            "(param \"a\" u32) (result (option (list (tuple string (list u8)))))",
            true,
            vec![&call, &result, &end],
        ),
        (
            "(param \"a\" u32) (result (result (list u8) (error $odd)))",
            true,
            vec![&call, &result, &end],
        ),
        (
            "(param \"a\" $kind) (result (list $blob))",
            true,
            vec![&call, &result, &end],
        ),
    ] {
        let end = if ends { "(post-return $end)" } else { "" };
        let component = format!(
            r#"(component {CODE}
                (type $kind' (enum "a" "b")) (export $kind "kind" (type $kind'))
                (type $odd' (variant (case "a") (case "b" (list u8)))) (export $odd "odd" (type $odd'))
                (type $flag' (flags "a" "b")) (export $flag "flag" (type $flag'))
                (type $blob' (record (field "data" (list u8)) (field "kind" $kind) (field "flag" $flag)))
                (export $blob "blob" (type $blob'))
                (func (export "f") {ty} (canon lift (core func $one) (memory $memory) (realloc $realloc) {end})))"#
        );
        let expected: Vec<_> = match expected.is_empty() {
            true => Vec::new(),
            false => {
                let own = expected.iter().map(|name| name.as_str());
                reach.into_iter().chain(own).map(str::to_owned).collect()
            }
        };
        assert_eq!(added_names(&component), expected, "{ty}");
    }
    // Of one that only takes bytes, the result is what it was.
    let takes = format!(
        r#"(component {CODE} (func (export "f") (param "a" (list u8)) (result u32)
            (canon lift (core func $two) (memory $memory) (realloc $realloc))))"#
    );
    let expected: Vec<_> = reach.into_iter().chain([call.as_str()]).collect();
    assert_eq!(added_names(&takes), expected);
}

/// As toolchains make an interface: a component that hands its functions on.
#[test]
fn functions_of_interfaces_are_found() {
    let component = format!(
        r#"(component {CODE}
            (func $f (param "a" u32) (result (list u8)) {LIFT_ONE})
            (func $g (param "a" u32) (result string) {LIFT_ONE})
            (component $shim
                (import "import-g" (func $g (param "a" u32) (result string)))
                (import "import-f" (func $f (param "a" u32) (result (list u8))))
                (export "g" (func $g))
                (export "f" (func $f)))
            (instance $made (instantiate $shim
                (with "import-f" (func $f)) (with "import-g" (func $g))))
            (export "a:b/c@0.1.0" (instance $made))
            (instance $plain (export "h" (func $f)))
            (export "a:b/d" (instance $plain)))"#
    );
    let added = added_names(&component);
    for (interface, function, is_there) in [
        ("a:b/c@0.1.0", "f", true),
        ("a:b/c@0.1.0", "g", false),
        ("a:b/d", "h", true),
    ] {
        let name = names(Some(interface), function).call;
        assert_eq!(added.contains(&name), is_there, "{interface} {function}");
    }
}

#[test]
fn what_is_odd_stays_as_it_is() {
    for component in [
        "(component)".to_owned(),
        // Its name is taken.
        format!(
            r#"(component {CODE}
                (func (export "{READ_BYTES}") (param "a" u32) (result string) {LIFT_ONE})
                (func (export "f") (param "a" u32) (result (list u8)) {LIFT_ONE}))"#
        ),
        // A resource has its own place in each instance.
        format!(
            r#"(component {CODE}
                (type $r' (resource (rep i32))) (export $r "r" (type $r'))
                (func (export "f") (param "a" (borrow $r)) (result (list u8)) {LIFT_ONE}))"#
        ),
        // Of an inner component that makes it itself.
        format!(
            r#"(component
                (component $inner {CODE}
                    (func (export "f") (param "a" u32) (result (list u8)) {LIFT_ONE}))
                (instance $made (instantiate $inner))
                (export "a:b/c" (instance $made)))"#
        ),
    ] {
        let bytes = wat::parse_str(&component).unwrap();
        assert!(*with_addressed_bytes(&bytes) == bytes, "{component}");
    }
    let whole = format!(
        r#"(component {CODE} (func (export "f") (param "a" u32) (result (list u8)) {LIFT_ONE}))"#
    );
    let whole = wat::parse_str(whole).unwrap();
    for length in 0..whole.len() {
        let cut = &whole[..length];
        let rewritten = with_addressed_bytes(cut);
        // Where a section ends, a component may end.
        let is_whole = Validator::new().validate_all(cut).is_ok();
        assert!(is_whole || *rewritten == *cut, "{length}");
    }
    let deep = nested_components(1000);
    assert!(*with_addressed_bytes(&deep) == deep);
}

#[test]
fn a_component_has_no_such_functions_of_its_own() {
    let of = |export: &str| {
        let component = format!(
            r#"(component {CODE}
                (component $inner (import "dormouse-addressed-x" (func)))
                (func (export "{export}") (param "a" u32) (result (list u8)) {LIFT_ONE}))"#
        );
        reserved_export(&wat::parse_str(component).unwrap())
    };
    assert_eq!(of("f"), None);
    let own = names(None, "f").result;
    assert_eq!(of(&own), Some(own.clone()));
    assert_eq!(of(READ_BYTES), Some(READ_BYTES.to_owned()));
}

/// A type that is used again and again is copied once.
#[test]
fn types_are_copied_in_linear_time() {
    let components = |number: usize| {
        let types: String = (1..number)
            .map(|n| format!("(type $t{n} (tuple $t0 (option $t0)))"))
            .collect();
        let functions: String = (0..number * 20)
            .map(|n| format!(r#"(func (export "f{n}") (param "a" u32) (result $t0) {LIFT_ONE})"#))
            .collect();
        let last = number - 1;
        let text = format!(
            r#"(component {CODE} (type $t0 (option (list u8))) {types} {functions}
                (func (export "g") (param "a" u32) (result $t{last}) {LIFT_ONE}))"#
        );
        wat::parse_str(text).unwrap()
    };
    dormouse_tests::growth::is_linear("types", 12, components, |component: &Vec<u8>| {
        assert!(*with_addressed_bytes(component) != *component);
    });
}
