//! Types in one another, as deep and as wide as a file can have them.

use super::*;

/// Returns a component with `depth` component or instance types in one another, and a flag set
/// in the innermost one.
fn nested(kind: u8, depth: usize) -> Vec<u8> {
    let mut section = vec![1];
    section.extend([kind, 1, TYPE].repeat(depth));
    section.extend([0x6e, 1, 1, b'a']);
    let mut component = b"\0asm\x0d\0\x01\0\x07".to_vec();
    let mut length = section.len();
    while length >= 0x80 {
        component.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    component.push(u8::try_from(length).unwrap());
    component.extend(section);
    component
}

fn types(component: &[u8]) -> (usize, ReadTypes) {
    let payloads = Parser::new(0).parse_all(component).map(Result::unwrap);
    let ranges = payloads.filter_map(|payload| match payload {
        Payload::ComponentTypeSection(section) => Some(section.range()),
        _ => None,
    });
    let range = ranges.last().unwrap();
    let mut seen = 0;
    let read = each_type(&component[range], |ty| {
        assert!(!matches!(
            ty,
            ComponentType::Component(_) | ComponentType::Instance(_)
        ));
        seen += 1;
    });
    (seen, read)
}

/// Components as `wasm-tools` makes them, with an instance for each exported interface, are
/// not.
#[test]
fn only_what_nobody_builds_is_copied_too_often() {
    let component = |exports: usize, instances: usize| {
        let exports = (0..exports).map(|n| format!(r#"(export "e{n}" (func $f))"#));
        let exports = exports.collect::<String>();
        let instances = "(instance (instantiate $c))".repeat(instances);
        let wat = format!(
            r#"(component (component $c (import "f" (func $f)) {exports})
                {})"#,
            instances.replace("$c)", r#"$c (with "f" (func $g)))"#)
        );
        let wat = wat.replacen(
            "(component (component",
            r#"(component (import "g" (func $g)) (component"#,
            1,
        );
        wat::parse_str(wat).unwrap()
    };
    for (exports, instances, is_too_often) in
        [(1000, 1, false), (200, 100, false), (10_000, 100, true)]
    {
        let component = component(exports, instances);
        assert_eq!(copied_too_often(&component), is_too_often, "{exports}");
    }
}

#[test]
fn types_are_found_however_deep_they_are() {
    for kind in [COMPONENT, INSTANCE] {
        for (depth, too_deep) in [(0, None), (100, None), (101, Some(())), (300_000, Some(()))] {
            let component = nested(kind, depth);
            let (seen, read) = types(&component);
            assert_eq!(seen, 1);
            assert_eq!(
                read,
                ReadTypes {
                    depth,
                    is_whole: true
                }
            );
            assert_eq!(nested_too_deep(&component).map(|_| ()), too_deep, "{depth}");
            // How deep it is counts where nobody gets to its end.
            let cut = component.len() - 3;
            let mut cut = component[..cut].to_vec();
            cut.extend([0; 3]);
            assert_eq!(nested_too_deep(&cut).map(|_| ()), too_deep, "{depth}");
        }
    }
}

#[test]
fn all_that_types_declare_is_read() {
    let wat = r#"(component
        (type (record (field "a" string)))
        (type (component
            (core type (module (import "a" "b" (func)) (export "c" (func))))
            (type $t (func async (param "x" (list string)) (result u8)))
            (import "i" (instance (type (flags "a" "b")) (export "r" (type (sub resource)))))
            (alias outer 1 0 (type))
            (export "e" (func (type $t)))
            (type (component (type (stream u8)) (type (instance (type (option u8)))))))) )"#;
    let component = wat::parse_str(wat).unwrap();
    let (seen, read) = types(&component);
    assert!(read.is_whole, "{read:?}");
    assert_eq!(read.depth, 3);
    assert!(seen >= 6, "{seen}");
}

#[test]
fn types_are_read_in_linear_time() {
    type Component<'c> = &'c dyn Fn(usize) -> Vec<u8>;
    let kinds: [(&str, Component<'_>); 2] = [
        ("nested types", &|size| nested(COMPONENT, size)),
        ("types", &|size| {
            let types = "(type (flags \"a\" \"b\"))".repeat(size);
            wat::parse_str(format!("(component {types})")).unwrap()
        }),
    ];
    for (what, kind) in kinds {
        dormouse_tests::growth::is_linear(what, 1000, kind, |component: &Vec<u8>| {
            std::hint::black_box(nested_too_deep(component));
        });
    }
}
