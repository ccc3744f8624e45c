//! Globals of core modules: memory of an instance that is no linear memory.

use wasmparser::{Parser, Payload};

/// The largest number of globals that one core module of a component declares, imported
/// ones left out. Counts by the headers of sections; what is no component has none.
#[must_use]
pub fn max_module_globals(component: &[u8]) -> u32 {
    let payloads = Parser::new(0).parse_all(component);
    payloads
        .map_while(Result::ok)
        .filter_map(|payload| match payload {
            Payload::GlobalSection(section) => Some(section.count()),
            _ => None,
        })
        .max()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_with_the_most_globals_counts() {
        let module = |globals: usize| {
            let globals = "(global i32 (i32.const 0))".repeat(globals);
            format!("(core module {globals})")
        };
        let (few, many) = (module(2), module(70_000));
        for (component, globals) in [
            ("(component)".to_owned(), 0),
            (format!("(component {few})"), 2),
            (format!("(component {few} (component {many}))"), 70_000),
        ] {
            let bytes = wat::parse_str(component).unwrap();
            assert_eq!(max_module_globals(&bytes), globals);
        }
        assert_eq!(max_module_globals(b"no component"), 0);
    }
}
