//! Declarations for tests, and components that carry them.

use dormouse_wit::{Declaration, section, source};
use serde_json::{Value, json};

use super::typed;

/// A declaration of items without functions: pairs of a key and an MCP object, in
/// one of the lists.
pub(crate) fn with_items(list: &str, items: &[(&str, Value)]) -> Declaration {
    let items: Vec<_> = items
        .iter()
        .map(|(key, object)| json!({ "key": key, "object": object }))
        .collect();
    let declaration = json!({ "format": 1, "mapping": 1, "tools": [], list: items });
    serde_json::from_str(&declaration.to_string()).unwrap()
}

/// A declaration of tools without functions: pairs of a name and an MCP object.
pub(crate) fn by_name(tools: &[(&str, Value)]) -> Declaration {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, tool)| json!({ "name": name, "tool": tool }))
        .collect();
    let declaration = json!({ "format": 1, "mapping": 1, "tools": tools });
    serde_json::from_str(&declaration.to_string()).unwrap()
}

/// An MCP object that is in order.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "One.", "inputSchema": { "type": "object" } })
}

/// Returns the declaration of [`typed`], with a description.
pub(crate) fn words(description: &str) -> Declaration {
    let mut declaration = source::from_component(&typed()).unwrap().declaration;
    declaration.description = Some(description.to_owned());
    for tool in &mut declaration.tools {
        let mut object: Value = serde_json::from_str(tool.tool.get()).unwrap();
        object["description"] = Value::from("One.");
        tool.tool = serde_json::value::to_raw_value(&object).unwrap();
    }
    declaration
}

/// The component with the declaration right behind its preamble.
pub(crate) fn front(component: &[u8], declaration: &Declaration) -> Vec<u8> {
    section::insert(component, &section::encode(declaration).unwrap()).unwrap()
}

/// The component with the section's content in a section at its end.
pub(crate) fn back(component: &[u8], content: &[u8]) -> Vec<u8> {
    // What `insert` puts behind the preamble is the same anywhere else.
    let packed = section::insert(component, content).unwrap();
    let added = packed.len() - component.len();
    [component, &packed[8..8 + added]].concat()
}
