//! Memory of the host for an instance of a component beside linear memories and tables.

use dormouse_wit::component_types::each_type;
use wasmparser::{
    ComponentAlias, ComponentDefinedType, ComponentExternalKind, ComponentInstance,
    ComponentOuterAliasKind, ComponentType, ComponentValType, ElementItems, ElementKind, Encoding,
    Instance, Payload,
};

use crate::payloads::{MAX_NESTED_COMPONENTS, Unreadable, payloads};

/// Bytes that an engine keeps for each component instance.
const COMPONENT_INSTANCE_BYTES: u64 = 1 << 10;

/// Bytes that an engine keeps in a component instance for each resource type and each canonical
/// function.
const CANONICAL_BYTES: u64 = 128;

/// Bytes that an engine keeps for each core instance.
const CORE_INSTANCE_BYTES: u64 = 2 << 10;

/// Bytes that an engine keeps in a core instance for each function and each import.
const FUNCTION_BYTES: u64 = 32;

/// Bytes that an engine keeps in a core instance for each global and each item of a passive element
/// segment.
const ITEM_BYTES: u64 = 16;

/// Most modules and most components that are known to one component: as many as WebAssembly's
/// tools take. Each is kept while the component is read, and takes a few bytes of its file.
const MAX_KNOWN: usize = 1000;

/// A component has more parts than are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooManyParts {
    /// Components in one another.
    #[error("it has components nested more than {MAX_NESTED_COMPONENTS} levels deep")]
    Nested,
    /// Modules in a component, or under several numbers there.
    #[error(
        "one component of it has more than {MAX_KNOWN} modules, those by another number included"
    )]
    Modules,
    /// Components in a component, likewise.
    #[error(
        "one component of it has more than {MAX_KNOWN} components, those by another number included"
    )]
    Components,
}

/// Memory of the host for one instance of a component beside linear memories and tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceFootprint {
    /// Number of component instances, itself included; `u64::MAX` where that cannot be told.
    pub component_instances: u64,
    /// Number of those that have code of their own, in each of which one function can wait for
    /// another.
    pub with_code: u64,
    /// Bytes of all of them, without core instances that an engine makes for itself.
    pub bytes: u64,
    /// Most flags of one type, where there are futures or streams of a defined type; 0 where there
    /// are none.
    pub sent_flags: usize,
    /// Whether there are futures or streams of a defined type, not a primitive one.
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

/// Computes the memory of the host for one instance of a component beside linear memories and
/// tables. Counts declarations, without validating them. Where these do not tell, because
/// components are passed around in the component, all numbers are `u64::MAX`.
///
/// # Errors
/// It has so many parts that no tool takes it. Nothing has validated it yet, and what is kept of
/// each part takes more than the part does in the file.
pub fn instance_footprint(component: &[u8]) -> Result<InstanceFootprint, TooManyParts> {
    let mut scopes = Vec::new();
    let mut whole = InstanceFootprint::default();
    let mut sent = SentTypes::default();
    for payload in payloads(component) {
        let payload = match payload {
            Ok(payload) => payload,
            Err(Unreadable::TooDeep) => return Err(TooManyParts::Nested),
            Err(Unreadable::Damaged) => break,
        };
        match payload {
            Payload::Version { encoding, .. } => scopes.push(Scope::new(encoding)),
            Payload::End(_) => match scopes.pop() {
                Some(Scope::Module(bytes)) => {
                    if let Some(Scope::Component(outer)) = scopes.last_mut() {
                        outer.knows_module(Some(bytes))?;
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
                        Some(Scope::Component(outer)) => outer.knows_component(Some(takes))?,
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
            payload => Scope::read(&mut scopes, payload)?,
        }
    }
    whole.sends_values = sent.has_values;
    if sent.has_values {
        whole.sent_flags = sent.max_flags;
    }
    Ok(whole)
}

/// Types that components can send each other.
#[derive(Default)]
struct SentTypes {
    /// Whether there are futures or streams of a defined type, not a primitive one.
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

/// A module or a component that is being read.
enum Scope {
    /// A core module, with the bytes of each of its instances.
    Module(u64),
    Component(ComponentScope),
}

/// Index spaces of a component. None stands for an item that is known only where the component is
/// used.
#[derive(Default)]
struct ComponentScope {
    modules: Vec<Option<u64>>,
    components: Vec<Option<InstanceFootprint>>,
    /// Whether it has core instances of its own.
    has_code: bool,
    takes: InstanceFootprint,
}

/// Footprint where it cannot be told.
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

    /// Reads a section of the last scope.
    fn read(scopes: &mut [Self], payload: Payload<'_>) -> Result<(), TooManyParts> {
        if let Payload::ComponentAliasSection(section) = payload {
            for alias in section.into_iter().map_while(Result::ok) {
                ComponentScope::alias(scopes, &alias)?;
            }
            return Ok(());
        }
        match scopes.last_mut() {
            Some(Self::Module(bytes)) => *bytes = bytes.saturating_add(module_bytes(payload)),
            Some(Self::Component(component)) => component.read(payload)?,
            None => {}
        }
        Ok(())
    }
}

/// Returns the bytes of each instance of a core module for the declarations in one of its sections.
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
    /// Adds a module to those that it knows.
    fn knows_module(&mut self, bytes: Option<u64>) -> Result<(), TooManyParts> {
        if self.modules.len() >= MAX_KNOWN {
            return Err(TooManyParts::Modules);
        }
        self.modules.push(bytes);
        Ok(())
    }

    /// Adds a component to those that it knows.
    fn knows_component(&mut self, takes: Option<InstanceFootprint>) -> Result<(), TooManyParts> {
        if self.components.len() >= MAX_KNOWN {
            return Err(TooManyParts::Components);
        }
        self.components.push(takes);
        Ok(())
    }

    fn read(&mut self, payload: Payload<'_>) -> Result<(), TooManyParts> {
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
                        ComponentExternalKind::Module => self.knows_module(None)?,
                        ComponentExternalKind::Component => self.knows_component(None)?,
                        _ => {}
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                // An exported item has another index from then on.
                for export in section.into_iter().map_while(Result::ok) {
                    match export.kind {
                        ComponentExternalKind::Module => {
                            self.knows_module(get(&self.modules, export.index))?;
                        }
                        ComponentExternalKind::Component => {
                            self.knows_component(get(&self.components, export.index))?;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn takes_canonical(&mut self, number: u64) {
        let bytes = number.saturating_mul(CANONICAL_BYTES);
        self.takes.bytes = self.takes.bytes.saturating_add(bytes);
    }

    fn alias(scopes: &mut [Scope], alias: &ComponentAlias<'_>) -> Result<(), TooManyParts> {
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
            if let Some(module) = module {
                this.knows_module(module)?;
            }
            if let Some(component) = component {
                this.knows_component(component)?;
            }
        }
        Ok(())
    }
}

/// Returns the item with that index, if it is known.
fn get<T: Copy>(space: &[Option<T>], index: u32) -> Option<T> {
    space.get(index as usize).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(wat: &str) -> InstanceFootprint {
        instance_footprint(&wat::parse_str(wat).unwrap()).unwrap()
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
        assert_eq!(none, Ok(InstanceFootprint::default()));
    }

    /// Memory that is kept of an alias of four bytes takes twelve times as much.
    #[test]
    fn no_more_parts_are_kept_than_tools_take() {
        let component =
            |parts: String| wat::parse_str(format!("(component $top {parts})")).unwrap();
        type Parts<'p> = &'p dyn Fn(usize) -> String;
        let kinds: [(Parts<'_>, TooManyParts); 6] = [
            (
                &|number| "(core module)".repeat(number),
                TooManyParts::Modules,
            ),
            (
                &|number| "(component)".repeat(number),
                TooManyParts::Components,
            ),
            (
                &|number| {
                    let alias = "(alias outer $top $c (component))";
                    format!("(component $c) {}", alias.repeat(number - 1))
                },
                TooManyParts::Components,
            ),
            (
                &|number| {
                    let alias = "(alias outer $top $m (core module))";
                    format!("(core module $m) {}", alias.repeat(number - 1))
                },
                TooManyParts::Modules,
            ),
            (
                &|number| {
                    let exports = (1..number).map(|n| format!("(export \"e{n}\" (component $c))"));
                    format!("(component $c) {}", exports.collect::<String>())
                },
                TooManyParts::Components,
            ),
            (
                &|number| {
                    let imports = (0..number).map(|n| format!("(import \"i{n}\" (component))"));
                    imports.collect()
                },
                TooManyParts::Components,
            ),
        ];
        for (parts, error) in kinds {
            let most = component(parts(MAX_KNOWN));
            assert!(instance_footprint(&most).is_ok(), "{error}");
            let more = component(parts(MAX_KNOWN + 1));
            assert_eq!(instance_footprint(&more), Err(error));
        }
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

    /// Each component instantiates the one before twice: the count exceeds all numbers.
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

    /// Components whose footprint is known, each of which counts the one before twice.
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
            dormouse_tests::growth::is_linear(what, 60, component, |component: &Vec<u8>| {
                std::hint::black_box(instance_footprint(component).unwrap());
            });
        }
    }

    /// Reading a type recursively would take all of the stack.
    #[test]
    fn types_that_are_nested_without_end_are_read() {
        let component = crate::tests::nested_types(300_000);
        let footprint = instance_footprint(&component).unwrap();
        assert_eq!(footprint.component_instances, 1);
    }
}
