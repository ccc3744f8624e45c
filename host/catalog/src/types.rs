//! The types of a component, as wit-parser decodes them.
//!
//! The decoder and the printer assert what their validator has let through.
//! Should a stranger's file find a gap between the two, then only that file is
//! bad, so nothing else here calls them.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wit_parser::decoding::{self, DecodedWasm};
use wit_parser::{Function, Resolve, Result_, Type, TypeDefKind, WorldItem};

/// A component's world, or a WIT package if that is what the bytes are.
pub(crate) fn decode(bytes: &[u8]) -> Result<DecodedWasm, String> {
    guarded(|| decoding::decode(bytes))
}

/// What was decoded, as WIT.
pub(crate) fn print(decoded: &DecodedWasm) -> Result<String, String> {
    let mut printer = wit_component::WitPrinter::default();
    guarded(|| printer.print(decoded.resolve(), decoded.package(), &[]))?;
    Ok(printer.output.to_string())
}

/// Whether a component exports the interface `name` with the contract's
/// `call-tool`, which takes the calls of tools without a function of their own.
pub(crate) fn takes_calls(decoded: &DecodedWasm, name: &str) -> bool {
    let DecodedWasm::Component(resolve, world) = decoded else {
        return false;
    };
    let exports = resolve.worlds.get(*world).map(|world| &world.exports);
    exports.into_iter().flatten().any(|(key, item)| {
        let WorldItem::Interface { id, .. } = item else {
            return false;
        };
        let interface = resolve.interfaces.get(*id);
        resolve.name_world_key(key) == name
            && interface
                .and_then(|interface| interface.functions.get("call-tool"))
                .is_some_and(|function| is_call_tool(resolve, function))
    })
}

/// `func(string, string) -> result<string, string>`
fn is_call_tool(resolve: &Resolve, function: &Function) -> bool {
    let Some(Type::Id(id)) = function.result else {
        return false;
    };
    let answer = TypeDefKind::Result(Result_ {
        ok: Some(Type::String),
        err: Some(Type::String),
    });
    resolve.types.get(id).is_some_and(|ty| ty.kind == answer)
        && function.params.len() == 2
        && function.params.iter().all(|param| param.ty == Type::String)
}

fn guarded<T, E: Display>(work: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| "its types cannot be decoded".to_owned())?
        .map_err(|error| format!("{error:#}"))
}
