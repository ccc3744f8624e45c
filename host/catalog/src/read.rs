//! One component file → its declarations, from its bytes alone.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use dormouse_files::ownership;
use dormouse_wit::{
    CONTRACT, Declaration, DeclaredItem, DeclaredTool, component_types, section, source,
};
use serde::Deserialize;
use wasmparser::{Parser, Payload, Validator, WasmFeatures};
use wit_parser::decoding::DecodedWasm;

use crate::error::{Problem, ReadError, words};
use crate::first_findings::first_findings;
use crate::read_process::{self, ReadCommand, ReadTask};
use crate::regular::open_regular_file;
use crate::round::Round;
use crate::{Entry, Listing, Provenance, Stamp};

/// Largest component that is read, in bytes.
pub const LIMIT: u64 = 512 << 20;

/// Largest declaration that is read, in bytes. Reading one takes several times as much memory.
const MAX_DECLARATION_BYTES: usize = 32 << 20;

/// The largest declaration that is read without a process of its own, in bytes: the tools of nearly
/// all servers take less.
const MAX_INLINE_DECLARATION_BYTES: usize = 256 << 10;

/// Bytes of a file that are read at first: a small section, or enough of a large one to know its
/// size.
const FIRST: usize = 4096;

/// Reads the declarations of the component in a file. `command` starts the process that reads what
/// may take much.
///
/// # Errors
/// The file is no component, or its declaration is unusable.
pub fn entry(path: &Path, command: ReadCommand) -> Result<Entry, ReadError> {
    let found = read(path, command, None).and_then(|(stamp, listing)| Ok((stamp, listing?)));
    let (stamp, listing) = found.map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })?;
    Ok(Entry {
        path: path.to_owned(),
        stamp,
        listing: listing.into(),
    })
}

/// Returns the metadata of a file that may be a component.
pub(crate) fn metadata(path: &Path) -> Result<Metadata, ReadError> {
    check(std::fs::metadata(path)).map_err(|problem| ReadError {
        path: path.to_owned(),
        problem,
    })
}

/// Reads a file's declaration, and the file's stamp at that time.
///
/// `round` limits what a process may take, where other files are read for the same start. The stamp
/// is also of a file that holds no usable declaration.
pub(crate) fn read(
    path: &Path,
    command: ReadCommand,
    round: Option<Round>,
) -> Result<(Stamp, Result<Listing, Problem>), Problem> {
    let file = open(path)?;
    let stamp = Stamp::of(&check(file.metadata())?);
    Ok((stamp, listing(file, stamp.size, command, round)))
}

/// Opens a file that may be a component.
pub(crate) fn open(path: &Path) -> Result<File, Problem> {
    // It says best what is wrong with what is no file.
    check(std::fs::metadata(path))?;
    let file = open_regular_file(path)?;
    ownership::check_program(path, &file.metadata()?)
        .map_err(|error| Problem::Others(error.to_string()))?;
    Ok(file)
}

fn check(metadata: io::Result<Metadata>) -> Result<Metadata, Problem> {
    let metadata = metadata.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Problem::Missing,
        _ => error.into(),
    })?;
    if metadata.is_dir() {
        return Err(Problem::Folder);
    }
    if !metadata.is_file() {
        return Err(Problem::Special);
    }
    if metadata.len() > LIMIT {
        return Err(Problem::TooLarge {
            size: metadata.len(),
            limit: LIMIT,
        });
    }
    Ok(metadata)
}

fn listing(
    mut file: File,
    size: u64,
    command: ReadCommand,
    round: Option<Round>,
) -> Result<Listing, Problem> {
    let mut bytes = Vec::with_capacity(FIRST);
    let mut first = (&mut file).take(FIRST as u64);
    first.read_to_end(&mut bytes)?;
    preamble(&bytes, size)?;
    let Some((start, end)) = front(&bytes) else {
        return read_process::in_process(command, ReadTask::Listing, file, round);
    };
    if end as u64 > size {
        return Err(Problem::Truncated { size });
    }
    small_enough(end - start)?;
    if end - start > MAX_INLINE_DECLARATION_BYTES {
        return read_process::in_process(command, ReadTask::Listing, file, round);
    }
    read_to(&mut file, &mut bytes, end as u64)?;
    let section = bytes.get(start..end).unwrap_or_default();
    declared(section, Provenance::Front)
}

/// Reads the declarations of a component, all of whose bytes are given.
pub(crate) fn bytes(bytes: &[u8]) -> Result<Listing, Problem> {
    preamble(bytes, bytes.len() as u64)?;
    if front(bytes).is_some() {
        contract(bytes)?;
    }
    component(bytes)
}

/// Reads the declarations of bytes that begin as a component does.
pub(crate) fn component(bytes: &[u8]) -> Result<Listing, Problem> {
    match front(bytes).and_then(|(start, end)| bytes.get(start..end)) {
        Some(section) => declared(section, Provenance::Front),
        None => {
            contract(bytes)?;
            whole(bytes, bytes.len() as u64)
        }
    }
}

fn whole(bytes: &[u8], size: u64) -> Result<Listing, Problem> {
    match section::find(bytes) {
        Ok(Some(section)) => declared(&section, Provenance::Section),
        Ok(None) => derived(bytes, size),
        Err(error) => Err(malformed(bytes, size, error.to_string())),
    }
}

/// Reads on until `bytes` holds the first `end` bytes of the file, or all of it.
fn read_to(file: &mut File, bytes: &mut Vec<u8>, end: u64) -> Result<(), Problem> {
    let held = bytes.len() as u64;
    file.seek(SeekFrom::Start(held))?;
    file.take(end.saturating_sub(held)).read_to_end(bytes)?;
    Ok(())
}

/// Checks that the first eight bytes are those of a component.
fn preamble(bytes: &[u8], size: u64) -> Result<(), Problem> {
    let Some((magic, rest)) = bytes.split_first_chunk::<4>() else {
        return Err(if bytes.is_empty() {
            Problem::Empty
        } else {
            not_wasm(bytes)
        });
    };
    if magic != b"\0asm" {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_start();
        return Err(
            if text.starts_with("(component") || text.starts_with("(module") {
                Problem::WasmText
            } else if text.starts_with("package ") || text.starts_with("///") {
                Problem::WitPackage
            } else {
                not_wasm(bytes)
            },
        );
    }
    match rest.first_chunk::<4>() {
        None => Err(Problem::Truncated { size }),
        // The version and the layer of a component (component model, Binary.md).
        Some([0x0d, 0, 1, 0]) => Ok(()),
        Some([1, 0, 0, 0]) => Err(Problem::CoreModule),
        Some(version) => Err(Problem::Encoding {
            version: u32::from_le_bytes(*version),
        }),
    }
}

fn not_wasm(bytes: &[u8]) -> Problem {
    let start = bytes.get(..bytes.len().min(16)).unwrap_or_default();
    Problem::NotWasm {
        start: start.escape_ascii().to_string(),
    }
}

/// Returns the range of the declaration's content, if its section is the file's first.
fn front(bytes: &[u8]) -> Option<(usize, usize)> {
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

fn small_enough(bytes: usize) -> Result<(), Problem> {
    if bytes > MAX_DECLARATION_BYTES {
        let message = format!("it has {bytes} bytes where {MAX_DECLARATION_BYTES} are allowed");
        return Err(Problem::Declaration { message });
    }
    Ok(())
}

fn declared(section: &[u8], provenance: Provenance) -> Result<Listing, Problem> {
    small_enough(section.len())?;
    let damaged = |message: String| Problem::Declaration { message };
    let declaration = declaration(section).map_err(|error| damaged(error.to_string()))?;
    Listing::new(declaration, provenance).map_err(|error| damaged(error.to_string()))
}

/// Decodes the declaration in a section's content. Each item in it must have one name only: agents
/// see that of its MCP object, and requests are looked up by the other.
pub(crate) fn declaration(section: &[u8]) -> Result<Declaration, dormouse_wit::Error> {
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

/// Derives the declaration of a component that has none from its types, without descriptions.
fn derived(bytes: &[u8], size: u64) -> Result<Listing, Problem> {
    let declared = source::from_component(bytes).map_err(|error| match source::decode(bytes) {
        Ok(DecodedWasm::WitPackage(..)) => Problem::WitPackage,
        _ => malformed(bytes, size, error.to_string()),
    })?;
    let skipped = first_findings(declared.findings);
    let mut listing = Listing::new(declared.declaration, Provenance::Derived).map_err(|error| {
        Problem::Declaration {
            message: error.to_string(),
        }
    })?;
    listing.skipped = skipped.iter().map(ToString::to_string).collect();
    Ok(listing)
}

/// Returns the fault of a component that could not be read: that of the validator, or the decoder's
/// message if the component is valid.
fn malformed(bytes: &[u8], size: u64, message: String) -> Problem {
    if component_types::copied_too_often(bytes) {
        return Problem::Declaration {
            message: component_types::too_often(),
        };
    }
    match Validator::new_with_features(WasmFeatures::all()).validate_all(bytes) {
        Ok(_) => Problem::Declaration {
            message: words(&message),
        },
        Err(error) => damage(bytes, size, &error),
    }
}

fn damage(bytes: &[u8], size: u64, error: &wasmparser::BinaryReaderError) -> Problem {
    // A section may also end too early within the file, so the message alone does not tell that the
    // file was cut off.
    if error.message().contains("unexpected end") && section::strip(bytes).is_err() {
        return Problem::Truncated { size };
    }
    Problem::Malformed {
        offset: error.offset(),
        message: words(error.message()),
    }
}

/// Refuses a component that is damaged, or of another version of the contract.
fn contract(bytes: &[u8]) -> Result<(), Problem> {
    let (ours, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    let refuse = |verb, name: &str, hint| Problem::Contract {
        verb: Cow::Borrowed(verb),
        name: words(name),
        offered: CONTRACT.into(),
        hint: Cow::Borrowed(hint),
    };
    let foreign = |name: &str| {
        let of_contract = name
            .strip_prefix(ours)
            .is_some_and(|rest| rest.starts_with('/'));
        of_contract
            && name
                .rsplit_once('@')
                .is_none_or(|(_, found)| found != version)
    };
    // No recursive reader may read such types.
    if let Some(offset) = component_types::nested_too_deep(bytes) {
        return Err(Problem::Malformed {
            offset,
            message: component_types::too_deep(),
        });
    }
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| damage(bytes, bytes.len() as u64, &error))?;
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports.into_iter().flatten() {
                    if foreign(import.name.name) {
                        return Err(refuse(
                            "imports",
                            import.name.name,
                            "update Dormouse, or build the plugin for this version",
                        ));
                    }
                }
            }
            Payload::ComponentExportSection(exports) if depth == 0 => {
                for export in exports.into_iter().flatten() {
                    if foreign(export.name.name) {
                        return Err(refuse(
                            "exports",
                            export.name.name,
                            "update Dormouse, or build the plugin for this version",
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
