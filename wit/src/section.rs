//! The declaration inside a `.wasm` file: the custom section
//! `dormouse:declaration`.
//!
//! The section is a sequence of fragments, each a little-endian `u32` length
//! and that many bytes of JSON. Linkers concatenate sections of one name, so a
//! reader has to find the seams by itself.
//!
//! A packed component has the section right behind its 8-byte preamble, where
//! two small reads find it. A component that a compiler just linked has it in
//! its core module, one level down. Sections of nested components belong to
//! those, not to the plugin, and are ignored.

use crate::declaration::{Declaration, FORMAT, MAPPING};
use crate::error::Error;

/// Name of the custom section.
pub const NAME: &str = "dormouse:declaration";

/// Length of the preamble in bytes: magic number, version and layer.
const PREAMBLE: usize = 8;
const COMPONENT: [u8; PREAMBLE] = *b"\0asm\x0d\0\x01\0";
const MODULE: [u8; PREAMBLE] = *b"\0asm\x01\0\0\0";

const CUSTOM_SECTION: u8 = 0;
const CORE_MODULE_SECTION: u8 = 1;

/// Encodes a declaration as the section's content: one fragment.
///
/// # Errors
/// The declaration cannot be written as JSON, or is longer than a `u32` can say.
pub fn encode(declaration: &Declaration) -> Result<Vec<u8>, Error> {
    let json =
        serde_json::to_vec(declaration).map_err(|error| Error::Section(error.to_string()))?;
    let length = u32::try_from(json.len())
        .map_err(|_| Error::Section(format!("{} bytes are too long for a fragment", json.len())))?;
    let mut section = length.to_le_bytes().to_vec();
    section.extend(json);
    Ok(section)
}

/// Decodes a section's content. Several fragments are merged: all their tools and grants in order,
/// the first name, version, title and description that there is, and one instance per session if
/// any asks so.
///
/// # Errors
/// The content is damaged, empty, or made for a newer Dormouse.
pub fn decode(section: &[u8]) -> Result<Declaration, Error> {
    let mut rest = section;
    let mut merged: Option<Declaration> = None;
    while !rest.is_empty() {
        let (length, after) = rest
            .split_first_chunk::<4>()
            .ok_or_else(|| Error::Section("it ends within a length".into()))?;
        let length = u32::from_le_bytes(*length) as usize;
        let (json, after) = after.split_at_checked(length).ok_or_else(|| {
            Error::Section(format!(
                "a fragment of `{length}` bytes has only `{}`",
                after.len()
            ))
        })?;
        let fragment = fragment(json)?;
        merged = Some(match merged {
            None => fragment,
            Some(first) => merge(first, fragment),
        });
        rest = after;
    }
    merged.ok_or_else(|| Error::Section("it is empty".into()))
}

fn fragment(json: &[u8]) -> Result<Declaration, Error> {
    // The version numbers are read first and alone: of a newer fragment nothing
    // else need make sense to us.
    #[derive(serde::Deserialize)]
    struct Versions {
        format: u32,
        mapping: u32,
    }
    let damaged = |error: serde_json::Error| Error::Section(error.to_string());
    let versions: Versions = serde_json::from_slice(json).map_err(damaged)?;
    for (what, found, known) in [
        ("format", versions.format, FORMAT),
        ("mapping", versions.mapping, MAPPING),
    ] {
        if found > known {
            return Err(Error::Newer { what, found, known });
        }
        if found == 0 {
            return Err(Error::Section(format!("`0` is no {what} version")));
        }
    }
    serde_json::from_slice(json).map_err(damaged)
}

fn merge(first: Declaration, second: Declaration) -> Declaration {
    fn both<T>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
        first.extend(second);
        first
    }
    Declaration {
        format: first.format,
        mapping: first.mapping,
        name: first.name.or(second.name),
        version: first.version.or(second.version),
        title: first.title.or(second.title),
        description: first.description.or(second.description),
        instance: first.instance.max(second.instance),
        grants: both(first.grants, second.grants),
        tools: both(first.tools, second.tools),
        prompts: both(first.prompts, second.prompts),
        resources: both(first.resources, second.resources),
        templates: both(first.templates, second.templates),
        completion: first.completion || second.completion,
    }
}

/// Returns the content of a component's declaration section, if it has one: the first at component
/// level, else that of its own core modules (all of them, one after the other, as a linker would
/// have done).
///
/// # Errors
/// The bytes are no component, or end in the middle of a section.
pub fn find(component: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let mut inner = Vec::new();
    for section in sections(component, COMPONENT)? {
        let section = section?;
        if let Some(content) = section.declaration() {
            return Ok(Some(content.to_vec()));
        }
        if section.id == CORE_MODULE_SECTION {
            for section in sections(section.content, MODULE)? {
                if let Some(content) = section?.declaration() {
                    inner.extend_from_slice(content);
                }
            }
        }
    }
    Ok((!inner.is_empty()).then_some(inner))
}

/// Returns the component with `section` as its declaration, right behind the preamble. Older copies
/// at component level are removed; one in a core module may stay, because [`find`] takes the front
/// one.
///
/// # Errors
/// The bytes are no component, or end in the middle of a section.
pub fn insert(component: &[u8], section: &[u8]) -> Result<Vec<u8>, Error> {
    let bare = strip(component)?;
    let (preamble, rest) = bare.split_at_checked(PREAMBLE).unwrap_or((&bare, &[]));
    let mut content = Vec::new();
    leb128(NAME.len(), &mut content);
    content.extend_from_slice(NAME.as_bytes());
    content.extend_from_slice(section);
    let mut packed = preamble.to_vec();
    packed.push(CUSTOM_SECTION);
    leb128(content.len(), &mut packed);
    packed.extend(content);
    packed.extend_from_slice(rest);
    Ok(packed)
}

/// Returns the component without any declaration section at component level.
///
/// # Errors
/// The bytes are no component, or end in the middle of a section.
pub fn strip(component: &[u8]) -> Result<Vec<u8>, Error> {
    let mut bare = COMPONENT.to_vec();
    for section in sections(component, COMPONENT)? {
        let section = section?;
        if section.declaration().is_none() {
            bare.extend_from_slice(section.whole);
        }
    }
    Ok(bare)
}

/// Checks that every section at component level is complete.
pub(crate) fn validate(component: &[u8]) -> Result<(), Error> {
    sections(component, COMPONENT)?.try_for_each(|section| section.map(|_| ()))
}

/// A section of a component or module.
struct Section<'a> {
    id: u8,
    content: &'a [u8],
    /// The content with the id and the length in front.
    whole: &'a [u8],
}

impl<'a> Section<'a> {
    /// Returns the content behind the name, if this is a declaration section.
    fn declaration(&self) -> Option<&'a [u8]> {
        if self.id != CUSTOM_SECTION {
            return None;
        }
        let (length, rest) = unsigned(self.content)?;
        let (name, content) = rest.split_at_checked(length)?;
        (name == NAME.as_bytes()).then_some(content)
    }
}

/// Walks over the sections of a component or module, reading lengths only.
fn sections(
    bytes: &[u8],
    preamble: [u8; PREAMBLE],
) -> Result<impl Iterator<Item = Result<Section<'_>, Error>>, Error> {
    let mut rest = match bytes.split_first_chunk::<PREAMBLE>() {
        Some((found, rest)) if *found == preamble => rest,
        Some((found, _)) if *found == MODULE => {
            return Err(Error::Component("this is a core module".into()));
        }
        _ => {
            return Err(Error::Component(
                "the first 8 bytes are not those of a component".into(),
            ));
        }
    };
    Ok(std::iter::from_fn(move || {
        let (&id, after) = rest.split_first()?;
        let section = unsigned(after).and_then(|(length, after)| {
            let (content, after) = after.split_at_checked(length)?;
            let whole = rest.get(..rest.len() - after.len())?;
            Some((Section { id, content, whole }, after))
        });
        let Some((section, after)) = section else {
            let error = Error::Component(format!(
                "section `{id}` is cut off, `{}` bytes before the end of the file",
                rest.len()
            ));
            rest = &[];
            return Some(Err(error));
        };
        rest = after;
        Some(Ok(section))
    }))
}

/// Reads an unsigned LEB128 number of at most 32 bits.
fn unsigned(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            let value = u32::try_from(value).ok()?;
            return Some((value as usize, bytes.get(index + 1..)?));
        }
    }
    None
}

fn leb128(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests;
