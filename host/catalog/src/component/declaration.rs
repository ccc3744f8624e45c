//! The section of a component that holds its declaration.

use std::borrow::Cow;

use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool, section};
use serde::Deserialize;

use crate::error::Problem;
use crate::{Listing, Provenance};

/// Largest declaration that is read, in bytes. Reading one takes several times as much memory.
pub(crate) const MAX_DECLARATION_BYTES: usize = 32 << 20;

/// Returns the range of the declaration's content, if its section is the file's first.
pub(crate) fn front(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut at = 8;
    if *bytes.get(at)? != 0 {
        return None;
    }
    at += 1;
    let length = leb(bytes, &mut at)?;
    let end = at.checked_add(length)?;
    let name = leb(bytes, &mut at)?;
    let start = at.checked_add(name)?;
    let named = bytes.get(at..start)? == section::NAME.as_bytes();
    (named && start <= end).then_some((start, end))
}

/// Reads an unsigned LEB128 number of at most 32 bits.
fn leb(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return usize::try_from(u32::try_from(number).ok()?).ok();
        }
    }
    None
}

pub(crate) fn small_enough(bytes: usize) -> Result<(), Problem> {
    if bytes > MAX_DECLARATION_BYTES {
        let message = format!("it has {bytes} bytes where {MAX_DECLARATION_BYTES} are allowed");
        return Err(Problem::Declaration { message });
    }
    Ok(())
}

pub(crate) fn declared(section: &[u8], provenance: Provenance) -> Result<Listing, Problem> {
    small_enough(section.len())?;
    let damaged = |message: String| Problem::Declaration { message };
    let declaration = decode_declaration(section).map_err(|error| damaged(error.to_string()))?;
    Listing::new(declaration, provenance).map_err(|error| damaged(error.to_string()))
}

/// Decodes the declaration in a section's content. Each item in it must have one name only: agents
/// see that of its MCP object, and requests are looked up by the other.
pub(crate) fn decode_declaration(section: &[u8]) -> Result<Declaration, dormouse_wit::Error> {
    #[derive(Deserialize)]
    struct NamedItem<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Resource<'a> {
        #[serde(borrow)]
        uri: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Template<'a> {
        #[serde(borrow)]
        uri_template: Cow<'a, str>,
    }
    let declaration = section::decode(section)?;
    for DeclaredTool { name, tool, .. } in &declaration.tools {
        let object = serde_json::from_str(tool.get());
        one_name("tool", "Tool", name, object.map(|NamedItem { name }| name))?;
    }
    for DeclaredItem { key, object, .. } in &declaration.prompts {
        let object = serde_json::from_str(object.get());
        one_name(
            "prompt",
            "Prompt",
            key,
            object.map(|NamedItem { name }| name),
        )?;
    }
    for DeclaredItem { key, object, .. } in &declaration.resources {
        let object = serde_json::from_str(object.get());
        let uri = object.map(|Resource { uri }| uri);
        one_name("resource", "Resource", key, uri)?;
    }
    for DeclaredItem { key, object, .. } in &declaration.templates {
        let object = serde_json::from_str(object.get());
        let template = object.map(|Template { uri_template }| uri_template);
        one_name("resource template", "ResourceTemplate", key, template)?;
    }
    Ok(declaration)
}

/// Compares the name of an item with the one in its MCP object.
fn one_name(
    what: &str,
    object: &str,
    name: &str,
    found: serde_json::Result<Cow<'_, str>>,
) -> Result<(), dormouse_wit::Error> {
    let wrong = |problem: String| {
        let message = format!("the {what} `{name}` {problem}");
        Err(dormouse_wit::Error::Section(message))
    };
    match found {
        Err(error) => wrong(format!("has no MCP {object} object: {error}")),
        Ok(found) if found != name => wrong(format!("is `{found}` in its MCP {object} object")),
        Ok(_) => Ok(()),
    }
}
