//! Exports of a compiled component, in the types of a declaration.

use dormouse_wit::{Case, Export, Field, Function, Type, VariantCase};
use wasmtime::Engine;
use wasmtime::component::types::{self, ComponentFunc, ComponentItem};
use wasmtime::component::{Component, ComponentExportIndex};

/// An exported function: its index and its type.
pub(super) struct ExportedFunction {
    pub index: ComponentExportIndex,
    function: ComponentFunc,
}

/// Finds an export.
pub(super) fn find(
    engine: &Engine,
    component: &Component,
    export: &Export,
) -> Option<ExportedFunction> {
    let _ = engine;
    let instance = match &export.interface {
        Some(name) => Some(component.get_export(None, name.as_str())?.1),
        None => None,
    };
    find_in(component, instance.as_ref(), &export.function)
}

/// Finds a function that an instance exports, or the component itself.
pub(super) fn find_in(
    component: &Component,
    instance: Option<&ComponentExportIndex>,
    name: &str,
) -> Option<ExportedFunction> {
    match component.get_export(instance, name)? {
        (ComponentItem::ComponentFunc(function), index) => {
            Some(ExportedFunction { index, function })
        }
        _ => None,
    }
}

/// Largest signature, in bytes of memory. Types are written once and used again and again, so a
/// file of some kilobytes may have one of gigabytes.
const MAX_SIGNATURE_BYTES: usize = 16 << 20;

/// Memory of a type without its name and parts, in bytes.
const TYPE_BYTES: usize = 128;

impl ExportedFunction {
    /// Returns the function's signature.
    ///
    /// # Errors
    /// It cannot be called.
    pub(super) fn signature(&self, export: &Export) -> Result<Function, String> {
        if self.function.async_() {
            return Err(format!(
                "`{export}` is an `async func`, which cannot be called yet"
            ));
        }
        let mut types = TypeReader {
            left_bytes: MAX_SIGNATURE_BYTES,
        };
        let params = self.function.params();
        let params = params.map(|(name, ty)| types.field(name, &ty));
        let params = params.collect::<Result<_, _>>();
        let result = self.function.results().next();
        let result = result.map(|ty| types.read(&ty)).transpose();
        let signature = params.and_then(|params| {
            Ok(Function {
                export: export.clone(),
                spread: false,
                params,
                result: result?,
            })
        });
        signature.map_err(|error| format!("`{export}` has types that {error}"))
    }
}

/// Reason why types are those of no tool.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum WrongType {
    #[error("no tool can have")]
    Kind,
    #[error("take more than {MAX_SIGNATURE_BYTES} bytes")]
    Size,
}

/// Reads types of a component, as long as they are not too large.
struct TypeReader {
    left_bytes: usize,
}

impl TypeReader {
    fn take(&mut self, bytes: usize) -> Result<(), WrongType> {
        let left = self.left_bytes.checked_sub(bytes);
        self.left_bytes = left.ok_or(WrongType::Size)?;
        Ok(())
    }

    fn name(&mut self, name: &str) -> Result<String, WrongType> {
        // It is there twice.
        self.take(name.len().saturating_mul(2).saturating_add(TYPE_BYTES))?;
        Ok(name.to_owned())
    }

    fn field(&mut self, name: &str, ty: &types::Type) -> Result<Field, WrongType> {
        let wit = self.name(name)?;
        Ok(Field {
            json: wit.clone(),
            wit,
            ty: self.read(ty)?,
            default: None,
        })
    }

    fn cases<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<Vec<Case>, WrongType> {
        let case = |name| {
            let wit = self.name(name)?;
            Ok(Case {
                json: wit.clone(),
                wit,
            })
        };
        names.map(case).collect()
    }

    fn boxed(&mut self, ty: &types::Type) -> Result<Box<Type>, WrongType> {
        self.read(ty).map(Box::new)
    }

    /// An optional part: absent is fine, one that is no tool type is not.
    fn part(&mut self, ty: Option<types::Type>) -> Result<Option<Type>, WrongType> {
        ty.map(|ty| self.read(&ty)).transpose()
    }

    fn read(&mut self, ty: &types::Type) -> Result<Type, WrongType> {
        self.take(TYPE_BYTES)?;
        Ok(match ty {
            types::Type::Bool => Type::Bool,
            types::Type::S8 => Type::S8,
            types::Type::U8 => Type::U8,
            types::Type::S16 => Type::S16,
            types::Type::U16 => Type::U16,
            types::Type::S32 => Type::S32,
            types::Type::U32 => Type::U32,
            types::Type::S64 => Type::S64,
            types::Type::U64 => Type::U64,
            types::Type::Float32 => Type::F32,
            types::Type::Float64 => Type::F64,
            types::Type::Char => Type::Char,
            types::Type::String => Type::String,
            types::Type::List(list) => match list.ty() {
                types::Type::U8 => Type::Bytes,
                item => Type::List(self.boxed(&item)?),
            },
            types::Type::FixedLengthList(list) => {
                Type::FixedList(self.boxed(&list.ty())?, list.len())
            }
            types::Type::Map(map) => Type::Map(self.boxed(&map.key())?, self.boxed(&map.value())?),
            types::Type::Tuple(tuple) => {
                let items = tuple.types().map(|ty| self.read(&ty));
                Type::Tuple(items.collect::<Result<_, _>>()?)
            }
            types::Type::Record(record) => {
                let fields = record.fields();
                let fields = fields.map(|member| self.field(member.name, &member.ty));
                Type::Record(fields.collect::<Result<_, _>>()?)
            }
            types::Type::Option(option) => Type::Option(self.boxed(&option.ty())?),
            types::Type::Enum(cases) => Type::Enum(self.cases(cases.names())?),
            types::Type::Flags(flags) => Type::Flags(self.cases(flags.names())?),
            types::Type::Variant(variant) => {
                let case = |case: types::Case<'_>| {
                    let wit = self.name(case.name)?;
                    Ok(VariantCase {
                        json: wit.clone(),
                        wit,
                        ty: self.part(case.ty)?,
                    })
                };
                Type::Variant(variant.cases().map(case).collect::<Result<_, _>>()?)
            }
            types::Type::Result(result) => Type::Result {
                ok: self.part(result.ok())?.map(Box::new),
                err: self.part(result.err())?.map(Box::new),
            },
            _ => return Err(WrongType::Kind),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{EngineKind, InstanceOrigin, Machine};

    /// The signature of a function with a tuple of so many tuples of so many records, which have one
    /// field of that name.
    fn signature(name: &str, items: usize) -> Result<Function, String> {
        let kind = EngineKind {
            origin: InstanceOrigin::Demand,
            concurrent: false,
        };
        let engine = Machine::engine(kind).unwrap();
        let (records, tuples) = (" $record".repeat(items), " $inner".repeat(items));
        let component = wat::parse_str(format!(
            r#"(component
                (core module $code
                    (memory (export "memory") 1)
                    (func (export "run") (param i32))
                    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 0)))
                (core instance $code (instantiate $code))
                (type $fields (record (field "{name}" u32)))
                (export $record "record" (type $fields))
                (type $inner (tuple{records}))
                (type $outer (tuple{tuples}))
                (func (export "run") (param "it" $outer) (canon lift (core func $code "run")
                    (memory (core memory $code "memory"))
                    (realloc (core func $code "realloc")))))"#
        ));
        let component = Component::new(&engine, component.unwrap()).unwrap();
        let export = Export {
            interface: None,
            function: "run".to_owned(),
        };
        find(&engine, &component, &export)
            .unwrap()
            .signature(&export)
    }

    #[test]
    fn types_that_are_used_again_and_again_are_not_read_for_ever() {
        assert_eq!(signature("name", 10).unwrap().params.len(), 1);
        let error = signature(&"n".repeat(5000), 100).unwrap_err();
        assert!(error.contains("take more than 16777216 bytes"), "{error}");
        assert!(error.contains("`run`"), "{error}");
    }
}
