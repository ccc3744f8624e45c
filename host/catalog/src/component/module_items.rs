//! Memory of a core module's instances outside of linear memories and tables.

use wasmparser::{ElementItems, ElementKind, Parser, Payload};

/// Returns the largest number of globals and of items in passive element segments that one core
/// module of a component declares: an engine keeps a copy of each for every instance. Imported
/// globals are left out. Counts declarations, without validating them; bytes that are no component
/// have none.
#[must_use]
pub fn max_module_items(component: &[u8]) -> u64 {
    let (mut most, mut of_module) = (0, 0_u64);
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            Payload::Version { .. } => of_module = 0,
            Payload::GlobalSection(section) => of_module += u64::from(section.count()),
            Payload::ElementSection(section) => {
                for element in section.into_iter().map_while(Result::ok) {
                    if matches!(element.kind, ElementKind::Active { .. }) {
                        continue;
                    }
                    of_module += u64::from(match element.items {
                        ElementItems::Functions(items) => items.count(),
                        ElementItems::Expressions(_, items) => items.count(),
                    });
                }
            }
            _ => {}
        }
        most = most.max(of_module);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_with_the_most_counts() {
        let module = |globals: usize, elements: usize| {
            let globals = "(global i32 (i32.const 0))".repeat(globals);
            let items = "(ref.null func) ".repeat(elements);
            format!("(core module {globals} (elem funcref {items}))")
        };
        let (few, many) = (module(2, 3), module(70_000, 10));
        for (component, items) in [
            ("(component)".to_owned(), 0),
            (format!("(component {few} {few})"), 5),
            (format!("(component {few} (component {many}))"), 70_010),
            (
                "(component (core module (table 2 funcref) (func $f)
                    (elem (i32.const 0) func $f $f)))"
                    .to_owned(),
                0,
            ),
        ] {
            let bytes = wat::parse_str(component).unwrap();
            assert_eq!(max_module_items(&bytes), items);
        }
        assert_eq!(max_module_items(b"no component"), 0);
    }
}
