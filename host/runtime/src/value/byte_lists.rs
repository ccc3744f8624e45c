//! Lists of bytes within values.
//!
//! A `Val` for each byte takes forty times their memory. So a list of bytes is base64 from a
//! request's JSON on, an address and a length while it is handed over, and base64 until the result
//! is JSON.

use dormouse_wit::{Function, Type};
use wasmtime::component::Val;

use super::bytes::values_of;
use super::case_index::CaseIndex;

/// Returns all lists of bytes in a function's parameters.
pub(crate) fn byte_lists_of_params<'v>(
    function: &Function,
    params: &'v mut [Val],
) -> Vec<&'v mut Val> {
    let mut lists = ByteLists::default();
    let types = function.arguments().iter().map(|field| &field.ty);
    if !function.spread {
        lists.fields(types, params.iter_mut());
    } else if let Some(Val::Record(members)) = params.first_mut() {
        lists.fields(types, members.iter_mut().map(|(_, value)| value));
    }
    lists.found
}

/// Returns all lists of bytes in a value.
pub(crate) fn byte_lists<'v>(ty: &Type, value: &'v mut Val) -> Vec<&'v mut Val> {
    let mut lists = ByteLists::default();
    lists.value(ty, value);
    lists.found
}

/// Makes values of a parameter's bytes, for a function that takes no addresses.
pub(crate) fn into_values(list: &mut Val) {
    if let Val::String(base64) = list {
        *list = values_of(base64);
    }
}

/// Returns the address and the length of a list of bytes that is in a guest's memory, in bytes.
pub(crate) fn address_and_length(list: &Val) -> Option<(u32, u32)> {
    match list {
        Val::Tuple(pair) => match pair.as_slice() {
            [Val::U32(address), Val::U32(length)] => Some((*address, *length)),
            _ => None,
        },
        _ => None,
    }
}

/// Lists that are found. Reads each value once, whatever its type.
#[derive(Default)]
struct ByteLists<'t, 'v> {
    found: Vec<&'v mut Val>,
    cases: CaseIndex<'t>,
}

impl<'t, 'v> ByteLists<'t, 'v> {
    fn value(&mut self, ty: &'t Type, value: &'v mut Val) {
        match (ty, value) {
            (Type::Bytes, value) => self.found.push(value),
            (Type::Content | Type::Contents | Type::Messages | Type::Embedded, value) => {
                self.content(value);
            }
            (
                Type::List(item) | Type::FixedList(item, _),
                Val::List(values) | Val::FixedLengthList(values),
            ) => {
                values.iter_mut().for_each(|value| self.value(item, value));
            }
            (Type::Tuple(types), Val::Tuple(values)) => {
                self.fields(types.iter(), values.iter_mut());
            }
            (Type::Record(fields), Val::Record(members)) => {
                let members = members.iter_mut().map(|(_, value)| value);
                self.fields(fields.iter().map(|field| &field.ty), members);
            }
            (Type::Option(inner), Val::Option(Some(value))) => self.value(inner, value),
            (Type::Variant(cases), Val::Variant(name, Some(payload))) => {
                let case = self.cases.of_variant(cases, name);
                if let Some(ty) = case.and_then(|case| case.ty.as_ref()) {
                    self.value(ty, payload);
                }
            }
            (Type::Result { ok: Some(ty), .. }, Val::Result(Ok(Some(value))))
            | (Type::Result { err: Some(ty), .. }, Val::Result(Err(Some(value)))) => {
                self.value(ty, value);
            }
            (Type::Map(key, item), Val::Map(pairs)) => {
                for (left, right) in pairs {
                    self.value(key, left);
                    self.value(item, right);
                }
            }
            _ => {}
        }
    }

    fn fields(
        &mut self,
        types: impl Iterator<Item = &'t Type>,
        values: impl Iterator<Item = &'v mut Val>,
    ) {
        types
            .zip(values)
            .for_each(|(ty, value)| self.value(ty, value));
    }

    /// Finds those of `dormouse:plugin/types`, which has no other tuples than addresses with lengths.
    fn content(&mut self, value: &'v mut Val) {
        match value {
            Val::Tuple(_) => self.found.push(value),
            Val::List(values) => values.iter_mut().for_each(|value| self.content(value)),
            Val::Record(members) => {
                members
                    .iter_mut()
                    .for_each(|(_, value)| self.content(value));
            }
            Val::Variant(_, Some(payload)) | Val::Option(Some(payload)) => self.content(payload),
            _ => {}
        }
    }
}
