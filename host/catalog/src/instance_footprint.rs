//! What an instance of a component takes of its host beside linear memories and tables.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ElementItems, ElementKind, Encoding, Instance, Parser, Payload,
};

/// Bytes that an engine keeps for each core instance, whatever it has.
const CORE_INSTANCE_BYTES: u64 = 2 << 10;

/// Bytes that an engine keeps in a core instance for each function and each import.
const FUNCTION_BYTES: u64 = 32;

/// Bytes that an engine keeps in a core instance for each global and each item of a passive
/// element segment.
const ITEM_BYTES: u64 = 16;

/// What one instance of a component takes of its host beside linear memories and tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceFootprint {
    /// Number of core instances, without those that an engine makes of its own.
    pub core_instances: u64,
    /// Bytes of these.
    pub bytes: u64,
}

impl InstanceFootprint {
    fn add(&mut self, other: Self) {
        self.core_instances = self.core_instances.saturating_add(other.core_instances);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// What one instance of a component takes of its host beside linear memories and tables, where
/// it may have `max_core_instances`. Counts by what is declared, without validating it. Where
/// that does not tell, because components are handed around in it, it is as much as there may be.
#[must_use]
pub fn instance_footprint(component: &[u8], max_core_instances: u64) -> InstanceFootprint {
    let mut scopes = Vec::new();
    let mut whole = InstanceFootprint::default();
    let mut max_module_bytes = CORE_INSTANCE_BYTES;
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            Payload::Version { encoding, .. } => scopes.push(Scope::new(encoding)),
            Payload::End(_) => match scopes.pop() {
                Some(Scope::Module(bytes)) => {
                    max_module_bytes = max_module_bytes.max(bytes);
                    if let Some(Scope::Component(outer)) = scopes.last_mut() {
                        outer.modules.push(Some(bytes));
                    }
                }
                Some(Scope::Component(ended)) => match scopes.last_mut() {
                    Some(Scope::Component(outer)) => outer.components.push(Some(ended.takes)),
                    _ => whole = ended.takes,
                },
                None => {}
            },
            payload => Scope::read(&mut scopes, payload),
        }
    }
    InstanceFootprint {
        core_instances: whole.core_instances.min(max_core_instances),
        bytes: whole
            .bytes
            .min(max_core_instances.saturating_mul(max_module_bytes)),
    }
}

/// What is being read, and what is around it.
enum Scope {
    /// A core module, each of whose instances takes so many bytes.
    Module(u64),
    Component(ComponentScope),
}

/// The index spaces of a component. What is None is known only where the component is used.
#[derive(Default)]
struct ComponentScope {
    modules: Vec<Option<u64>>,
    components: Vec<Option<InstanceFootprint>>,
    takes: InstanceFootprint,
}

/// What is taken where nobody knows how much that is.
const UNKNOWN: InstanceFootprint = InstanceFootprint {
    core_instances: u64::MAX,
    bytes: u64::MAX,
};

impl Scope {
    fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Module => Self::Module(CORE_INSTANCE_BYTES),
            Encoding::Component => Self::Component(ComponentScope::default()),
        }
    }

    /// Reads a section of the last of these.
    fn read(scopes: &mut [Self], payload: Payload<'_>) {
        if let Payload::ComponentAliasSection(section) = payload {
            for alias in section.into_iter().map_while(Result::ok) {
                ComponentScope::alias(scopes, &alias);
            }
            return;
        }
        match scopes.last_mut() {
            Some(Self::Module(bytes)) => *bytes = bytes.saturating_add(module_bytes(payload)),
            Some(Self::Component(component)) => component.read(payload),
            None => {}
        }
    }
}

/// Bytes that each instance of a core module takes for what one of its sections declares.
fn module_bytes(payload: Payload<'_>) -> u64 {
    match payload {
        Payload::ImportSection(section) => {
            let imports = section.into_imports().map_while(Result::ok);
            imports.count() as u64 * FUNCTION_BYTES
        }
        Payload::FunctionSection(section) => u64::from(section.count()) * FUNCTION_BYTES,
        Payload::GlobalSection(section) => u64::from(section.count()) * ITEM_BYTES,
        Payload::ElementSection(section) => {
            let passive = section
                .into_iter()
                .map_while(Result::ok)
                .filter(|element| !matches!(element.kind, ElementKind::Active { .. }));
            let items = passive.map(|element| match element.items {
                ElementItems::Functions(items) => items.count(),
                ElementItems::Expressions(_, items) => items.count(),
            });
            items.map(u64::from).sum::<u64>() * ITEM_BYTES
        }
        _ => 0,
    }
}

impl ComponentScope {
    fn read(&mut self, payload: Payload<'_>) {
        match payload {
            Payload::InstanceSection(section) => {
                for instance in section.into_iter().map_while(Result::ok) {
                    if let Instance::Instantiate { module_index, .. } = instance {
                        let bytes = get(&self.modules, module_index).unwrap_or(u64::MAX);
                        self.takes.add(InstanceFootprint {
                            core_instances: 1,
                            bytes,
                        });
                    }
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section.into_iter().map_while(Result::ok) {
                    if let ComponentInstance::Instantiate {
                        component_index, ..
                    } = instance
                    {
                        let takes = get(&self.components, component_index);
                        self.takes.add(takes.unwrap_or(UNKNOWN));
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section.into_iter().map_while(Result::ok) {
                    match import.ty.kind() {
                        ComponentExternalKind::Module => self.modules.push(None),
                        ComponentExternalKind::Component => self.components.push(None),
                        _ => {}
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                // What is exported has another index from then on.
                for export in section.into_iter().map_while(Result::ok) {
                    match export.kind {
                        ComponentExternalKind::Module => {
                            self.modules.push(get(&self.modules, export.index));
                        }
                        ComponentExternalKind::Component => {
                            self.components.push(get(&self.components, export.index));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn alias(scopes: &mut [Scope], alias: &ComponentAlias<'_>) {
        let outer = |count: u32| {
            let at = scopes.len().checked_sub(1 + count as usize)?;
            match scopes.get(at)? {
                Scope::Component(component) => Some(component),
                Scope::Module(_) => None,
            }
        };
        let (module, component) = match *alias {
            ComponentAlias::Outer { kind, count, index } => match kind {
                ComponentOuterAliasKind::CoreModule => {
                    let of = outer(count).and_then(|outer| get(&outer.modules, index));
                    (Some(of), None)
                }
                ComponentOuterAliasKind::Component => {
                    let of = outer(count).and_then(|outer| get(&outer.components, index));
                    (None, Some(of))
                }
                _ => (None, None),
            },
            ComponentAlias::InstanceExport { kind, .. } => match kind {
                ComponentExternalKind::Module => (Some(None), None),
                ComponentExternalKind::Component => (None, Some(None)),
                _ => (None, None),
            },
            ComponentAlias::CoreInstanceExport { .. } => (None, None),
        };
        if let Some(Scope::Component(this)) = scopes.last_mut() {
            this.modules.extend(module);
            this.components.extend(component);
        }
    }
}

/// What has that index, if that is known.
fn get<T: Copy>(space: &[Option<T>], index: u32) -> Option<T> {
    space.get(index as usize).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 100;

    fn of(wat: &str) -> InstanceFootprint {
        instance_footprint(&wat::parse_str(wat).unwrap(), MAX)
    }

    #[test]
    fn instances_are_counted_with_what_they_declare() {
        let base = CORE_INSTANCE_BYTES;
        for (wat, core_instances, bytes) in [
            ("(component)", 0, 0),
            ("(component (core module))", 0, 0),
            (
                "(component (core module $m (import \"\" \"f\" (func)) (global i32 (i32.const 1)) (func)
                    (elem funcref (ref.null func) (ref.null func)))
                  (core module $n (func (export \"f\")))
                  (core instance $i (instantiate $n))
                  (core instance (instantiate $m (with \"\" (instance $i)))))",
                2,
                2 * base + 3 * ITEM_BYTES + 3 * FUNCTION_BYTES,
            ),
            // Three within each of four.
            (
                "(component $top (core module $m)
                  (component $a (alias outer $top $m (core module $m))
                    (core instance (instantiate $m)) (core instance (instantiate $m))
                    (core instance (instantiate $m)))
                  (component $b (alias outer $top $a (component $a))
                    (instance (instantiate $a)) (instance (instantiate $a)))
                  (instance (instantiate $b)) (instance (instantiate $b)))",
                12,
                12 * base,
            ),
            // Nobody knows which is meant.
            (
                "(component (core module (func))
                  (component $a (import \"c\" (component $c)) (instance (instantiate $c))))",
                0,
                0,
            ),
            (
                "(component (core module (func))
                  (component $b)
                  (component $a (import \"c\" (component $c)) (instance (instantiate $c)))
                  (instance (instantiate $a (with \"c\" (component $b)))))",
                MAX,
                MAX * (base + FUNCTION_BYTES),
            ),
        ] {
            let expected = InstanceFootprint {
                core_instances,
                bytes,
            };
            assert_eq!(of(wat), expected, "{wat}");
        }
        let none = instance_footprint(b"no component", MAX);
        assert_eq!(none, InstanceFootprint::default());
    }

    /// Each component has two of the one before: there are more than there are numbers.
    #[test]
    fn instances_of_instances_are_counted_without_making_them() {
        let mut wat =
            "(component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
        for at in 1..80 {
            let two = "(instance (instantiate $c))".repeat(2);
            wat += &format!(
                "(component $c{at} (alias outer $top $c{} (component $c)) {two})",
                at - 1
            );
        }
        let takes = of(&format!(
            "(component $top {wat} (instance (instantiate $c79)))"
        ));
        assert_eq!(takes.core_instances, MAX);
    }
}
