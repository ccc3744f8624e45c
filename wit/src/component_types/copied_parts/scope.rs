//! Components, and types with types of their own, with the sizes of what has been read of them.

use std::collections::HashMap;
use std::rc::Rc;

use wasmparser::{
    ComponentDefinedType, ComponentExternalKind, ComponentTypeRef, ComponentValType, TypeBounds,
};

use super::type_size::{Item, Size};

/// A component, or a type with types of its own, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) types: Vec<Item>,
    pub(super) functions: Vec<Item>,
    pub(super) values: Vec<Item>,
    pub(super) instances: Vec<Item>,
    pub(super) components: Vec<Item>,
    /// Bytes of imports and exports of each core module.
    pub(super) modules: Vec<u64>,
    pub(super) imported: Vec<Size>,
    exported: Vec<Size>,
    exports: HashMap<String, Item>,
}

impl Scope {
    pub(super) fn items(&mut self, kind: ComponentExternalKind) -> Option<&mut Vec<Item>> {
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

    pub(super) fn item(&mut self, kind: ComponentExternalKind, index: u32) -> Item {
        let items = self.items(kind).map_or(&[][..], |items| items.as_slice());
        items.get(index as usize).cloned().unwrap_or_default()
    }

    pub(super) fn add(&mut self, kind: ComponentExternalKind, item: Item) {
        if let Some(items) = self.items(kind) {
            items.push(item);
        }
    }

    pub(super) fn export(&mut self, name: &str, item: Item) {
        self.exported.push(item.size);
        self.exports.insert(name.to_owned(), item);
    }

    /// Returns the component, or the type, that was read into this scope.
    pub(super) fn end(self) -> Item {
        let depth = self.exports.values().map(|item| item.depth).max();
        Item {
            size: Size::of(self.imported.into_iter().chain(self.exported)),
            depth: depth.unwrap_or_default() + 1,
            exports: Some(Rc::new(self.exports)),
        }
    }

    pub(super) fn value(&self, ty: ComponentValType) -> Size {
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

    pub(super) fn values(&self, types: impl IntoIterator<Item = ComponentValType>) -> Size {
        Size::of(types.into_iter().map(|ty| self.value(ty)))
    }

    pub(super) fn defined(&self, ty: &ComponentDefinedType<'_>) -> Size {
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

    pub(super) fn referred(&self, ty: ComponentTypeRef) -> Item {
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
