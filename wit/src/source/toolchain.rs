//! Functions that toolchains export for their own use.
//!
//! Toolchains run an interpreter's start-up while they build, and the function that they call for
//! it stays in the finished component. It is no tool: nobody wrote it, and it does nothing for a
//! user.

use wit_parser::Function;

/// The parameters of each toolchain's initializer. They are matched as well as
/// the name, so that an author's own `init` is a tool like any other.
const INITIALIZERS: [&[&str]; 2] = [
    // QuickJS components of jco (componentize-qjs).
    &["shim", "script", "entry-path", "disable-gc"],
    // componentize-py, in its interface `exports`.
    &["app-name", "symbols", "stub-wasi"],
];

/// Checks whether a function is an initializer that a toolchain left behind.
pub(crate) fn is_initializer(function: &Function) -> bool {
    let names = || function.params.iter().map(|param| param.name.as_str());
    function.name == "init"
        && INITIALIZERS
            .iter()
            .any(|known| names().eq(known.iter().copied()))
}
