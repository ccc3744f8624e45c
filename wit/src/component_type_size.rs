//! Cost of reading the types of a component, counted from their binary form.
//!
//! A validator, and the decoder of types that has one inside, copies every type that contains
//! resources whenever an instance is imported, exported or created: each instance has resources of
//! its own. Types that contain others twice double with each level, so that a component of a
//! kilobyte takes gigabytes. So the copies are counted before anything reads a component, without
//! making them: each type is counted once, from the counts of the types in it.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentDefinedType, ComponentExternalKind,
    ComponentInstance, ComponentOuterAliasKind, ComponentType, ComponentTypeDeclaration,
    ComponentTypeRef, ComponentValType, CoreType, InstanceTypeDeclaration, Parser, Payload, Result,
    TypeBounds,
};

/// Number of parts visited without being copied that count as one copied part.
const VISITS_OF_COPY: u64 = 16;

/// Number of bytes of a core module's imports and exports that count as one copied part, each time
/// that the module is instantiated: each import and export is looked up.
const MODULE_BYTES_OF_COPY: u64 = 64;

/// Most levels of instances that export one another; no validator takes more.
const MAX_DEPTH: usize = 200;

/// Size of one type with all types in it, each counted as often as it occurs.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Number of parts.
    parts: u64,
    /// Number of those parts that contain resources, and so are copied.
    copied: u64,
}

impl Size {
    const RESOURCE: Self = Self {
        parts: 1,
        copied: 1,
    };

    /// Returns the size of a type whose parts have these sizes.
    fn of(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for part in parts {
            sum.parts = sum.parts.saturating_add(part.parts);
            sum.copied = sum.copied.saturating_add(part.copied);
        }
        Self {
            parts: sum.parts.saturating_add(1),
            copied: sum.copied.saturating_add(u64::from(sum.copied > 0)),
        }
    }

    fn cost(self) -> u64 {
        self.copied
            .saturating_add(self.parts / VISITS_OF_COPY)
            .saturating_add(1)
    }
}

/// A type, or an item that has a type: a function, a value, an instance, a component.
#[derive(Debug, Clone, Default)]
struct Item {
    size: Size,
    /// Exports of an instance, or of each instance of a component.
    exports: Option<Rc<HashMap<String, Self>>>,
    /// Levels of instances and components in this one, itself included; 0 for other items.
    depth: usize,
}

impl Item {
    fn sized(size: Size) -> Self {
        Self {
            size,
            exports: None,
            depth: 0,
        }
    }

    /// Returns the parts that are copied where the item is imported, exported or instantiated.
    fn cost(&self) -> u64 {
        let names = self.exports.as_ref().map_or(0, |exports| exports.len());
        self.size.cost().saturating_add(names as u64)
    }
}

/// A component, or a type with types of its own, as far as it has been read.
#[derive(Debug, Default)]
struct Scope {
    types: Vec<Item>,
    functions: Vec<Item>,
    values: Vec<Item>,
    instances: Vec<Item>,
    components: Vec<Item>,
    /// Bytes of imports and exports of each core module.
    modules: Vec<u64>,
    imported: Vec<Size>,
    exported: Vec<Size>,
    exports: HashMap<String, Item>,
}

impl Scope {
    fn items(&mut self, kind: ComponentExternalKind) -> Option<&mut Vec<Item>> {
        match kind {
            // What a core module has to do with resources is nothing.
            ComponentExternalKind::Module => None,
            ComponentExternalKind::Func => Some(&mut self.functions),
            ComponentExternalKind::Value => Some(&mut self.values),
            ComponentExternalKind::Type => Some(&mut self.types),
            ComponentExternalKind::Instance => Some(&mut self.instances),
            ComponentExternalKind::Component => Some(&mut self.components),
        }
    }

    fn item(&mut self, kind: ComponentExternalKind, index: u32) -> Item {
        let items = self.items(kind).map_or(&[][..], |items| items.as_slice());
        items.get(index as usize).cloned().unwrap_or_default()
    }

    fn add(&mut self, kind: ComponentExternalKind, item: Item) {
        if let Some(items) = self.items(kind) {
            items.push(item);
        }
    }

    fn export(&mut self, name: &str, item: Item) {
        self.exported.push(item.size);
        self.exports.insert(name.to_owned(), item);
    }

    /// Returns the component, or the type, that was read into this scope.
    fn end(self) -> Item {
        let depth = self.exports.values().map(|item| item.depth).max();
        Item {
            size: Size::of(self.imported.into_iter().chain(self.exported)),
            depth: depth.unwrap_or_default() + 1,
            exports: Some(Rc::new(self.exports)),
        }
    }

    fn value(&self, ty: ComponentValType) -> Size {
        match ty {
            ComponentValType::Primitive(_) => Size {
                parts: 1,
                copied: 0,
            },
            ComponentValType::Type(index) => {
                let item = self.types.get(index as usize);
                item.map_or(Size::default(), |item| item.size)
            }
        }
    }

    fn values(&self, types: impl IntoIterator<Item = ComponentValType>) -> Size {
        Size::of(types.into_iter().map(|ty| self.value(ty)))
    }

    fn defined(&self, ty: &ComponentDefinedType<'_>) -> Size {
        match ty {
            ComponentDefinedType::Record(fields) => self.values(fields.iter().map(|field| field.1)),
            ComponentDefinedType::Variant(cases) => {
                let mut size = self.values(cases.iter().filter_map(|case| case.ty));
                size.parts = size.parts.saturating_add(cases.len() as u64);
                size
            }
            ComponentDefinedType::List(ty)
            | ComponentDefinedType::FixedLengthList(ty, _)
            | ComponentDefinedType::Option(ty) => self.values([*ty]),
            ComponentDefinedType::Map(key, value) => self.values([*key, *value]),
            ComponentDefinedType::Tuple(types) => self.values(types.iter().copied()),
            ComponentDefinedType::Flags(names) | ComponentDefinedType::Enum(names) => Size {
                parts: 1 + names.len() as u64,
                copied: 0,
            },
            ComponentDefinedType::Result { ok, err } => {
                self.values([ok, err].into_iter().flatten().copied())
            }
            ComponentDefinedType::Own(_) | ComponentDefinedType::Borrow(_) => Size::RESOURCE,
            ComponentDefinedType::Future(ty) | ComponentDefinedType::Stream(ty) => {
                self.values(ty.iter().copied())
            }
            ComponentDefinedType::Primitive(_) => self.values([]),
        }
    }

    fn referred(&self, ty: ComponentTypeRef) -> Item {
        let of_type = |index: u32| self.types.get(index as usize).cloned();
        match ty {
            ComponentTypeRef::Module(_) => None,
            ComponentTypeRef::Value(ty) => Some(Item::sized(self.value(ty))),
            ComponentTypeRef::Type(TypeBounds::SubResource) => Some(Item::sized(Size::RESOURCE)),
            ComponentTypeRef::Func(index)
            | ComponentTypeRef::Type(TypeBounds::Eq(index))
            | ComponentTypeRef::Instance(index)
            | ComponentTypeRef::Component(index) => of_type(index),
        }
        .unwrap_or_default()
    }
}

/// Counts the parts that are copied while a component is read.
#[derive(Debug)]
struct Count {
    /// Scopes that are being read, the innermost last.
    scopes: Vec<Scope>,
    copies: u64,
    /// Bytes of imports and exports of the core module that is being read, or was read last.
    module_bytes: u64,
    /// Most bytes of imports and exports of any core module, or type of one.
    max_module_bytes: u64,
    /// Most parts of any type that was read.
    max_type_parts: u64,
}

impl Count {
    /// Returns the innermost scope that is being read.
    #[allow(clippy::indexing_slicing, reason = "there is one, made right before")]
    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Ends the innermost scope.
    fn end(&mut self) -> Item {
        let item = self.scopes.pop().unwrap_or_default().end();
        if item.depth > MAX_DEPTH {
            self.copies = u64::MAX;
            return Item::sized(item.size);
        }
        item
    }

    fn add(&mut self, copies: u64) {
        self.copies = self.copies.saturating_add(copies);
    }

    /// Adds a core module known by its type only, with the size of the largest module.
    fn add_typed_module(&mut self, kind: ComponentExternalKind) {
        if kind == ComponentExternalKind::Module {
            let bytes = self.max_module_bytes;
            self.scope().modules.push(bytes);
        }
    }

    fn import(&mut self, ty: ComponentTypeRef) {
        self.add_typed_module(ty.kind());
        let item = self.scope().referred(ty);
        self.add(item.cost());
        self.scope().imported.push(item.size);
        self.scope().add(ty.kind(), item);
    }

    fn declared_export(&mut self, name: &str, ty: ComponentTypeRef) {
        let item = self.scope().referred(ty);
        self.add(item.cost());
        self.scope().export(name, item.clone());
        self.scope().add(ty.kind(), item);
    }

    fn alias(&mut self, alias: &ComponentAlias<'_>) {
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
    fn ty(&mut self, ty: &ComponentType<'_>) -> Item {
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

    fn within(&mut self, read: impl FnOnce(&mut Self)) -> Item {
        self.scopes.push(Scope::default());
        read(self);
        self.end()
    }

    fn add_type(&mut self, ty: &ComponentType<'_>) {
        let item = self.ty(ty);
        self.max_type_parts = self.max_type_parts.max(item.size.parts);
        self.scope().types.push(item);
    }

    fn instance(&mut self, instance: ComponentInstance<'_>) {
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
    fn canonical(&mut self, function: &CanonicalFunction) {
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
    fn module_section(&mut self, range: &Range<usize>) {
        self.module_bytes += range.len() as u64;
    }

    fn core_type(&mut self, ty: &CoreType<'_>) {
        if let CoreType::Module(declarations) = ty {
            let bytes = declarations.len() as u64 * MODULE_BYTES_OF_COPY;
            self.max_module_bytes = self.max_module_bytes.max(bytes);
        }
    }

    fn payload(&mut self, payload: Payload<'_>) -> Result<()> {
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
