//! Declarations of a component, from its bytes.

use dormouse_wit::{section, source};
use wit_parser::decoding::DecodedWasm;

use super::contract_version::check_contract_version;
use super::damage::malformed;
use super::declaration::{declared, front};
use super::preamble::preamble;
use crate::error::Problem;
use crate::first_findings::first_findings;
use crate::{Listing, Provenance};

/// Reads the declarations of a component, all of whose bytes are given.
pub(crate) fn bytes(bytes: &[u8]) -> Result<Listing, Problem> {
    preamble(bytes, bytes.len() as u64)?;
    if front(bytes).is_some() {
        check_contract_version(bytes)?;
    }
    component(bytes)
}

/// Reads the declarations of bytes that begin as a component does.
pub(crate) fn component(bytes: &[u8]) -> Result<Listing, Problem> {
    match front(bytes).and_then(|(start, end)| bytes.get(start..end)) {
        Some(section) => declared(section, Provenance::Front),
        None => {
            check_contract_version(bytes)?;
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
