//! What an instance of a component takes of its host beside linear memories and tables.

use dormouse_wit::component_types::each_type;
use wasmparser::{
    ComponentAlias, ComponentDefinedType, ComponentExternalKind, ComponentInstance,
    ComponentOuterAliasKind, ComponentType, ComponentValType, ElementItems, ElementKind, Encoding,
    Instance, Parser, Payload,
};

/// Bytes that an engine keeps for each component instance, whatever it has.
const COMPONENT_INSTANCE_BYTES: u64 = 1 << 10;

/// Bytes that an engine keeps in a component instance for each resource type and each function
/// that is lowered or made of a type.
const CANONICAL_BYTES: u64 = 128;

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
    /// Number of component instances, the whole included; `u64::MAX` where nobody knows.
    pub component_instances: u64,
    /// Number of those that have code of their own, in each of which one function can wait for
    /// another.
    pub with_code: u64,
    /// Bytes of all of them, without the core instances that an engine makes of its own.
    pub bytes: u64,
    /// Most flags of one type, where there are futures or streams of something else than numbers;
    /// 0 where there are none.
    pub sent_flags: usize,
    /// Whether there are futures or streams of something else than numbers.
    pub sends_values: bool,
}

impl InstanceFootprint {
    fn add(&mut self, other: Self) {
        self.component_instances = self
            .component_instances
            .saturating_add(other.component_instances);
        self.with_code = self.with_code.saturating_add(other.with_code);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// What one instance of a component takes of its host beside linear memories and tables. Counts by
/// what is declared, without validating it. Where that does not tell, because components are handed
/// around in it, all numbers are `u64::MAX`.
#[must_use]
pub fn instance_footprint(component: &[u8]) -> InstanceFootprint {
    let mut scopes = Vec::new();
    let mut whole = InstanceFootprint::default();
    let mut sent = SentTypes::default();
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        match payload {
            Payload::Version { encoding, .. } => scopes.push(Scope::new(encoding)),
            Payload::End(_) => match scopes.pop() {
                Some(Scope::Module(bytes)) => {
                    if let Some(Scope::Component(outer)) = scopes.last_mut() {
                        outer.modules.push(Some(bytes));
                    }
                }
                Some(Scope::Component(ended)) => {
                    let mut takes = ended.takes;
                    takes.add(InstanceFootprint {
                        component_instances: 1,
                        with_code: u64::from(ended.has_code),
                        bytes: COMPONENT_INSTANCE_BYTES,
                        ..InstanceFootprint::default()
                    });
                    match scopes.last_mut() {
                        Some(Scope::Component(outer)) => outer.components.push(Some(takes)),
                        _ => whole = takes,
                    }
                }
                None => {}
            },
            Payload::ComponentTypeSection(section) => {
                let section = component.get(section.range()).unwrap_or_default();
                let mut resources = 0;
                each_type(section, |ty| {
                    sent.read(ty);
                    resources += u64::from(matches!(ty, ComponentType::Resource { .. }));
                });
                if let Some(Scope::Component(this)) = scopes.last_mut() {
                    this.takes_canonical(resources);
                }
            }
            payload => Scope::read(&mut scopes, payload),
        }
    }
    whole.sends_values = sent.has_values;
    if sent.has_values {
        whole.sent_flags = sent.max_flags;
    }
    whole
}

/// Types of what components can send each other.
#[derive(Default)]
struct SentTypes {
    /// Whether there are futures or streams of something else than numbers.
    has_values: bool,
    max_flags: usize,
}

impl SentTypes {
    fn read(&mut self, ty: &ComponentType<'_>) {
        match ty {
            ComponentType::Defined(ComponentDefinedType::Flags(flags)) => {
                self.max_flags = self.max_flags.max(flags.len());
            }
            ComponentType::Defined(
                ComponentDefinedType::Future(Some(sent)) | ComponentDefinedType::Stream(Some(sent)),
            ) => self.has_values |= matches!(sent, ComponentValType::Type(_)),
            _ => {}
        }
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
    /// Whether it has core instances of its own.
    has_code: bool,
    takes: InstanceFootprint,
}

/// What is taken where nobody knows how much that is.
const UNKNOWN: InstanceFootprint = InstanceFootprint {
    component_instances: u64::MAX,
    with_code: u64::MAX,
    bytes: u64::MAX,
    sent_flags: 0,
    sends_values: false,
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
                        self.takes.bytes = self.takes.bytes.saturating_add(bytes);
                        self.has_code = true;
                    }
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                self.takes_canonical(u64::from(section.count()));
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

    fn takes_canonical(&mut self, number: u64) {
        let bytes = number.saturating_mul(CANONICAL_BYTES);
        self.takes.bytes = self.takes.bytes.saturating_add(bytes);
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

    fn of(wat: &str) -> InstanceFootprint {
        instance_footprint(&wat::parse_str(wat).unwrap())
    }

    #[test]
    fn instances_are_counted_with_what_they_declare() {
        const BASE: u64 = CORE_INSTANCE_BYTES;
        const EACH: u64 = COMPONENT_INSTANCE_BYTES;
        for (wat, component_instances, with_code, bytes) in [
            ("(component)", 1, 0, EACH),
            ("(component (core module))", 1, 0, EACH),
            (
                "(component (core module $m (import \"\" \"f\" (func)) (global i32 (i32.const 1)) (func)
                    (elem funcref (ref.null func) (ref.null func)))
                  (core module $n (func (export \"f\")))
                  (core instance $i (instantiate $n))
                  (core instance (instantiate $m (with \"\" (instance $i)))))",
                1,
                1,
                EACH + 2 * BASE + 3 * ITEM_BYTES + 3 * FUNCTION_BYTES,
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
                7,
                4,
                7 * EACH + 12 * BASE,
            ),
            (
                "(component (component $a (type $r (resource (rep i32))) (core func (canon resource.new $r)))
                  (instance (instantiate $a)))",
                2,
                0,
                2 * EACH + 2 * CANONICAL_BYTES,
            ),
            // Nobody knows which is meant.
            (
                "(component (core module (func))
                  (component $a (import \"c\" (component $c)) (instance (instantiate $c))))",
                1,
                0,
                EACH,
            ),
            (
                "(component (core module (func))
                  (component $b)
                  (component $a (import \"c\" (component $c)) (instance (instantiate $c)))
                  (instance (instantiate $a (with \"c\" (component $b)))))",
                u64::MAX,
                u64::MAX,
                u64::MAX,
            ),
        ] {
            let expected = InstanceFootprint {
                component_instances,
                with_code,
                bytes,
                sent_flags: 0,
                sends_values: false,
            };
            assert_eq!(of(wat), expected, "{wat}");
        }
        let none = instance_footprint(b"no component");
        assert_eq!(none, InstanceFootprint::default());
    }

    #[test]
    fn flags_that_can_be_sent_are_found() {
        let flags = "(type $flags (flags \"a\" \"b\" \"c\")) (type $one (flags \"a\"))";
        let sent = "(type $list (list $flags)) (type (future $list))";
        for (wat, expected) in [
            (format!("(component {flags} {sent})"), 3),
            (
                format!("(component {flags} (type (stream u8)) (type (future)))"),
                0,
            ),
            (format!("(component {flags})"), 0),
            (
                format!("(component (component (component {flags})) (type (stream string)))"),
                0,
            ),
            (format!("(component (type (component {flags} {sent})))"), 3),
            (format!("(component (type (instance {flags} {sent})))"), 3),
            (
                format!("(component (component {flags}) (type $l (list u8)) (type (stream $l)))"),
                3,
            ),
        ] {
            assert_eq!(of(&wat).sent_flags, expected, "{wat}");
        }
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
        assert_eq!(takes, UNKNOWN);
    }

    /// Components whose footprint is known, of which each counts the one before twice.
    #[test]
    fn instances_are_counted_in_linear_time() {
        type Component<'c> = &'c dyn Fn(usize) -> String;
        let kinds: [(&str, Component<'_>); 5] = [
            ("modules with instances", &|size| {
                (0..size)
                    .map(|n| {
                        format!("(core module $m{n} (func)) (core instance (instantiate $m{n}))")
                    })
                    .collect()
            }),
            ("components that each have the one before twice", &|size| {
                (1..size).fold("(component $c0)".to_owned(), |text, n| {
                    let outer = format!("(alias outer $top $c{} (component $c))", n - 1);
                    let instances = "(instance (instantiate $c))".repeat(2);
                    text + &format!("(component $c{n} {outer} {instances})")
                })
            }),
            ("types that are sent", &|size| {
                "(type (flags \"a\" \"b\")) (type (stream string))".repeat(size)
            }),
            ("exports of one component", &|size| {
                let exports = (0..size).map(|n| format!("(export \"e{n}\" (component $c))"));
                format!("(component $c) {}", exports.collect::<String>())
            }),
            ("functions and elements", &|size| {
                let items = "(ref.null func) ".repeat(size);
                let functions = "(func) (global i32 (i32.const 1))".repeat(size);
                format!("(core module (elem funcref {items}) {functions})")
            }),
        ];
        for (what, kind) in kinds {
            let component =
                |size: usize| wat::parse_str(format!("(component $top {})", kind(size))).unwrap();
            dormouse_tests::growth::is_linear(what, 300, component, |component: &Vec<u8>| {
                std::hint::black_box(instance_footprint(component));
            });
        }
    }

    /// What reads a type with all that is in it takes all of the stack.
    #[test]
    fn types_that_are_nested_without_end_are_read() {
        let component = crate::tests::nested_types(300_000);
        let footprint = instance_footprint(&component);
        assert_eq!(footprint.component_instances, 1);
    }
}
