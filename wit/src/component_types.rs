//! Types of a component in their binary form, one by one, at any depth.
//!
//! `wasmparser` reads a type with all types nested in it recursively, so that a small file can take
//! all of a thread's stack, which ends the process.

use wasmparser::{BinaryReader, ComponentType, ComponentTypeDeclaration, Parser, Payload};

mod copied_parts;

use copied_parts::copied_parts;

/// Most levels of nested types that are read: as many as WebAssembly's tools take.
pub const MAX_NESTED_TYPES: usize = 100;

/// Most levels that are followed to find types. Something is kept of each, which takes more than the
/// level does in the component.
const MAX_FOLLOWED_LEVELS: usize = 1 << 20;

/// First bytes of the type of a component and of an instance.
const COMPONENT: u8 = 0x41;
const INSTANCE: u8 = 0x42;

/// First byte of the declaration of a type within a component or instance type.
const TYPE: u8 = 0x01;

/// Outcome of reading a type section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadTypes {
    /// Levels of component and instance types around the deepest type.
    pub depth: usize,
    /// Whether the section could be read to its end.
    pub is_whole: bool,
}

/// Calls `each` with every type of a component's type section that has no other types in it, at any
/// depth.
pub fn each_type(section: &[u8], mut each: impl FnMut(&ComponentType<'_>)) -> ReadTypes {
    let mut depth = 0;
    let is_whole = read(section, &mut depth, &mut each).is_some();
    ReadTypes { depth, is_whole }
}

fn read(
    section: &[u8],
    depth: &mut usize,
    each: &mut impl FnMut(&ComponentType<'_>),
) -> Option<()> {
    let mut reader = BinaryReader::new(section, 0);
    // How many are to come: of the section, and of each type that the next one is in.
    let mut open = vec![reader.read_var_u32().ok()?];
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        if open.len() > 1 {
            if reader.clone().read_u8().ok()? != TYPE {
                reader.read::<ComponentTypeDeclaration<'_>>().ok()?;
                continue;
            }
            reader.read_u8().ok()?;
        }
        if matches!(reader.clone().read_u8().ok()?, COMPONENT | INSTANCE) {
            reader.read_u8().ok()?;
            *depth = open.len().max(*depth);
            if open.len() > MAX_FOLLOWED_LEVELS {
                return None;
            }
            open.push(reader.read_var_u32().ok()?);
        } else {
            each(&reader.read().ok()?);
        }
    }
    Some(())
}

/// Returns the offset of the type section in which types are nested more than [`MAX_NESTED_TYPES`]
/// levels deep, if there is one.
#[must_use]
pub fn nested_too_deep(component: &[u8]) -> Option<usize> {
    let payloads = Parser::new(0).parse_all(component).map_while(Result::ok);
    let mut sections = payloads.filter_map(|payload| match payload {
        Payload::ComponentTypeSection(section) => Some(section.range()),
        _ => None,
    });
    let too_deep = sections.find(|range| {
        let section = component.get(range.clone()).unwrap_or_default();
        each_type(section, |_| {}).depth > MAX_NESTED_TYPES
    });
    too_deep.map(|range| range.start)
}

/// Returns the error text for a component whose types are [nested too deep](nested_too_deep).
#[must_use]
pub fn too_deep() -> String {
    format!("its types are nested more than {MAX_NESTED_TYPES} levels deep")
}

/// Most bytes of types that are compared because components are instantiated: the bytes of all
/// types, times the number of instances.
const MAX_COMPARED_BYTES: u64 = 4 << 20;

/// Most parts of types that are copied while the types of a component are read: each takes up to 2
/// KiB. Components of known toolchains have less than two thousand.
pub const MAX_COPIED_PARTS: u64 = 100_000;

/// Checks whether a component has so many types in one another, or instantiates so many components
/// with so many types, that reading its types would take far more memory and time than its size
/// suggests.
#[must_use]
pub fn copied_too_often(component: &[u8]) -> bool {
    let (mut instances, mut bytes) = (0_u64, 0_u64);
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        let range = match payload {
            Payload::ComponentInstanceSection(section) => {
                instances += u64::from(section.count());
                section.range()
            }
            Payload::ComponentTypeSection(section) => section.range(),
            Payload::ComponentImportSection(section) => section.range(),
            Payload::ComponentExportSection(section) => section.range(),
            Payload::ComponentAliasSection(section) => section.range(),
            _ => continue,
        };
        bytes += range.len() as u64;
    }
    instances.saturating_mul(bytes) > MAX_COMPARED_BYTES
        || nested_too_deep(component).is_some()
        || copied_parts(component, MAX_COPIED_PARTS) > MAX_COPIED_PARTS
}

/// Returns the error text for a component whose types are [copied too often](copied_too_often).
#[must_use]
pub fn too_often() -> String {
    "it has so many types in one another, or instantiates so many components with so many types, \
     that reading them would take too long"
        .to_owned()
}

#[cfg(test)]
mod tests;
