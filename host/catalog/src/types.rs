//! Types of a component, as wit-parser decodes them.
//!
//! The printer asserts what the validator has let through. Should a stranger's
//! file find a gap between the two, then only that file is bad, so nothing else
//! here calls it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wit_parser::decoding::DecodedWasm;
use wit_parser::{Function, Resolve, Result_, Type, TypeDefKind, WorldItem};

/// Prints decoded types as WIT.
pub(crate) fn print(decoded: &DecodedWasm) -> Result<String, String> {
    let mut printer = wit_component::WitPrinter::default();
    let print = || printer.print(decoded.resolve(), decoded.package(), &[]);
    catch_unwind(AssertUnwindSafe(print))
        .map_err(|_| "its types cannot be printed".to_owned())?
        .map_err(|error| format!("{error:#}"))?;
    Ok(printer.output.to_string())
}

/// Checks whether a component exports the interface `name` with a `function` that has the
/// contract's type.
pub(crate) fn exports(
    decoded: &DecodedWasm,
    name: &str,
    function: &str,
    is_it: impl Fn(&Resolve, &Function) -> bool,
) -> bool {
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
                .and_then(|interface| interface.functions.get(function))
                .is_some_and(|function| is_it(resolve, function))
    })
}

/// Checks for the type `func(string, string) -> result<string, string>`, that of the contract's
/// `call-tool` and `get-prompt`.
pub(crate) fn is_by_name(resolve: &Resolve, function: &Function) -> bool {
    takes_strings(function, 2)
        && answer(resolve, function) == Some((Some(Type::String), Some(Type::String)))
}

/// Checks for the type `func(string) -> result<string, read-error>`, that of the contract's
/// `read-resource`.
pub(crate) fn is_by_uri(resolve: &Resolve, function: &Function) -> bool {
    let Some((Some(Type::String), Some(Type::Id(mut error)))) = answer(resolve, function) else {
        return false;
    };
    // An interface's export names its types again.
    while let Some(TypeDefKind::Type(Type::Id(id))) = resolve.types.get(error).map(|ty| &ty.kind) {
        error = *id;
    }
    let Some(TypeDefKind::Variant(variant)) = resolve.types.get(error).map(|ty| &ty.kind) else {
        return false;
    };
    let cases = variant
        .cases
        .iter()
        .map(|case| (case.name.as_str(), case.ty));
    takes_strings(function, 1) && cases.eq([("not-found", None), ("failed", Some(Type::String))])
}

fn takes_strings(function: &Function, number: usize) -> bool {
    function.params.len() == number && function.params.iter().all(|param| param.ty == Type::String)
}

/// Returns the types of both sides of a result.
fn answer(resolve: &Resolve, function: &Function) -> Option<(Option<Type>, Option<Type>)> {
    let Some(Type::Id(id)) = function.result else {
        return None;
    };
    match resolve.types.get(id)?.kind {
        TypeDefKind::Result(Result_ { ok, err }) => Some((ok, err)),
        _ => None,
    }
}
