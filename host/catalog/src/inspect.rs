//! Inspection of a component, from its bytes.

use dormouse_wit::{Declaration, source};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wit_parser::decoding::DecodedWasm;
use wit_parser::{TypeDefKind, TypeId, WorldItem};

use crate::component::listing;
use crate::types::print;
use crate::{Problem, Provenance};

/// Output of `dormouse inspect`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Inspection {
    /// Size of the file, in bytes.
    pub size: usize,
    /// SHA-256 digest of the file, in hexadecimal.
    pub sha256: String,
    /// Place of the declaration.
    pub provenance: Provenance,
    /// The declaration.
    pub declaration: Declaration,
    /// Names of its imports.
    pub imports: Vec<String>,
    /// Names of its exports.
    pub exports: Vec<String>,
    /// Its interface as WIT.
    pub wit: String,
}

/// Inspects a component.
///
/// # Errors
/// The bytes are no component, or its declaration is damaged.
pub(crate) fn inspect(bytes: &[u8]) -> Result<Inspection, Problem> {
    let listing = listing::bytes(bytes)?;
    let damaged = |message: String| Problem::Declaration { message };
    let decoded = source::decode(bytes).map_err(damaged)?;
    let DecodedWasm::Component(resolve, world) = &decoded else {
        return Err(Problem::WitPackage);
    };
    let (mut imports, mut exports) = (Vec::new(), Vec::new());
    if let Some(world) = resolve.worlds.get(*world) {
        imports.extend(world.imports.keys().map(|key| resolve.name_world_key(key)));
        exports.extend(world.exports.keys().map(|key| resolve.name_world_key(key)));
    }
    let wit = print(&decoded).map_err(damaged)?;
    let digest = Sha256::digest(bytes);
    Ok(Inspection {
        size: bytes.len(),
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        provenance: listing.provenance,
        declaration: listing
            .declaration()
            .map_err(|error| damaged(error.to_string()))?,
        imports,
        exports,
        wit,
    })
}

/// Returns the names of the functions, resources and interfaces that a component needs of its host.
/// No host has to offer imports of mere types.
pub(crate) fn needs(bytes: &[u8]) -> Result<Vec<String>, String> {
    let decoded = source::decode(bytes)?;
    let DecodedWasm::Component(resolve, world) = &decoded else {
        return Ok(Vec::new());
    };
    let resource = |id: &TypeId| {
        matches!(
            resolve.types.get(*id).map(|ty| &ty.kind),
            Some(TypeDefKind::Resource)
        )
    };
    let needed = |item: &WorldItem| match item {
        WorldItem::Function(_) => true,
        WorldItem::Type { id, .. } => resource(id),
        WorldItem::Interface { id, .. } => resolve.interfaces.get(*id).is_none_or(|interface| {
            !interface.functions.is_empty() || interface.types.values().any(resource)
        }),
    };
    let imports = resolve
        .worlds
        .get(*world)
        .into_iter()
        .flat_map(|world| &world.imports);
    Ok(imports
        .filter(|(_, item)| needed(item))
        .map(|(key, _)| resolve.name_world_key(key))
        .collect())
}
