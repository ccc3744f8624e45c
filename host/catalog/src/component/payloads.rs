//! Parts of a component one after the other, for readers that keep little of them.

use wasmparser::{Parser, Payload};

/// Most levels of components within each other that are read. A reader keeps something for each
/// level, and a level takes a few bytes of a file; components of toolchains have two or three.
pub(crate) const MAX_NESTED_COMPONENTS: usize = 100;

/// Reason for which a component is not read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnreadableComponent {
    /// It is damaged.
    Damaged,
    /// Its components are nested more than [`MAX_NESTED_COMPONENTS`] levels deep.
    TooDeep,
}

/// Returns the parts of a component, those of components and modules within it included, until the
/// first one that cannot be read.
pub(crate) fn payloads(
    component: &[u8],
) -> impl Iterator<Item = Result<Payload<'_>, UnreadableComponent>> {
    let mut depth = 0_usize;
    let mut parts = Some(Parser::new(0).parse_all(component));
    std::iter::from_fn(move || {
        let part = match parts.as_mut()?.next()? {
            Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. })
                if depth == MAX_NESTED_COMPONENTS =>
            {
                Err(UnreadableComponent::TooDeep)
            }
            Ok(part) => Ok(part),
            Err(_) => Err(UnreadableComponent::Damaged),
        };
        match &part {
            Ok(Payload::ModuleSection { .. } | Payload::ComponentSection { .. }) => depth += 1,
            Ok(Payload::End(_)) => depth = depth.saturating_sub(1),
            Ok(_) => {}
            // What stands for the levels goes, too.
            Err(_) => parts = None,
        }
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::nested_components;

    #[test]
    fn components_are_read_down_to_a_limit() {
        for depth in [0, 1, MAX_NESTED_COMPONENTS] {
            let component = nested_components(depth);
            let nested = payloads(&component).filter(|part| {
                let part = part.as_ref().unwrap();
                matches!(part, Payload::ComponentSection { .. })
            });
            assert_eq!(nested.count(), depth);
        }
        let deep = nested_components(MAX_NESTED_COMPONENTS + 1);
        let last = payloads(&deep).last().unwrap();
        assert_eq!(last.unwrap_err(), UnreadableComponent::TooDeep);
        let component = nested_components(3);
        let last = payloads(&component[..20]).last().unwrap();
        assert_eq!(last.unwrap_err(), UnreadableComponent::Damaged);
        // The readers that count on it.
        assert!(crate::is_concurrent(&deep));
        assert_eq!(crate::imports_alone(&deep), None);
        let nested = crate::instance_footprint(&deep);
        assert_eq!(nested, Err(crate::TooManyParts::Nested));
        let most = nested_components(MAX_NESTED_COMPONENTS);
        assert!(crate::instance_footprint(&most).is_ok());
    }
}
