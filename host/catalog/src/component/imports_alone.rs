//! Imports of a component without the component.

use wasmparser::{Encoding, Payload};

use super::payloads::payloads;

/// Returns a component with the same imports and their types, and nothing else: compiling and
/// linking it takes next to no time, and shows whether the whole component can be linked. None
/// where imports follow other sections than types, as no toolchain writes them, and where the bytes
/// are no component.
#[must_use]
pub fn imports_alone(component: &[u8]) -> Option<Vec<u8>> {
    let mut end = None;
    let mut only_types = true;
    let mut depth = 0_usize;
    for payload in payloads(component) {
        match payload.ok()? {
            Payload::End(_) if depth == 0 => break,
            Payload::End(_) => depth -= 1,
            // Nested modules and components import nothing of the host.
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => {
                depth += 1;
                only_types = false;
            }
            _ if depth > 0 => {}
            Payload::Version {
                encoding: Encoding::Component,
                range,
                ..
            } => end = Some(range.end),
            Payload::ComponentImportSection(section) if only_types => {
                end = Some(section.range().end);
            }
            Payload::Version { .. } | Payload::ComponentImportSection(_) => return None,
            Payload::ComponentTypeSection(_)
            | Payload::CoreTypeSection(_)
            | Payload::ComponentAliasSection(_)
            | Payload::CustomSection(_) => {}
            _ => only_types = false,
        }
    }
    component.get(..end?).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use wasmparser::{Parser, Validator};

    use super::*;

    fn imports(component: &[u8]) -> Vec<String> {
        let payloads = Parser::new(0).parse_all(component).map(Result::unwrap);
        let sections = payloads.filter_map(|payload| match payload {
            Payload::ComponentImportSection(section) => Some(section),
            _ => None,
        });
        let imports = sections.flat_map(|section| section.into_iter().map(Result::unwrap));
        imports.map(|import| import.name.name.to_owned()).collect()
    }

    #[test]
    fn imports_stand_alone_with_all_of_their_types() {
        const COMPONENT: &str = r#"(component
            (import "wasi:io/poll@0.2.10" (instance $poll (export "pollable" (type (sub resource)))))
            (alias export $poll "pollable" (type $pollable))
            (import "wasi:a/b@0.2.0" (instance
                (alias outer 1 $pollable (type $p))
                (export "pollable" (type $q (eq $p)))
                (export "wait" (func (param "it" (own $q))))))
            (core module $m (func (export "f")) (memory 1))
            (core instance $i (instantiate $m))
            (component (import "inner" (func)))
            (func (export "f") (canon lift (core func $i "f"))))"#;
        let bytes = wat::parse_str(COMPONENT).unwrap();
        let alone = imports_alone(&bytes).unwrap();
        assert!(alone.len() < bytes.len());
        Validator::new().validate_all(&alone).unwrap();
        assert_eq!(imports(&alone), ["wasi:io/poll@0.2.10", "wasi:a/b@0.2.0"]);

        let nothing = wat::parse_str("(component (core module))").unwrap();
        assert_eq!(imports_alone(&nothing).unwrap().len(), 8);
        let late = r#"(component (core module) (import "wasi:a/b@0.2.0" (func)))"#;
        for none in [wat::parse_str(late).unwrap(), b"\0asm".to_vec(), Vec::new()] {
            assert_eq!(imports_alone(&none), None);
        }
        assert_eq!(imports_alone(&wat::parse_str("(module)").unwrap()), None);
    }

    #[test]
    fn imports_are_looked_for_in_linear_time() {
        let component = |size: usize| {
            let imports = (0..size)
                .map(|n| format!("(type $t{n} (func)) (import \"i{n}\" (func (type $t{n})))"));
            let imports: String = imports.collect();
            let nested = "(component (core module (func)))".repeat(size);
            wat::parse_str(format!("(component {imports} {nested})")).unwrap()
        };
        dormouse_tests::growth::is_linear("imports", 300, component, |component: &Vec<u8>| {
            assert!(imports_alone(component).is_some());
        });
    }
}
