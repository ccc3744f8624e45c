//! Limits on the types of a function. Their names are written into each value of a result, and
//! looked up in each argument.

use crate::{Function, Type};

/// Longest name of a field, a case or a flag, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Most fields of a record, cases of an enum or a variant, flags, items of a tuple, and parameters.
const MAX_PARTS: usize = 1024;

impl Function {
    /// Checks that its types are within the limits.
    ///
    /// # Errors
    /// The reason, as a sentence.
    pub fn check_size(&self) -> Result<(), String> {
        let params = self.params.iter();
        let named = params.clone().map(|param| param.json.as_str());
        parts(self.params.len(), named)?;
        params
            .map(|param| &param.ty)
            .chain(&self.result)
            .try_for_each(check)
    }
}

fn check(ty: &Type) -> Result<(), String> {
    match ty {
        Type::List(item) | Type::FixedList(item, _) | Type::Option(item) => check(item),
        Type::Tuple(items) => {
            parts(items.len(), std::iter::empty())?;
            items.iter().try_for_each(check)
        }
        Type::Record(fields) => {
            let named = fields.iter().flat_map(|field| [&*field.json, &*field.wit]);
            parts(fields.len(), named)?;
            fields.iter().map(|field| &field.ty).try_for_each(check)
        }
        Type::Enum(cases) | Type::Flags(cases) => {
            let named = cases.iter().flat_map(|case| [&*case.json, &*case.wit]);
            parts(cases.len(), named)
        }
        Type::Variant(cases) => {
            let named = cases.iter().flat_map(|case| [&*case.json, &*case.wit]);
            parts(cases.len(), named)?;
            cases
                .iter()
                .filter_map(|case| case.ty.as_ref())
                .try_for_each(check)
        }
        Type::Result { ok, err } => [ok, err].into_iter().flatten().try_for_each(|ty| check(ty)),
        Type::Map(key, item) => [key, item].into_iter().try_for_each(|ty| check(ty)),
        _ => Ok(()),
    }
}

fn parts<'a>(count: usize, mut names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    if count > MAX_PARTS {
        return Err(format!(
            "a type of it has `{count}` fields, cases or items, where {MAX_PARTS} are allowed"
        ));
    }
    match names.find(|name| name.len() > MAX_NAME_BYTES) {
        Some(name) => Err(format!(
            "a name in its types has {} bytes, where {MAX_NAME_BYTES} are allowed",
            name.len()
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Case;

    #[test]
    fn long_names_and_very_many_cases_are_refused() {
        let of = |count: usize, name: &str| {
            let case = |number: usize| Case {
                wit: format!("c{number}"),
                json: format!("{name}{number}"),
            };
            let cases = Type::Enum((0..count).map(case).collect());
            check(&Type::List(Box::new(Type::Option(Box::new(cases)))))
        };
        assert_eq!(of(1000, "case"), Ok(()));
        let why = of(MAX_PARTS + 1, "case").unwrap_err();
        assert!(why.contains("`1025` fields, cases or items"), "{why}");
        let why = of(2, &"x".repeat(MAX_NAME_BYTES)).unwrap_err();
        assert!(why.contains("has 257 bytes"), "{why}");
    }
}
