//! Count of the parts that are copied, section by section of a component.

use std::ops::Range;

use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentExternalKind, ComponentInstance,
    ComponentOuterAliasKind, ComponentType, ComponentTypeDeclaration, ComponentTypeRef, CoreType,
    InstanceTypeDeclaration, Payload, Result,
};

use super::scope::Scope;
use super::type_size::{Item, Size, VISITS_OF_COPY};

/// Number of bytes of a core module's imports and exports that count as one copied part, each time
/// that the module is instantiated: each import and export is looked up.
const MODULE_BYTES_OF_COPY: u64 = 64;

/// Most levels of instances that export one another; no validator takes more.
const MAX_DEPTH: usize = 200;

/// Counts the parts that are copied while a component is read.
#[derive(Debug)]
pub(super) struct Count {
    /// Scopes that are being read, the innermost last.
    pub(super) scopes: Vec<Scope>,
    pub(super) copies: u64,
    /// Bytes of imports and exports of the core module that is being read, or was read last.
    pub(super) module_bytes: u64,
    /// Most bytes of imports and exports of any core module, or type of one.
    pub(super) max_module_bytes: u64,
    /// Most parts of any type that was read.
    pub(super) max_type_parts: u64,
}

impl Count {
    /// Returns the innermost scope that is being read.
    #[allow(clippy::indexing_slicing, reason = "there is one, made right before")]
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Ends the innermost scope.
    pub(super) fn end(&mut self) -> Item {
        let item = self.scopes.pop().unwrap_or_default().end();
        if item.depth > MAX_DEPTH {
            self.copies = u64::MAX;
            return Item::sized(item.size);
        }
        item
    }

    pub(super) fn add(&mut self, copies: u64) {
        self.copies = self.copies.saturating_add(copies);
    }

    /// Adds a core module known by its type only, with the size of the largest module.
    pub(super) fn add_typed_module(&mut self, kind: ComponentExternalKind) {
        if kind == ComponentExternalKind::Module {
            let bytes = self.max_module_bytes;
            self.scope().modules.push(bytes);
        }
    }

    pub(super) fn import(&mut self, ty: ComponentTypeRef) {
        self.add_typed_module(ty.kind());
        let item = self.scope().referred(ty);
        self.add(item.cost());
        self.scope().imported.push(item.size);
        self.scope().add(ty.kind(), item);
    }

    pub(super) fn declared_export(&mut self, name: &str, ty: ComponentTypeRef) {
        let item = self.scope().referred(ty);
        self.add(item.cost());
        self.scope().export(name, item.clone());
        self.scope().add(ty.kind(), item);
    }

    pub(super) fn alias(&mut self, alias: &ComponentAlias<'_>) {
        let (kind, item) = match alias {
            ComponentAlias::InstanceExport {
                kind,
                instance_index,
                name,
            } => {
                let of = ComponentExternalKind::Instance;
                let exports = self.scope().item(of, *instance_index).exports;
                let item = exports.and_then(|exports| exports.get(*name).cloned());
                (*kind, item)
            }
            ComponentAlias::CoreInstanceExport { .. } => return,
            ComponentAlias::Outer { kind, count, index } => {
                let kind = match kind {
                    ComponentOuterAliasKind::Type => ComponentExternalKind::Type,
                    ComponentOuterAliasKind::Component => ComponentExternalKind::Component,
                    ComponentOuterAliasKind::CoreType => return,
                    ComponentOuterAliasKind::CoreModule => {
                        let outer = self.scopes.iter().rev().nth(*count as usize);
                        let modules = outer.map(|scope| scope.modules.as_slice());
                        let bytes = modules.and_then(|modules| modules.get(*index as usize));
                        let bytes = bytes.copied().unwrap_or_default();
                        self.scope().modules.push(bytes);
                        return;
                    }
                };
                let mut outer = self.scopes.iter_mut().rev();
                let outer = outer.nth(*count as usize);
                let item = outer.map(|scope| scope.item(kind, *index));
                // Each part of it is looked at for resources that are not to be seen there.
                let parts = item.as_ref().map_or(0, |item| item.size.parts);
                self.add(parts / VISITS_OF_COPY);
                (kind, item)
            }
        };
        self.add_typed_module(kind);
        self.scope().add(kind, item.unwrap_or_default());
    }

    /// Counts a type that may have others in it. It recurses into each level, of which at most a
    /// hundred are read.
    pub(super) fn ty(&mut self, ty: &ComponentType<'_>) -> Item {
        match ty {
            ComponentType::Defined(ty) => Item::sized(self.scope().defined(ty)),
            ComponentType::Func(ty) => {
                let types = ty.params.iter().map(|param| param.1).chain(ty.result);
                Item::sized(self.scope().values(types))
            }
            ComponentType::Resource { .. } => Item::sized(Size::RESOURCE),
            ComponentType::Component(declarations) => self.within(|count| {
                for declaration in declarations {
                    match declaration {
                        ComponentTypeDeclaration::CoreType(ty) => count.core_type(ty),
                        ComponentTypeDeclaration::Type(ty) => count.add_type(ty),
                        ComponentTypeDeclaration::Alias(alias) => count.alias(alias),
                        ComponentTypeDeclaration::Export { name, ty } => {
                            count.declared_export(name.name, *ty);
                        }
                        ComponentTypeDeclaration::Import(import) => count.import(import.ty),
                    }
                }
            }),
            ComponentType::Instance(declarations) => self.within(|count| {
                for declaration in declarations {
                    match declaration {
                        InstanceTypeDeclaration::CoreType(ty) => count.core_type(ty),
                        InstanceTypeDeclaration::Type(ty) => count.add_type(ty),
                        InstanceTypeDeclaration::Alias(alias) => count.alias(alias),
                        InstanceTypeDeclaration::Export { name, ty } => {
                            count.declared_export(name.name, *ty);
                        }
                    }
                }
            }),
        }
    }

    pub(super) fn within(&mut self, read: impl FnOnce(&mut Self)) -> Item {
        self.scopes.push(Scope::default());
        read(self);
        self.end()
    }

    pub(super) fn add_type(&mut self, ty: &ComponentType<'_>) {
        let item = self.ty(ty);
        self.max_type_parts = self.max_type_parts.max(item.size.parts);
        self.scope().types.push(item);
    }

    pub(super) fn instance(&mut self, instance: ComponentInstance<'_>) {
        let item = match instance {
            ComponentInstance::Instantiate {
                component_index,
                args,
            } => {
                let of = ComponentExternalKind::Component;
                let component = self.scope().item(of, component_index);
                self.add(component.cost());
                for arg in &args {
                    // It is compared with what is wanted.
                    let arg = self.scope().item(arg.kind, arg.index);
                    self.add(arg.size.parts / VISITS_OF_COPY);
                }
                component
            }
            ComponentInstance::FromExports(exports) => {
                let mut instance = Scope::default();
                for export in exports {
                    let item = self.scope().item(export.kind, export.index);
                    instance.export(export.name.name, item);
                }
                self.within(|count| *count.scope() = instance)
            }
        };
        self.scope().instances.push(item);
    }

    /// Counts the conversion between a component function and a core function: each part of its
    /// types is visited.
    pub(super) fn canonical(&mut self, function: &CanonicalFunction) {
        let parts = match function {
            CanonicalFunction::Lift { type_index, .. } => {
                let item = self.scope().item(ComponentExternalKind::Type, *type_index);
                let parts = item.size.parts;
                self.scope().functions.push(item);
                parts
            }
            CanonicalFunction::Lower { func_index, .. } => {
                let item = self.scope().item(ComponentExternalKind::Func, *func_index);
                item.size.parts
            }
            CanonicalFunction::ResourceNew { .. }
            | CanonicalFunction::ResourceDrop { .. }
            | CanonicalFunction::ResourceRep { .. } => 1,
            // What others take is some type of these.
            _ => self.max_type_parts,
        };
        self.add(parts / VISITS_OF_COPY);
    }

    /// Adds an import or export section of the core module that is being read.
    pub(super) fn module_section(&mut self, range: &Range<usize>) {
        self.module_bytes += range.len() as u64;
    }

    pub(super) fn core_type(&mut self, ty: &CoreType<'_>) {
        if let CoreType::Module(declarations) = ty {
            let bytes = declarations.len() as u64 * MODULE_BYTES_OF_COPY;
            self.max_module_bytes = self.max_module_bytes.max(bytes);
        }
    }

    pub(super) fn payload(&mut self, payload: Payload<'_>) -> Result<()> {
        match payload {
            // Modules may be imported, too, of types that are written here.
            Payload::CoreTypeSection(types) => {
                for ty in types {
                    self.core_type(&ty?);
                }
            }
            Payload::InstanceSection(instances) => {
                for instance in instances {
                    if let wasmparser::Instance::Instantiate { module_index, .. } = instance? {
                        let modules = &self.scope().modules;
                        let bytes = modules.get(module_index as usize).copied();
                        self.add(bytes.unwrap_or_default() / MODULE_BYTES_OF_COPY);
                    }
                }
            }
            Payload::ComponentTypeSection(types) => {
                for ty in types {
                    self.add_type(&ty?);
                }
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    self.import(import?.ty);
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases {
                    self.alias(&alias?);
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances {
                    self.instance(instance?);
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    let item = self.scope().item(export.kind, export.index);
                    self.add(item.cost());
                    let item = match export.ty {
                        Some(ty) => {
                            let ascribed = self.scope().referred(ty);
                            self.add(ascribed.cost());
                            ascribed
                        }
                        None => item,
                    };
                    if export.kind == ComponentExternalKind::Module {
                        let modules = &self.scope().modules;
                        let bytes = modules.get(export.index as usize).copied();
                        self.scope().modules.push(bytes.unwrap_or_default());
                    }
                    self.scope().export(export.name.name, item.clone());
                    self.scope().add(export.kind, item);
                }
            }
            Payload::ComponentCanonicalSection(functions) => {
                for function in functions {
                    self.canonical(&function?);
                }
            }
            Payload::ComponentStartSection { start, .. } => {
                // No more than one, of a function that has one.
                self.scope()
                    .values
                    .extend((0..start.results.min(1)).map(|_| Item::default()));
            }
            _ => {}
        }
        Ok(())
    }
}
