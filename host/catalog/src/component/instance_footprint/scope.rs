//! Modules and components that are being read, with what is known in them.

use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ElementItems, ElementKind, Encoding, Instance, Payload,
};

use super::{InstanceFootprint, TooManyParts};

/// Bytes that an engine keeps in a component instance for each resource type and each canonical
/// function.
pub(super) const CANONICAL_BYTES: u64 = 128;

/// Bytes that an engine keeps for each core instance.
pub(super) const CORE_INSTANCE_BYTES: u64 = 2 << 10;

/// Bytes that an engine keeps in a core instance for each function and each import.
pub(super) const FUNCTION_BYTES: u64 = 32;

/// Bytes that an engine keeps in a core instance for each global and each item of a passive element
/// segment.
pub(super) const ITEM_BYTES: u64 = 16;

/// Most modules and most components that are known to one component: as many as WebAssembly's
/// tools take. Each is kept while the component is read, and takes a few bytes of its file.
pub(super) const MAX_KNOWN: usize = 1000;

/// A module or a component that is being read.
pub(super) enum FootprintScope {
    /// A core module, with the bytes of each of its instances.
    Module(u64),
    Component(ComponentScope),
}

/// Index spaces of a component. None stands for an item that is known only where the component is
/// used.
#[derive(Default)]
pub(super) struct ComponentScope {
    modules: Vec<Option<u64>>,
    components: Vec<Option<InstanceFootprint>>,
    /// Whether it has core instances of its own.
    pub(super) has_code: bool,
    pub(super) takes: InstanceFootprint,
}

/// Footprint where it cannot be told.
pub(super) const UNKNOWN: InstanceFootprint = InstanceFootprint {
    component_instances: u64::MAX,
    with_code: u64::MAX,
    bytes: u64::MAX,
    sent_flags: 0,
    sends_values: false,
};

impl FootprintScope {
    pub(super) fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Module => Self::Module(CORE_INSTANCE_BYTES),
            Encoding::Component => Self::Component(ComponentScope::default()),
        }
    }

    /// Reads a section of the last scope.
    pub(super) fn read(scopes: &mut [Self], payload: Payload<'_>) -> Result<(), TooManyParts> {
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
pub(super) fn module_bytes(payload: Payload<'_>) -> u64 {
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
    pub(super) fn knows_module(&mut self, bytes: Option<u64>) -> Result<(), TooManyParts> {
        if self.modules.len() >= MAX_KNOWN {
            return Err(TooManyParts::Modules);
        }
        self.modules.push(bytes);
        Ok(())
    }

    /// Adds a component to those that it knows.
    pub(super) fn knows_component(
        &mut self,
        takes: Option<InstanceFootprint>,
    ) -> Result<(), TooManyParts> {
        if self.components.len() >= MAX_KNOWN {
            return Err(TooManyParts::Components);
        }
        self.components.push(takes);
        Ok(())
    }

    pub(super) fn read(&mut self, payload: Payload<'_>) -> Result<(), TooManyParts> {
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

    pub(super) fn takes_canonical(&mut self, number: u64) {
        let bytes = number.saturating_mul(CANONICAL_BYTES);
        self.takes.bytes = self.takes.bytes.saturating_add(bytes);
    }

    pub(super) fn alias(
        scopes: &mut [FootprintScope],
        alias: &ComponentAlias<'_>,
    ) -> Result<(), TooManyParts> {
        let outer = |count: u32| {
            let at = scopes.len().checked_sub(1 + count as usize)?;
            match scopes.get(at)? {
                FootprintScope::Component(component) => Some(component),
                FootprintScope::Module(_) => None,
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
        if let Some(FootprintScope::Component(this)) = scopes.last_mut() {
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
pub(super) fn get<T: Copy>(space: &[Option<T>], index: u32) -> Option<T> {
    space.get(index as usize).copied().flatten()
}
