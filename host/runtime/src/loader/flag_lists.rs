//! Lists of flags among the parameters of functions that a guest may call.

use wasmtime::component::Type;

/// Checks whether values of a type may hold any number of sets of flags. Wasmtime makes values for
/// the parameters of a function whose types are not known statically, and those of flags take many
/// times the memory that wasmtime counts for them.
pub(super) fn has_lists_of_flags(ty: &Type) -> bool {
    has_flags(ty, false)
}

fn has_flags(ty: &Type, is_repeated: bool) -> bool {
    match ty {
        Type::Flags(_) => is_repeated,
        Type::List(list) => has_flags(&list.ty(), true),
        Type::FixedLengthList(list) => has_flags(&list.ty(), true),
        Type::Map(map) => has_flags(&map.key(), true) || has_flags(&map.value(), true),
        Type::Record(record) => record
            .fields()
            .any(|field| has_flags(&field.ty, is_repeated)),
        Type::Tuple(tuple) => tuple.types().any(|ty| has_flags(&ty, is_repeated)),
        Type::Variant(variant) => {
            let mut types = variant.cases().filter_map(|case| case.ty);
            types.any(|ty| has_flags(&ty, is_repeated))
        }
        Type::Option(option) => has_flags(&option.ty(), is_repeated),
        Type::Result(result) => {
            let mut types = result.ok().into_iter().chain(result.err());
            types.any(|ty| has_flags(&ty, is_repeated))
        }
        _ => false,
    }
}
