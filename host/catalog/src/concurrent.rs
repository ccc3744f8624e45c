//! What a component wants of the engine that runs it.

use wasmparser::{Parser, Validator, WasmFeatures};

/// Whether a component has anything of the component model's concurrency (async
/// functions, streams, futures, a context that is kept for each task), which an engine
/// has to be made for. Its code is skipped, so this takes little time; what is no
/// component at all may be either.
#[must_use]
pub fn is_concurrent(component: &[u8]) -> bool {
    let without = WasmFeatures::all() - WasmFeatures::CM_ASYNC;
    let mut validator = Validator::new_with_features(without);
    let mut payloads = Parser::new(0).parse_all(component);
    !payloads.all(|payload| payload.is_ok_and(|payload| validator.payload(&payload).is_ok()))
}

#[cfg(test)]
mod tests {
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
}
