use super::*;
use crate::component_types::{MAX_COPIED_PARTS, copied_too_often};

fn component(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).unwrap()
}

/// Components in one another, each of which instantiates the one before twice.
fn nested(depth: usize, instances: usize) -> Vec<u8> {
    let import =
        r#"(import "r" (type $r (sub resource))) (import "f" (func $f (param "x" (own $r))))"#;
    let with = r#"(with "r" (type $r)) (with "f" (func $f))"#;
    let levels = (1..=depth).map(|level| {
        let before = level - 1;
        format!(
            r#"(component $c{level} (alias outer $top $c{before} (component $p)) {import}
                (instance $a (instantiate $p {with})) (export "a" (instance $a))
                (instance $b (instantiate $p {with})) (export "b" (instance $b)))"#
        )
    });
    let levels: String = levels.collect();
    let instances = format!("(instance (instantiate $c{depth} {with}))").repeat(instances);
    component(&format!(
        r#"(component $top (component $c0 {import} (export "f" (func $f))) {levels}
            {import} {instances})"#
    ))
}

/// Types of instances in one another, each of which has the one before twice.
fn doubled(depth: usize, last: &str) -> Vec<u8> {
    let levels = (1..=depth).map(|level| {
        let before = level - 1;
        format!(
            r#"(type $t{level} (instance (alias outer $top $t{before} (type $p))
                (export "a" (instance (type $p))) (export "b" (instance (type $p)))))"#
        )
    });
    let levels: String = levels.collect();
    component(&format!(
        r#"(component $top (type $t0 (instance (export "r" (type $r (sub resource)))
            (export "f" (func (param "x" (own $r)))))) {levels} {})"#,
        last.replace("$last", &format!("$t{depth}"))
    ))
}

/// Counting the copies takes as many steps as the component is long.
#[test]
fn types_that_double_with_each_level_are_refused() {
    let imported = |times: usize| -> String {
        let imports = (0..times).map(|one| format!(r#"(import "i{one}" (instance (type $last)))"#));
        imports.collect()
    };
    let in_types = |times: usize| {
        r#"(type (component (alias outer $top $last (type $p)) (import "i" (instance (type $p)))))"#
            .repeat(times)
    };
    for (what, component) in [
        ("nested", nested(15, 2)),
        ("instances", nested(10, 100)),
        ("imports", doubled(15, &imported(5))),
        ("wider imports", doubled(10, &imported(100))),
        ("types", doubled(13, &in_types(40))),
        ("one type", doubled(17, "")),
    ] {
        assert!(component.len() < 10_000, "{what}: {}", component.len());
        let copied = copied_parts(&component, u64::MAX);
        assert!(copied > MAX_COPIED_PARTS, "{what}: {copied}");
        assert!(copied_too_often(&component), "{what}");
    }
    for (what, component) in [
        ("nested", nested(5, 2)),
        ("imports", doubled(5, &imported(5))),
        ("types", doubled(5, &in_types(5))),
    ] {
        assert!(!copied_too_often(&component), "{what}");
    }
    // It saturates.
    assert!(copied_parts(&doubled(90, ""), u64::MAX) > u64::MAX / 2);
}

/// An item that is aliased from an instance counts like the item itself.
#[test]
fn what_an_alias_leads_to_is_counted() {
    let with = |last: &str| doubled(12, last);
    let imports: String = (0..40)
        .map(|one| format!(r#"(export "e{one}" (instance $b))"#))
        .collect();
    let few = with(r#"(import "i" (instance $i (type $last)))"#);
    let many = with(&format!(
        r#"(import "i" (instance $i (type $last))) (alias export $i "a" (instance $a))
            (alias export $a "b" (instance $b)) {imports}"#
    ));
    let copied = |component: &[u8]| copied_parts(component, u64::MAX);
    assert!(copied(&many) > 3 * copied(&few), "{}", copied(&many));
}

#[test]
fn instances_that_export_one_another_without_end_are_refused() {
    let mut wat = r#"(component (instance $i0) "#.to_owned();
    for one in 1..20_000 {
        wat += &format!(
            r#"(instance $i{one} (export "e" (instance $i{})))"#,
            one - 1
        );
    }
    assert!(copied_too_often(&component(&(wat + ")"))));
}

#[test]
fn counting_takes_linear_time() {
    type Component<'c> = &'c dyn Fn(usize) -> Vec<u8>;
    let kinds: [(&str, Component<'_>); 3] = [
        ("types", &|size| {
            let types = r#"(type (record (field "a" string) (field "b" u8)))"#.repeat(size);
            component(&format!("(component {types})"))
        }),
        ("aliases", &|size| {
            let aliases = r#"(alias export $i "f" (func))"#.repeat(size);
            component(&format!(
                r#"(component (import "i" (instance $i (export "f" (func)))) {aliases})"#
            ))
        }),
        ("exports", &|size| {
            let exports = (0..size).map(|one| format!(r#"(export "e{one}" (func $f))"#));
            let exports: String = exports.collect();
            component(&format!(
                r#"(component (import "f" (func $f)) (instance {exports}))"#
            ))
        }),
    ];
    for (what, kind) in kinds {
        dormouse_tests::growth::is_linear(what, 500, kind, |component: &Vec<u8>| {
            std::hint::black_box(copied_parts(component, u64::MAX));
        });
    }
}

/// All components built here, by whichever toolchain, are far below the limit.
#[test]
fn real_components_are_far_below_the_limit() {
    let target = dormouse_tests::artifacts::target();
    let mut folders = vec![target.join("foreign"), target.join("wasm32-wasip2")];
    let mut most = 0;
    while let Some(folder) = folders.pop() {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in files.map(|file| file.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "wasm") {
                let Ok(bytes) = std::fs::read(&path) else {
                    continue;
                };
                let copied = copied_parts(&bytes, u64::MAX);
                println!(
                    "{copied:>8} of {:>9} bytes: {}",
                    bytes.len(),
                    path.display()
                );
                most = most.max(copied);
                assert!(!copied_too_often(&bytes), "{}", path.display());
            }
        }
    }
    assert!(most < MAX_COPIED_PARTS / 10, "{most}");
    // Where all is built before the tests, there is something to be looked at.
    assert!(most > 0 || std::env::var_os("CI").is_none());
}

/// Each of these takes milliseconds, for some bytes.
#[test]
fn what_is_looked_at_again_and_again_is_counted() {
    let many = |what: &str, times: usize| what.repeat(times);
    let tuples: String = (1..=17)
        .map(|level| format!("(type $t{level} (tuple $t{0} $t{0}))", level - 1))
        .collect();
    let aliases = |times| {
        let aliases = many("(alias outer 1 $t17 (type))", times);
        component(&format!(
            "(component (type $t0 (tuple u8 u8)) {tuples} (component {aliases}))"
        ))
    };
    let cases =
        |of: &str| -> String { (0..300).map(|n| format!(r#"(case "c{n}" {of})"#)).collect() };
    let lifts = |times| {
        let lifts = many("(func (type $f) (canon lift (core func $g)))", times);
        component(&format!(
            r#"(component (core module $m (func (export "g") (param i32 i32 i32)))
                (core instance $i (instantiate $m)) (alias core export $i "g" (core func $g))
                (type $v (variant {})) (type $u (variant {})) (type $f (func (param "x" $u))) {lifts})"#,
            cases("u32"),
            cases("$v"),
        ))
    };
    let imports = |times| {
        let exports: String = (0..5000)
            .map(|n| format!(r#"(export "{n:x}" (func $f))"#))
            .collect();
        let imports: String = (0..5000)
            .map(|n| format!(r#"(import "" "{n:x}" (func))"#))
            .collect();
        let instances = many(
            r#"(core instance (instantiate $m (with "" (instance $e))))"#,
            times,
        );
        component(&format!(
            "(component (core module $x (func $f) {exports}) (core module $m {imports})
                (core instance $e (instantiate $x)) {instances})"
        ))
    };
    let exported = |times| {
        let imports: String = (0..5000)
            .map(|n| format!(r#"(import "" "{n:x}" (func))"#))
            .collect();
        let exports: String = (0..5000)
            .map(|n| format!(r#"(export "{n:x}" (func $f))"#))
            .collect();
        let instances = many(
            r#"(core instance (instantiate $m (with "" (instance $e))))"#,
            times,
        );
        component(&format!(
            r#"(component (component $c (core module $m {imports}) (export "m" (core module $m)))
                (instance $c (instantiate $c)) (alias export $c "m" (core module $m))
                (core module $x (func $f) {exports}) (core instance $e (instantiate $x)) {instances})"#
        ))
    };
    for (few, much) in [
        (exported(1), exported(400)),
        (aliases(1), aliases(200)),
        (lifts(1), lifts(200)),
        (imports(1), imports(400)),
    ] {
        assert!(!copied_too_often(&few), "{}", copied_parts(&few, u64::MAX));
        assert!(copied_too_often(&much), "{}", copied_parts(&much, u64::MAX));
    }
}
