//! Requirements of a component on the engine that runs it.

use dormouse_wit::component_types::each_type;
use wasmparser::{
    BinaryReaderError, CanonicalFunction, CanonicalOption, ComponentDefinedType, ComponentType,
    Payload,
};

use super::payloads::payloads;

/// Checks whether a component uses the component model's concurrency (async functions, streams,
/// futures, a context for each task), which an engine has to be made for. Reads its declarations
/// without validating them, which could take far more time and memory than its size suggests; for
/// other bytes the result is arbitrary.
#[must_use]
pub fn is_concurrent(component: &[u8]) -> bool {
    payloads(component).any(|payload| match payload {
        Ok(payload) => has_concurrency(component, payload).unwrap_or(true),
        Err(_) => true,
    })
}

fn has_concurrency(component: &[u8], payload: Payload<'_>) -> Result<bool, BinaryReaderError> {
    match payload {
        Payload::ComponentTypeSection(section) => {
            let section = component.get(section.range()).unwrap_or_default();
            let mut found = false;
            let read = each_type(section, |ty| {
                found |= match ty {
                    ComponentType::Func(function) => function.async_,
                    ComponentType::Defined(ty) => matches!(
                        ty,
                        ComponentDefinedType::Future(_) | ComponentDefinedType::Stream(_)
                    ),
                    _ => false,
                };
            });
            Ok(found || !read.is_whole)
        }
        Payload::ComponentCanonicalSection(section) => {
            for function in section {
                if needs_concurrency(&function?) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

fn needs_concurrency(function: &CanonicalFunction) -> bool {
    match function {
        CanonicalFunction::Lift { options, .. }
        | CanonicalFunction::Lower { options, .. }
        | CanonicalFunction::ErrorContextNew { options }
        | CanonicalFunction::ErrorContextDebugMessage { options } => {
            let mut options = options.iter();
            options.any(|option| {
                matches!(
                    option,
                    CanonicalOption::Async | CanonicalOption::Callback(_)
                )
            })
        }
        CanonicalFunction::ResourceNew { .. }
        | CanonicalFunction::ResourceDrop { .. }
        | CanonicalFunction::ResourceRep { .. }
        | CanonicalFunction::ThreadSpawnRef { .. }
        | CanonicalFunction::ThreadSpawnIndirect { .. }
        | CanonicalFunction::ThreadAvailableParallelism
        | CanonicalFunction::ErrorContextDrop => false,
        // All others are for tasks, streams, futures and waiting for them.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use wasmparser::{Validator, WasmFeatures};

    use super::*;

    #[test]
    fn only_what_uses_it_is_concurrent() {
        for (component, concurrent) in [
            ("(component)", false),
            (
                r#"(component
                    (core module $m (func (export "f") (result i32) i32.const 1))
                    (core instance $i (instantiate $m))
                    (func (export "f") (result u32) (canon lift (core func $i "f"))))"#,
                false,
            ),
            (r#"(component (core func (canon context.get i32 0)))"#, true),
            (
                r#"(component
                    (core func $return (canon task.return (result u32)))
                    (component (type (stream u8))))"#,
                true,
            ),
        ] {
            let bytes = wat::parse_str(component).unwrap();
            assert_eq!(is_concurrent(&bytes), concurrent, "{component}");
        }
    }

    #[test]
    fn whatever_a_validator_takes_for_concurrent_is() {
        for (part, concurrent) in [
            (r#"(type (func (param "a" string)))"#, false),
            (r#"(type (func async (param "a" string)))"#, true),
            (r#"(type (future))"#, true),
            (
                r#"(type (component (type (instance (type (stream u8))))))"#,
                true,
            ),
            (
                r#"(type (component (type (instance (type (list u8))))))"#,
                false,
            ),
            (
                r#"(import "f" (func $f)) (core func (canon lower (func $f)))"#,
                false,
            ),
            (
                r#"(import "f" (func $f async)) (core func (canon lower (func $f) async))"#,
                true,
            ),
            (
                r#"(type $r (resource (rep i32))) (core func (canon resource.new $r))"#,
                false,
            ),
            (r#"(core func (canon subtask.drop))"#, true),
            (r#"(core func (canon waitable-set.new))"#, true),
            (r#"(core func (canon backpressure.inc))"#, true),
            (r#"(core func (canon task.cancel))"#, true),
            (r#"(core func (canon context.set i32 0))"#, true),
            (
                r#"(type $s (stream u8)) (core func (canon stream.new $s))"#,
                true,
            ),
            (r#"(core func (canon thread.yield))"#, true),
        ] {
            for wat in [
                format!("(component {part})"),
                format!("(component (component (core module)) (component (component {part})))"),
            ] {
                let bytes = wat::parse_str(&wat).unwrap();
                let without = WasmFeatures::all() - WasmFeatures::CM_ASYNC;
                for (features, valid) in [(WasmFeatures::all(), true), (without, !concurrent)] {
                    let mut validator = Validator::new_with_features(features);
                    let verdict = validator.validate_all(&bytes);
                    assert_eq!(verdict.is_ok(), valid, "{wat}: {:?}", verdict.err());
                }
                assert_eq!(is_concurrent(&bytes), concurrent, "{wat}");
            }
        }
    }

    /// A validator copies the exports of a component for each of its instances.
    #[test]
    fn concurrency_is_looked_for_in_linear_time() {
        type Component<'c> = &'c dyn Fn(usize) -> String;
        let kinds: [(&str, Component<'_>); 4] = [
            ("modules", &|size| "(core module (func))".repeat(size)),
            ("types", &|size| {
                "(type (record (field \"a\" string)))".repeat(size)
            }),
            ("canonical functions", &|size| {
                let lower = "(core func (canon lower (func $f)))".repeat(size);
                format!("(import \"f\" (func $f)) {lower}")
            }),
            ("instances of as many exports", &|size| {
                let exports = (0..size).map(|n| format!("(export \"e{n}\" (func $f))"));
                let exports: String = exports.collect();
                let instance = "(instance (instantiate $c (with \"f\" (func $f))))";
                format!(
                    "(import \"f\" (func $f)) (component $c (import \"f\" (func $f)) {exports}) {}",
                    instance.repeat(size)
                )
            }),
        ];
        for (what, kind) in kinds {
            let component =
                |size: usize| wat::parse_str(format!("(component {})", kind(size))).unwrap();
            dormouse_tests::growth::is_linear(what, 200, component, |component: &Vec<u8>| {
                assert!(!is_concurrent(component));
            });
        }
        assert!(!is_concurrent(&crate::tests::nested_types(300_000)));
    }
}
