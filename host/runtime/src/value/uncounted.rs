//! Memory that the values of a type take beyond wasmtime's count.

use dormouse_wit::Type;

/// Memory of one value, in bytes, as wasmtime counts it.
const VALUE_BYTES: usize = 40;

/// Memory of the name of a set flag, in bytes: a text of its own, and its place in the list.
/// Wasmtime counts the letters only.
const FLAG_BYTES: usize = 80;

/// Memory of a member of a record, in bytes: its name and its value.
const MEMBER_BYTES: usize = 64;

/// Memory of a short name, in bytes.
const NAME_BYTES: usize = 16;

/// Fewest places that wasmtime makes for a list, a tuple or a record: as it does not know the final
/// number, it makes four, and then twice as many each time.
const MIN_PLACES: usize = 4;

/// Most memory of any values without flags, as a multiple of the counted memory: nested records of
/// one member take the most.
pub(crate) const MAX_NESTED_FACTOR: usize =
    (MIN_PLACES * MEMBER_BYTES + NAME_BYTES).div_ceil(VALUE_BYTES + 1);

/// Returns the most memory of the values of a type, as a multiple of the counted memory. Only lists
/// matter, which may have any number of items; values outside of lists are few.
pub(crate) fn uncounted_factor(ty: &Type) -> usize {
    factor(ty, false)
}

/// Returns the same for a number of flags, whose names have so many letters together.
pub(crate) fn flags_factor(number: usize, letters: usize) -> usize {
    let taken = VALUE_BYTES + FLAG_BYTES * number;
    taken.div_ceil(VALUE_BYTES + letters)
}

/// Returns the same for a number of values that are collected, each of which takes `each` bytes.
fn collected_factor(number: usize, each: usize, counted: usize) -> usize {
    let places = number.next_power_of_two().max(MIN_PLACES);
    (places * each).div_ceil(counted.max(1))
}

fn factor(ty: &Type, is_repeated: bool) -> usize {
    let all = |own: usize, types: &mut dyn Iterator<Item = &Type>| {
        let factors = types.map(|ty| factor(ty, is_repeated));
        factors.max().unwrap_or(1).max(own)
    };
    let tuple = |number: usize| match is_repeated && number > 0 {
        true => collected_factor(number, VALUE_BYTES, number * VALUE_BYTES),
        false => 1,
    };
    match ty {
        Type::Flags(flags) if is_repeated => {
            flags_factor(flags.len(), flags.iter().map(|flag| flag.wit.len()).sum())
        }
        // One long list has at most twice the places that it needs; many short ones have more.
        Type::Bytes if is_repeated => 2,
        Type::List(item) => factor(item, true).max(if is_repeated { MIN_PLACES } else { 1 }),
        Type::FixedList(item, length) => {
            let length = usize::try_from(*length).unwrap_or(usize::MAX).min(1 << 16);
            factor(item, true).max(tuple(length))
        }
        Type::Map(key, item) => factor(key, true).max(factor(item, true)),
        Type::Tuple(types) => all(tuple(types.len()), &mut types.iter()),
        Type::Record(fields) => {
            let number = fields.len();
            let letters: usize = fields.iter().map(|field| field.wit.len()).sum();
            let own = match is_repeated && number > 0 {
                true => collected_factor(
                    number,
                    MEMBER_BYTES + NAME_BYTES,
                    number * VALUE_BYTES + letters,
                ),
                false => 1,
            };
            all(own, &mut fields.iter().map(|field| &field.ty))
        }
        Type::Option(inner) => factor(inner, is_repeated),
        Type::Variant(cases) => all(1, &mut cases.iter().filter_map(|case| case.ty.as_ref())),
        Type::Result { ok, err } => {
            let types = [ok, err].into_iter().flatten();
            all(1, &mut types.map(|ty| &**ty))
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
        let record = |count: usize| {
            let field = |n: usize| dormouse_wit::Field {
                wit: format!("f{n}"),
                json: format!("f{n}"),
                ty: Type::U8,
                default: None,
            };
            Type::Record((0..count).map(field).collect())
        };
        let map = |ty: Type| Type::Map(Box::new(Type::String), Box::new(ty));
        for (ty, at_least, at_most) in [
            (Type::String, 1, 1),
            (flags(1000), 1, 1),
            (Type::Bytes, 1, 1),
            (list(Type::U32), 1, 1),
            (list(Type::String), 1, 1),
            // A list of blobs, as large together as one that is a result may be.
            (list(Type::Bytes), 2, 2),
            (list(list(Type::U32)), 4, 4),
            (list(Type::Tuple(vec![Type::U8])), 4, 4),
            (list(Type::Tuple(vec![Type::U8; 4])), 1, 1),
            (list(Type::Tuple(vec![Type::U8; 5])), 2, 2),
            (list(record(1)), 6, 8),
            (list(record(6)), 2, 4),
            (record(1), 1, 1),
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
