//! Check that items declared without a function can be requested by name.

use dormouse_text::visible::first_names;
use dormouse_wit::error::{Finding, Severity};
use dormouse_wit::{Declaration, DeclaredItem, contract};
use wit_parser::{Function, Resolve};

use super::finding;
use crate::types;

/// An interface of the contract by which a host requests items by name.
struct ByName {
    interface: &'static str,
    function: &'static str,
    is_it: fn(&Resolve, &Function) -> bool,
    /// Use of the interface, for the message.
    what: &'static str,
    hint: &'static str,
}

const TOOLS: ByName = ByName {
    interface: "adapter",
    function: "call-tool",
    is_it: types::is_by_name,
    what: "tools without one are called",
    hint: "export the adapter (in Rust, with `dormouse_sdk::adapter!`), or declare the functions with `dormouse pack --wit`",
};

const PROMPTS: ByName = ByName {
    interface: "prompts",
    function: "get-prompt",
    is_it: types::is_by_name,
    what: "prompts without one are asked for",
    hint: "export it, or declare functions that are tagged `@prompt` with `dormouse pack --wit`",
};

const RESOURCES: ByName = ByName {
    interface: "resources",
    function: "read-resource",
    is_it: types::is_by_uri,
    what: "resources without one are read",
    hint: "export it, or declare functions that are tagged `@resource` with `dormouse pack --wit`",
};

/// Checks tools, prompts and resources that have no function of their own.
pub(super) fn by_name(bytes: &[u8], declared: &Declaration, findings: &mut Vec<Finding>) {
    let of = |items: &[DeclaredItem]| -> Vec<String> {
        let items = items.iter().filter(|item| item.function.is_none());
        items.map(|item| item.key.clone()).collect()
    };
    let tools = declared.tools.iter();
    let tools = tools.filter(|tool| tool.function.is_none());
    let tools = tools.map(|tool| tool.name.clone()).collect();
    let resources = [of(&declared.resources), of(&declared.templates)].concat();
    for (names, way) in [
        (tools, TOOLS),
        (of(&declared.prompts), PROMPTS),
        (resources, RESOURCES),
    ] {
        if names.is_empty() {
            continue;
        }
        // A component that cannot be decoded is reported elsewhere.
        let Ok(decoded) = dormouse_wit::source::decode(bytes) else {
            return;
        };
        let interface = contract::interface(way.interface);
        if types::exports(&decoded, &interface, way.function, way.is_it) {
            continue;
        }
        findings.push(finding(
            Severity::Error,
            "declaration",
            format!(
                "no function is declared for {}, and the component does not export `{interface}`, by which {}",
                first_names(&names),
                way.what
            ),
            Some(way.hint),
        ));
    }
}
