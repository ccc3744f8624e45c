//! Copies of a component's types, with a pair of numbers in the place of each list of bytes.

use std::collections::HashMap;

use wasm_encoder::{
    ComponentExportKind, ComponentExportSection, ComponentSection as _, ComponentTypeSection,
    ComponentValType, PrimitiveValType,
};
use wasmparser::component_types::{self as types, ComponentDefinedType, ComponentDefinedTypeId};
use wasmparser::names::KebabString;
use wasmparser::types::TypesRef;

/// Most levels of types in one another, as many as an engine takes.
const MAX_TYPE_DEPTH: usize = 100;

/// A copy of a type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub(super) ty: ComponentValType,
    /// Whether there are lists of bytes in it, as pairs.
    pub(super) has_bytes: bool,
}

/// Copies of types, and the sections that define them.
pub(super) struct CopiedTypes<'t> {
    types: TypesRef<'t>,
    known: HashMap<ComponentDefinedTypeId, Copied>,
    sections: Vec<u8>,
    /// Number of the component's types, with those that have been handed out.
    count: u32,
}

impl<'t> CopiedTypes<'t> {
    pub(super) fn new(types: TypesRef<'t>) -> Self {
        Self {
            types,
            known: HashMap::new(),
            sections: Vec::new(),
            count: types.component_type_count(),
        }
    }

    /// Returns a copy of a type. None where it has handles in it, or is nested too deep.
    pub(super) fn copied(&mut self, ty: types::ComponentValType) -> Option<Copied> {
        self.value(ty, MAX_TYPE_DEPTH)
    }

    /// Returns the type of lists of bytes.
    pub(super) fn bytes(&mut self) -> ComponentValType {
        self.define(|types| {
            types.defined_type().list(PrimitiveValType::U8);
        })
    }

    /// Returns the number of a type that is defined now.
    pub(super) fn next_index(&mut self) -> u32 {
        let index = self.count;
        self.count += 1;
        index
    }

    /// Moves the sections that define the copies so far.
    pub(super) fn write_to(&mut self, sections: &mut Vec<u8>) {
        sections.append(&mut self.sections);
    }

    fn value(&mut self, ty: types::ComponentValType, depth: usize) -> Option<Copied> {
        let id = match ty {
            types::ComponentValType::Primitive(primitive) => {
                return Some(Copied {
                    ty: ComponentValType::Primitive(primitive.into()),
                    has_bytes: false,
                });
            }
            types::ComponentValType::Type(id) => id,
        };
        if let Some(known) = self.known.get(&id) {
            return Some(*known);
        }
        let copied = self.defined(self.types.get(id)?, depth.checked_sub(1)?)?;
        self.known.insert(id, copied);
        Some(copied)
    }

    fn optional(
        &mut self,
        ty: Option<types::ComponentValType>,
        depth: usize,
    ) -> Option<Option<Copied>> {
        match ty {
            Some(ty) => self.value(ty, depth).map(Some),
            None => Some(None),
        }
    }

    fn defined(&mut self, ty: &ComponentDefinedType, depth: usize) -> Option<Copied> {
        use ComponentDefinedType as Ty;
        let copied = match ty {
            Ty::Primitive(primitive) => {
                let primitive = (*primitive).into();
                Copied {
                    ty: self.define(|types| types.defined_type().primitive(primitive)),
                    has_bytes: false,
                }
            }
            Ty::List {
                element: types::ComponentValType::Primitive(wasmparser::PrimitiveValType::U8),
                ..
            } => Copied {
                ty: self.define(|types| {
                    let pair = [PrimitiveValType::U32, PrimitiveValType::U32];
                    types.defined_type().tuple(pair);
                }),
                has_bytes: true,
            },
            Ty::List { element, .. } => {
                let item = self.value(*element, depth)?;
                self.holding(&[item], |types| types.defined_type().list(item.ty))
            }
            Ty::FixedLengthList {
                element, length, ..
            } => {
                let item = self.value(*element, depth)?;
                self.holding(&[item], |types| {
                    types.defined_type().fixed_length_list(item.ty, *length);
                })
            }
            Ty::Map { key, value, .. } => {
                let (key, value) = (self.value(*key, depth)?, self.value(*value, depth)?);
                self.holding(&[key, value], |types| {
                    types.defined_type().map(key.ty, value.ty);
                })
            }
            Ty::Option { ty, .. } => {
                let inner = self.value(*ty, depth)?;
                self.holding(&[inner], |types| types.defined_type().option(inner.ty))
            }
            Ty::Result { ok, err, .. } => {
                let (ok, err) = (self.optional(*ok, depth)?, self.optional(*err, depth)?);
                let held: Vec<_> = [ok, err].into_iter().flatten().collect();
                let side = |side: Option<Copied>| side.map(|copied| copied.ty);
                self.holding(&held, |types| {
                    types.defined_type().result(side(ok), side(err));
                })
            }
            Ty::Tuple(tuple) => {
                let parts = tuple.types.iter().map(|ty| self.value(*ty, depth));
                let parts: Vec<_> = parts.collect::<Option<_>>()?;
                self.holding(&parts, |types| {
                    types.defined_type().tuple(parts.iter().map(|part| part.ty));
                })
            }
            Ty::Record(record) => {
                let parts = record.fields.values().map(|ty| self.value(*ty, depth));
                let parts: Vec<_> = parts.collect::<Option<_>>()?;
                let names: Vec<_> = record.fields.keys().map(KebabString::as_str).collect();
                let copied = self.holding(&parts, |types| {
                    let fields = names.iter().zip(&parts);
                    let fields: Vec<_> = fields.map(|(name, part)| (*name, part.ty)).collect();
                    types.defined_type().record(fields);
                });
                self.named(copied)
            }
            Ty::Variant(variant) => {
                let cases = variant.cases.values();
                let parts = cases.map(|case| self.optional(case.ty, depth));
                let parts: Vec<_> = parts.collect::<Option<_>>()?;
                let names: Vec<_> = variant.cases.keys().map(KebabString::as_str).collect();
                let held: Vec<_> = parts.iter().copied().flatten().collect();
                let copied = self.holding(&held, |types| {
                    let cases = names.iter().zip(&parts);
                    let cases = cases.map(|(name, part)| (*name, part.map(|part| part.ty)));
                    let cases: Vec<_> = cases.collect();
                    types.defined_type().variant(cases);
                });
                self.named(copied)
            }
            Ty::Flags(flags) => {
                let names: Vec<_> = flags.iter().map(KebabString::as_str).collect();
                let copied = self.holding(&[], |types| types.defined_type().flags(names));
                self.named(copied)
            }
            Ty::Enum(cases) => {
                let names: Vec<_> = cases.iter().map(KebabString::as_str).collect();
                let copied = self.holding(&[], |types| types.defined_type().enum_type(names));
                self.named(copied)
            }
            Ty::Own(_) | Ty::Borrow(_) | Ty::Future { .. } | Ty::Stream { .. } => return None,
        };
        Some(copied)
    }

    /// Defines a type of these parts.
    fn holding(
        &mut self,
        parts: &[Copied],
        define: impl FnOnce(&mut ComponentTypeSection),
    ) -> Copied {
        Copied {
            ty: self.define(define),
            has_bytes: parts.iter().any(|part| part.has_bytes),
        }
    }

    fn define(&mut self, define: impl FnOnce(&mut ComponentTypeSection)) -> ComponentValType {
        let mut types = ComponentTypeSection::new();
        define(&mut types);
        types.append_to_component(&mut self.sections);
        ComponentValType::Type(self.next_index())
    }

    /// Exports a type: those of exported functions have to be, where they have members with names.
    fn named(&mut self, copied: Copied) -> Copied {
        let ComponentValType::Type(index) = copied.ty else {
            return copied;
        };
        let mut exports = ComponentExportSection::new();
        let name = format!("dormouse-addressed-type{index}");
        exports.export(&name, ComponentExportKind::Type, index, None);
        exports.append_to_component(&mut self.sections);
        // As what is exported it has a number of its own.
        Copied {
            ty: ComponentValType::Type(self.next_index()),
            ..copied
        }
    }
}
