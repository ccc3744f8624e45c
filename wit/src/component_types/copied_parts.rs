//! Cost of reading the types of a component, counted from their binary form.
//!
//! A validator, and the decoder of types that has one inside, copies every type that contains
//! resources whenever an instance is imported, exported or created: each instance has resources of
//! its own. Types that contain others twice double with each level, so that a component of a
//! kilobyte takes gigabytes. So the copies are counted before anything reads a component, without
//! making them: each type is counted once, from the counts of the types in it.

use wasmparser::{Parser, Payload};

mod count;
mod scope;
mod type_size;

use count::Count;
use scope::Scope;

/// Returns the number of parts of types that are copied while the types of a component are read;
/// counting ends above `most`. The component must not be nested
/// [too deep](crate::component_types::nested_too_deep).
#[must_use]
pub(crate) fn copied_parts(component: &[u8], most: u64) -> u64 {
    let mut count = Count {
        scopes: vec![Scope::default()],
        copies: 0,
        module_bytes: 0,
        max_module_bytes: 0,
        max_type_parts: 0,
    };
    // Whether each module or component that is open is a core module; these have no component
    // types.
    let mut open: Vec<bool> = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let Ok(payload) = payload else { break };
        match payload {
            Payload::ModuleSection { .. } => {
                count.module_bytes = 0;
                open.push(true);
            }
            Payload::ComponentSection { .. } => {
                open.push(false);
                count.scopes.push(Scope::default());
            }
            Payload::End(_) => match open.pop() {
                Some(true) => {
                    let bytes = count.module_bytes;
                    count.max_module_bytes = count.max_module_bytes.max(bytes);
                    count.scope().modules.push(bytes);
                }
                Some(false) => {
                    let component = count.end();
                    count.scope().components.push(component);
                }
                None => {}
            },
            Payload::ImportSection(imports) if open.last() == Some(&true) => {
                count.module_section(&imports.range());
            }
            Payload::ExportSection(exports) if open.last() == Some(&true) => {
                count.module_section(&exports.range());
            }
            payload => {
                // What cannot be read is not read by anybody else either.
                if open.last() != Some(&true) && count.payload(payload).is_err() {
                    break;
                }
            }
        }
        if count.copies > most {
            break;
        }
    }
    count.copies
}

#[cfg(test)]
mod tests;
