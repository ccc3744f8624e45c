//! Components that are compiled before they are called.

use std::time::Duration;

use super::{place, runtime};

/// Every kind of WebAssembly that `dormouse check` accepts can be compiled, and no other.
#[test]
fn what_check_lets_through_can_be_compiled() {
    for (module, runs) in [
        ("(func (result v128) (v128.const i64x2 0 0))", true),
        ("(func $f (return_call $f))", true),
        ("(memory 1) (memory 1)", true),
        ("(memory i64 1)", true),
        ("(type $f (func)) (func (param (ref null $f)))", true),
        ("(func (param externref))", false),
        ("(func (param (ref null struct)))", false),
        ("(memory 1 1 shared)", false),
        ("(tag) (func (throw 0))", false),
    ] {
        let component = format!(
            r#"(component
                (core module {module})
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func (export "f") (canon lift (core func $i "f"))))"#
        );
        let bytes = wat::parse_str(component).unwrap();
        let findings = dormouse_catalog::check(&bytes);
        let is_ok = !findings
            .iter()
            .any(|finding| finding.severity == dormouse_wit::Severity::Error);
        let place = place();
        std::fs::write(&place.path, &bytes).unwrap();
        let prepared = runtime(place.cache()).prepare(&place.path);
        assert_eq!(is_ok, runs, "{module}: {findings:?}");
        assert_eq!(prepared.is_ok(), runs, "{module}: {prepared:?}");
    }
}

/// Nothing has validated a component by then, and what is kept of a part takes more than the part does
/// in the file.
#[test]
fn a_component_of_too_many_parts_is_refused_before_it_is_compiled() {
    let place = place();
    let runtime = runtime(place.cache());
    let alias = "(alias outer $top $c (component))";
    let component = |aliases: usize| {
        let wat = format!("(component $top (component $c) {})", alias.repeat(aliases));
        wat::parse_str(wat).unwrap()
    };
    std::fs::write(&place.path, component(1000)).unwrap();
    let error = runtime.prepare(&place.path).unwrap_err();
    assert!(error.contains("more than 1000 components"), "{error}");
    assert!(error.contains("\nhint: "), "{error}");
    std::fs::write(&place.path, component(999)).unwrap();
    runtime.prepare(&place.path).unwrap();
    assert!(runtime.loader.nothing_is_loading());
}

/// Many servers may have the same file.
#[test]
fn one_content_is_looked_at_once_at_a_time() {
    let place = place();
    let runtime = runtime(place.cache());
    let bytes = std::fs::read(&place.path).unwrap();
    let gate = runtime
        .loader
        .gate(&crate::cache::CompileCache::digest(&bytes));
    let turn = gate.lock();
    std::thread::scope(|scope| {
        let loads: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| runtime.prepare(&place.path).map(drop)))
            .collect();
        std::thread::sleep(Duration::from_millis(500));
        assert!(loads.iter().all(|load| !load.is_finished()));
        let counts = runtime.counts();
        assert_eq!((counts.engines, counts.compiled), (0, 0));
        drop(turn);
        for load in loads {
            load.join().unwrap().unwrap();
        }
    });
    let counts = runtime.counts();
    assert_eq!((counts.compiled, counts.cache_hits), (1, 2));
}
