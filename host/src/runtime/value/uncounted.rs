//! Memory that the values of a type take beyond what wasmtime counts of them.

use dormouse_wit::Type;

/// Memory of one value, in bytes, as wasmtime counts it.
const VALUE_BYTES: usize = 40;

/// Memory of the name of a flag that is set, in bytes: a text of its own, and its place among the
/// others. Wasmtime counts its letters.
const FLAG_BYTES: usize = 80;

/// How many times the memory that is counted the values of a type may take at most. A list may have
/// any number of flags; what there is once in a type is little.
pub(crate) fn uncounted_factor(ty: &Type) -> usize {
    factor(ty, false)
}

/// The same of a number of flags, whose names have so many letters together.
pub(crate) fn flags_factor(number: usize, letters: usize) -> usize {
    let taken = VALUE_BYTES + FLAG_BYTES * number;
    taken.div_ceil(VALUE_BYTES + letters)
}

fn factor(ty: &Type, is_repeated: bool) -> usize {
    let all = |types: &mut dyn Iterator<Item = &Type>| {
        let factors = types.map(|ty| factor(ty, is_repeated));
        factors.max().unwrap_or(1)
    };
    match ty {
        Type::Flags(flags) if is_repeated => {
            flags_factor(flags.len(), flags.iter().map(|flag| flag.wit.len()).sum())
        }
        Type::List(item) | Type::FixedList(item, _) => factor(item, true),
        Type::Map(key, item) => factor(key, true).max(factor(item, true)),
        Type::Tuple(types) => all(&mut types.iter()),
        Type::Record(fields) => all(&mut fields.iter().map(|field| &field.ty)),
        Type::Option(inner) => factor(inner, is_repeated),
        Type::Variant(cases) => all(&mut cases.iter().filter_map(|case| case.ty.as_ref())),
        Type::Result { ok, err } => {
            let types = [ok, err].into_iter().flatten();
            all(&mut types.map(|ty| &**ty))
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_wit::Case;

    use super::*;

    fn flags(count: usize) -> Type {
        let flag = |n: usize| Case {
            wit: format!("f{n}"),
            json: format!("f{n}"),
        };
        Type::Flags((0..count).map(flag).collect())
    }

    #[test]
    fn flags_count_where_there_may_be_many_of_them() {
        let list = |ty: Type| Type::List(Box::new(ty));
        let map = |ty: Type| Type::Map(Box::new(Type::String), Box::new(ty));
        for (ty, at_least, at_most) in [
            (Type::String, 1, 1),
            (flags(1000), 1, 1),
            (list(Type::Bytes), 1, 1),
            (list(flags(3)), 5, 10),
            (list(flags(32)), 15, 40),
            (
                list(Type::Option(Box::new(Type::Tuple(vec![flags(32)])))),
                15,
                40,
            ),
            (map(flags(32)), 15, 40),
            (
                Type::Result {
                    ok: None,
                    err: Some(Box::new(list(flags(32)))),
                },
                15,
                40,
            ),
        ] {
            let found = uncounted_factor(&ty);
            assert!((at_least..=at_most).contains(&found), "{found}");
        }
    }
}
