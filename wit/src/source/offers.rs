//! Finding on a world that offers nothing to agents.

use wit_parser::{Resolve, World, WorldItem};

use crate::CONTRACT;
use crate::contract;
use crate::declaration::Declaration;
use crate::error::Finding;

/// Returns the finding on a world that offers no tool, no prompt and no resource; none where it
/// does, or has an upstream, whose offers are its own.
pub(crate) fn nothing(
    resolve: &Resolve,
    world: &World,
    declaration: &Declaration,
) -> Option<Finding> {
    let upstream = contract::interface("upstream");
    let mut imports = world.imports.keys();
    if declaration.offers_something() || imports.any(|key| resolve.name_world_key(key) == upstream)
    {
        return None;
    }
    let exports = world
        .exports
        .iter()
        .filter(|(_, item)| !matches!(item, WorldItem::Type { .. }));
    let exports: Vec<_> = exports
        .map(|(key, _)| resolve.name_world_key(key))
        .collect();
    let (message, hint) = told(&exports);
    Some(Finding::error("component", message).hint(hint))
}

/// Returns the message on the exports that there are instead of offers, and a hint.
fn told(exports: &[String]) -> (String, String) {
    let contract = CONTRACT.split_once('@').map_or(CONTRACT, |(name, _)| name);
    let ours = |name: &str| {
        name.strip_prefix(contract)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    let find = |is: &dyn Fn(&str) -> bool| exports.iter().find(|name| is(name));
    if find(&|name| name.starts_with("wasi:cli/run@")).is_some() {
        return (
            "it offers nothing: it is a command, which a host would run once".into(),
            "build a library instead: in Rust, `crate-type = [\"cdylib\"]` in the table `[lib]` of Cargo.toml, and `dormouse_sdk::plugin!` in src/lib.rs instead of a `main`".into(),
        );
    }
    if let Some(name) = find(&|name| name.starts_with("dormouse:") && !ours(name)) {
        return (
            format!(
                "it offers nothing: `{name}` is in the namespace `dormouse`, whose exports are for the host"
            ),
            "give the WIT package a namespace of your own, like `example:greeter`".into(),
        );
    }
    if let Some(name) = find(&ours) {
        return (
            format!("it offers nothing: what `{name}` is there for is not declared"),
            "declare it: in Rust with `dormouse_sdk::adapter!`, in other languages with `dormouse pack --tools FILE` (or `--prompts`, `--resources`, `--templates`)".into(),
        );
    }
    if let Some(name) = find(&|name| name.starts_with("wasi:")) {
        return (
            format!("it offers nothing: `{name}` is for a host of another kind"),
            "export functions of your own: each is a tool".into(),
        );
    }
    if exports.is_empty() {
        return (
            "it offers nothing: its world exports nothing".into(),
            "export functions: each is a tool. In Rust, `dormouse_sdk::plugin!` exports those of a WIT world".into(),
        );
    }
    let names: Vec<_> = exports.iter().map(|name| format!("`{name}`")).collect();
    (
        format!(
            "it offers nothing: there is no tool in what it exports, {}",
            names.join(", ")
        ),
        "what is said of each of them tells why".into(),
    )
}
