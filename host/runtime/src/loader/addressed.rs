//! Functions that take and return lists of bytes by their addresses, in a compiled component.

use dormouse_catalog::addressed_bytes::{AddressedNames, PLACE_BYTES, READ_BYTES, RESTORE, SAVE};
use dormouse_wit::{Field, Function, Type, VariantCase};
use wasmtime::component::{Component, ComponentExportIndex};

use super::signature::{ExportedFunction, find_in};

/// Place of such a function in a component.
#[derive(Clone, Copy)]
pub(crate) struct AddressedIndex {
    /// The function itself.
    pub(crate) call: ComponentExportIndex,
    /// Functions for its result, where that has bytes in it.
    pub(crate) result: Option<AddressedResultIndex>,
    /// The function that places bytes in the guest's memory; none where it takes none.
    pub(crate) place: Option<ComponentExportIndex>,
}

/// Places of the functions that reach a result with lists of bytes.
#[derive(Clone, Copy)]
pub(crate) struct AddressedResultIndex {
    pub(crate) result: ComponentExportIndex,
    pub(crate) end: Option<ComponentExportIndex>,
    pub(crate) read: ComponentExportIndex,
    pub(crate) save: ComponentExportIndex,
    pub(crate) restore: ComponentExportIndex,
}

/// Finds the function that was made of another one, which has this signature. None where there is
/// none, or one of other types: a component may have exports of any name.
pub(super) fn find(component: &Component, signature: &Function) -> Option<AddressedIndex> {
    let names = AddressedNames::of(&signature.export);
    let exported = |name: &str| find_in(component, None, name);
    let call = exported(&names.call)?;
    let result = signature.result.as_ref().map(with_addresses);
    let params = signature.params.iter().map(|field| Field {
        ty: with_addresses(&field.ty),
        ..field.clone()
    });
    let params: Vec<_> = params.collect();
    let takes_bytes = params != signature.params;
    let returns_bytes = result != signature.result;
    let is = |found: &ExportedFunction, params: &[Field], result: Option<&Type>| {
        let found = found.signature(&signature.export);
        found.is_ok_and(|found| found.params == params && found.result.as_ref() == result)
    };
    let at = [number("at", Type::U32)];
    let returned = match returns_bytes {
        true => Some(&Type::U32),
        false => result.as_ref(),
    };
    if !is(&call, &params, returned) {
        return None;
    }
    let of_result = match returns_bytes {
        true => {
            let found = exported(&names.result)?;
            if !is(&found, &at, result.as_ref()) {
                return None;
            }
            Some(AddressedResultIndex {
                result: found.index,
                end: exported(&names.end).map(|found| found.index),
                read: exported(READ_BYTES)?.index,
                save: exported(SAVE)?.index,
                restore: exported(RESTORE)?.index,
            })
        }
        false => None,
    };
    Some(AddressedIndex {
        call: call.index,
        result: of_result,
        place: match takes_bytes {
            true => Some(exported(PLACE_BYTES)?.index),
            false => None,
        },
    })
}

fn number(name: &str, ty: Type) -> Field {
    Field {
        wit: name.to_owned(),
        json: name.to_owned(),
        ty,
        default: None,
    }
}

/// Returns a type of a component with an address and a length in the place of each list of bytes.
fn with_addresses(ty: &Type) -> Type {
    let boxed = |ty: &Type| Box::new(with_addresses(ty));
    let optional = |ty: &Option<Box<Type>>| ty.as_deref().map(boxed);
    match ty {
        Type::Bytes => Type::Tuple(vec![Type::U32, Type::U32]),
        Type::List(item) => Type::List(boxed(item)),
        Type::FixedList(item, length) => Type::FixedList(boxed(item), *length),
        Type::Tuple(types) => Type::Tuple(types.iter().map(with_addresses).collect()),
        Type::Record(fields) => {
            let fields = fields.iter().map(|field| Field {
                ty: with_addresses(&field.ty),
                ..field.clone()
            });
            Type::Record(fields.collect())
        }
        Type::Option(inner) => Type::Option(boxed(inner)),
        Type::Variant(cases) => {
            let cases = cases.iter().map(|case| VariantCase {
                ty: case.ty.as_ref().map(with_addresses),
                ..case.clone()
            });
            Type::Variant(cases.collect())
        }
        Type::Result { ok, err } => Type::Result {
            ok: optional(ok),
            err: optional(err),
        },
        Type::Map(key, item) => Type::Map(boxed(key), boxed(item)),
        other => other.clone(),
    }
}
