//! What a compiled component really exports, in the words of a declaration.

use dormouse_wit::{Case, Export, Field, Function, Type, VariantCase};
use wasmtime::Engine;
use wasmtime::component::types::{self, ComponentFunc, ComponentItem};
use wasmtime::component::{Component, ComponentExportIndex};

/// An exported function: where it is and what it takes.
pub(super) struct Found {
    pub index: ComponentExportIndex,
    function: ComponentFunc,
}

/// Finds an export.
pub(super) fn find(engine: &Engine, component: &Component, export: &Export) -> Option<Found> {
    let _ = engine;
    let instance = match &export.interface {
        Some(name) => Some(component.get_export(None, name.as_str())?.1),
        None => None,
    };
    let (item, index) = component.get_export(instance.as_ref(), export.function.as_str())?;
    match item {
        ComponentItem::ComponentFunc(function) => Some(Found { index, function }),
        _ => None,
    }
}

impl Found {
    /// The function's signature.
    ///
    /// # Errors
    /// It is none that can be called.
    pub(super) fn signature(&self, export: &Export) -> Result<Function, String> {
        if self.function.async_() {
            return Err(format!(
                "`{export}` is an `async func`, which cannot be called yet"
            ));
        }
        let signature = || {
            let params = self.function.params();
            let params = params.map(|(name, ty)| field(name, &ty));
            let result = self.function.results().next();
            Some(Function {
                export: export.clone(),
                spread: false,
                params: params.collect::<Option<_>>()?,
                result: match result {
                    Some(ty) => Some(convert(&ty)?),
                    None => None,
                },
            })
        };
        signature().ok_or_else(|| format!("`{export}` has types that no tool can have"))
    }
}

fn field(name: &str, ty: &types::Type) -> Option<Field> {
    Some(Field {
        wit: name.to_owned(),
        json: name.to_owned(),
        ty: convert(ty)?,
        default: None,
    })
}

fn convert(ty: &types::Type) -> Option<Type> {
    let boxed = |ty: &types::Type| convert(ty).map(Box::new);
    let case = |name: &str| Case {
        wit: name.to_owned(),
        json: name.to_owned(),
    };
    // An optional part: absent is fine, one that is no tool type is not.
    let part = |ty: Option<types::Type>| match ty {
        Some(ty) => convert(&ty).map(Some),
        None => Some(None),
    };
    Some(match ty {
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
            item => Type::List(boxed(&item)?),
        },
        types::Type::FixedLengthList(list) => Type::FixedList(boxed(&list.ty())?, list.len()),
        types::Type::Map(map) => Type::Map(boxed(&map.key())?, boxed(&map.value())?),
        types::Type::Tuple(tuple) => Type::Tuple(
            tuple
                .types()
                .map(|ty| convert(&ty))
                .collect::<Option<_>>()?,
        ),
        types::Type::Record(record) => Type::Record(
            record
                .fields()
                .map(|member| field(member.name, &member.ty))
                .collect::<Option<_>>()?,
        ),
        types::Type::Option(option) => Type::Option(boxed(&option.ty())?),
        types::Type::Enum(cases) => Type::Enum(cases.names().map(case).collect()),
        types::Type::Flags(flags) => Type::Flags(flags.names().map(case).collect()),
        types::Type::Variant(variant) => Type::Variant(
            variant
                .cases()
                .map(|case| {
                    Some(VariantCase {
                        wit: case.name.to_owned(),
                        json: case.name.to_owned(),
                        ty: part(case.ty)?,
                    })
                })
                .collect::<Option<_>>()?,
        ),
        types::Type::Result(result) => Type::Result {
            ok: part(result.ok())?.map(Box::new),
            err: part(result.err())?.map(Box::new),
        },
        _ => return None,
    })
}
