//! Lowering of types that have parts.

use wit_parser::{TypeDef, TypeDefKind};

use super::{Lower, Noted, Unfit, either};
use crate::notes::Notes;
use crate::types::{Type, VariantCase};

impl<'a> Lower<'a> {
    /// Lowers a type by its definition, behind all its aliases.
    pub(super) fn defined(&mut self, def: &'a TypeDef, depth: usize) -> Result<Noted, Unfit> {
        let inside = depth + 1;
        let name = def.name.as_deref().unwrap_or("(unnamed)");
        let unfit = |what: String| Err(Unfit(format!("`{what}` is no tool type")));
        Ok(match &def.kind {
            TypeDefKind::Record(record) => {
                let mut fields = Vec::new();
                let mut parts = Vec::new();
                for field in &record.fields {
                    let (ty, notes) = self.lower(&field.ty, inside)?;
                    let item = format!("{name}.{}", field.name);
                    let (field, notes) = self.field(&field.name, &item, &field.docs, ty, notes)?;
                    fields.push(field);
                    parts.push(notes);
                }
                self.distinct(
                    name,
                    fields.iter_mut().map(|field| (&field.wit, &mut field.json)),
                );
                (Type::Record(fields), Notes::over(parts))
            }
            TypeDefKind::Variant(variant) => {
                let mut cases = Vec::new();
                let mut parts = Vec::new();
                for case in &variant.cases {
                    let value = self.optional(case.ty.as_ref(), inside)?;
                    let (json, description) = self.case(name, &case.name, &case.docs)?;
                    let (ty, notes) = value.unzip();
                    parts.push(Notes {
                        description,
                        ..Notes::over(notes.into_iter().collect())
                    });
                    cases.push(VariantCase {
                        wit: case.name.clone(),
                        json,
                        ty,
                    });
                }
                self.distinct(
                    name,
                    cases.iter_mut().map(|case| (&case.wit, &mut case.json)),
                );
                (Type::Variant(cases), Notes::over(parts))
            }
            TypeDefKind::Enum(cases) => {
                let cases = cases.cases.iter().map(|case| (&*case.name, &case.docs));
                let (cases, notes) = self.cases(name, cases)?;
                (Type::Enum(cases), notes)
            }
            TypeDefKind::Flags(flags) => {
                let flags = flags.flags.iter().map(|flag| (&*flag.name, &flag.docs));
                let (flags, notes) = self.cases(name, flags)?;
                (Type::Flags(flags), notes)
            }
            TypeDefKind::Tuple(tuple) => {
                let mut items = Vec::new();
                let mut parts = Vec::new();
                for item in &tuple.types {
                    let (item, notes) = self.lower(item, inside)?;
                    items.push(item);
                    parts.push(notes);
                }
                (Type::Tuple(items), Notes::over(parts))
            }
            TypeDefKind::Option(inner) => {
                if matches!(
                    self.definition(inner).map(|def| &def.kind),
                    Some(TypeDefKind::Option(_))
                ) {
                    return Err(Unfit(
                        "`option<option<T>>` is no tool type, because null could mean either none"
                            .into(),
                    ));
                }
                let (inner, notes) = self.lower(inner, inside)?;
                (Type::Option(Box::new(inner)), Notes::over(vec![notes]))
            }
            TypeDefKind::Result(result) => {
                let ok = self.optional(result.ok.as_ref(), inside)?;
                let err = self.optional(result.err.as_ref(), inside)?;
                either(ok, err)
            }
            TypeDefKind::List(item) => match self.lower(item, inside)? {
                (Type::U8, _) => (Type::Bytes, Notes::default()),
                (item, notes) => (Type::List(Box::new(item)), Notes::over(vec![notes])),
            },
            TypeDefKind::FixedLengthList(item, n) => {
                let (item, notes) = self.lower(item, inside)?;
                (
                    Type::FixedList(Box::new(item), *n),
                    Notes::over(vec![notes]),
                )
            }
            TypeDefKind::Map(key, value) => {
                let (key, key_notes) = self.lower(key, inside)?;
                let (value, value_notes) = self.lower(value, inside)?;
                (
                    Type::Map(Box::new(key), Box::new(value)),
                    Notes::over(vec![key_notes, value_notes]),
                )
            }
            TypeDefKind::Handle(wit_parser::Handle::Own(id)) => {
                return unfit(format!("own<{}>", self.name(*id)));
            }
            TypeDefKind::Handle(wit_parser::Handle::Borrow(id)) => {
                return unfit(format!("borrow<{}>", self.name(*id)));
            }
            TypeDefKind::Resource => return unfit(format!("resource {name}")),
            TypeDefKind::Future(_) => return unfit("future".into()),
            TypeDefKind::Stream(_) => return unfit("stream".into()),
            TypeDefKind::Type(_) | TypeDefKind::Unknown => return unfit(name.into()),
        })
    }
}
