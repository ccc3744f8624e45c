//! Components with checks, and what these leave as it was.

use wasmparser::Validator;

use super::*;

/// Returns the number of checks in each function of a component's modules.
fn checks(component: &[u8]) -> Vec<usize> {
    let payloads = Parser::new(0).parse_all(component).map(Result::unwrap);
    let bodies = payloads.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    let count = |body: FunctionBody<'_>| {
        let operators = body.get_operators_reader().unwrap().into_iter();
        let operators: Vec<_> = operators.map(Result::unwrap).collect();
        let pairs = operators.windows(2);
        pairs
            .filter(|pair| matches!(pair, [Operator::Loop { .. }, Operator::End]))
            .count()
    };
    bodies.map(count).collect()
}

fn rewritten(wat: &str) -> Vec<u8> {
    let bytes = wat::parse_str(wat).unwrap();
    let rewritten = with_epoch_checks(&bytes).unwrap();
    Validator::new().validate_all(&rewritten).unwrap();
    rewritten
}

#[test]
fn what_may_take_long_is_followed_by_a_check() {
    let module = r#"
        (type $t (func))
        (import "a" "host" (func $host))
        (import "a" "memory" (memory 1))
        (import "a" "other" (func $other))
        (table 1 funcref)
        (global (mut i32) (i32.const 0))
        (func $own (nop))
        (func (call $host) (call $own) (call $other) (call $own))
        (func (call_indirect (type $t) (i32.const 0)))
        (func (block (br 0) (call $host)))
        (func (param i32)
            (drop (memory.grow (local.get 0)))
            (drop (table.grow (ref.null func) (local.get 0)))
            (drop (i32.load (local.get 0))))
        (func (result i32) (call $own) (i32.const 7))"#;
    let expected = [0, 2, 1, 1, 2, 0];
    let component = format!("(component (core module {module}))");
    assert_eq!(checks(&rewritten(&component)), expected);
    let nested = format!(
        "(component (core module) (component (component (core module {module}) (core module {module})))
            (core module (func)))"
    );
    let expected = [&expected[..], &expected[..], &[0]].concat();
    assert_eq!(checks(&rewritten(&nested)), expected);
}

#[test]
fn all_else_stays_as_it_is() {
    for wat in [
        "(component)",
        "(component (core module))",
        r#"(component (core module $named (func $f (nop)) (func $g (call $f)) (@custom "x" "y")))"#,
        r#"(component
            (import "a:b/c" (instance $i (export "f" (func (param "s" string) (result u32)))))
            (core module $libc (memory (export "memory") 1)
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) unreachable))
            (core instance $libc (instantiate $libc))
            (core func $f (canon lower (func $i "f") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
            (core module $m (import "" "f" (func (param i32 i32) (result i32)))
                (func (export "g") (result i32) (call 0 (i32.const 0) (i32.const 0))))
            (core instance $m (instantiate $m (with "" (instance (export "f" (func $f))))))
            (func (export "g") (result u32) (canon lift (core func $m "g"))))"#,
    ] {
        let before = wat::parse_str(wat).unwrap();
        let after = rewritten(wat);
        let sections = |bytes: &[u8]| -> Vec<String> {
            let payloads = Parser::new(0).parse_all(bytes).map(Result::unwrap);
            payloads
                .filter_map(|payload| match payload {
                    Payload::CustomSection(section) if section.name() != "name" => None,
                    Payload::CodeSectionStart { count, .. } => Some(format!("code {count}")),
                    payload => {
                        let (section, range) = payload.as_section()?;
                        let nested = [MODULE_SECTION, COMPONENT_SECTION].contains(&section)
                            && matches!(
                                payload,
                                Payload::ModuleSection { .. } | Payload::ComponentSection { .. }
                            );
                        let bytes = if nested { &[][..] } else { &bytes[range] };
                        Some(format!("{section} {bytes:?}"))
                    }
                })
                .collect()
        };
        assert_eq!(sections(&before), sections(&after), "{wat}");
    }
}

#[test]
fn calls_are_checked_in_linear_time() {
    let calls = |number: usize| {
        let calls = "(call $f)".repeat(number);
        let modules = "(core module (func))".repeat(number);
        let text = format!(
            "(component (core module (import \"\" \"\" (func $f)) (func {calls})) {modules})"
        );
        wat::parse_str(text).unwrap()
    };
    dormouse_tests::growth::is_linear("calls", 2000, calls, |component: &Vec<u8>| {
        std::hint::black_box(with_epoch_checks(component).unwrap());
    });
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let whole = wat::parse_str("(component (core module (func (nop)) (func (nop))))").unwrap();
    for length in 8..whole.len() {
        let cut = &whole[..length];
        if let Ok(rewritten) = with_epoch_checks(cut) {
            // Where a section ends, a component may end.
            assert!(Validator::new().validate_all(cut).is_ok(), "{length}");
            Validator::new().validate_all(&rewritten).unwrap();
        }
    }
    assert!(with_epoch_checks(b"no component").is_err());
}

#[test]
fn numbers_are_written_in_full() {
    for number in [0, 1, 127, 128, 300, 1 << 20, u32::MAX as usize] {
        let bytes = padded(number);
        let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
        assert_eq!(reader.read_var_u32().unwrap() as usize, number);
        assert!(reader.eof());
    }
}
