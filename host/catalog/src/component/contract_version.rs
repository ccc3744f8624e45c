//! The version of the contract that a component is built for.

use std::borrow::Cow;

use dormouse_wit::{CONTRACT, component_types};
use wasmparser::{Parser, Payload};

use super::damage::damage;
use crate::error::{Problem, words};

/// Refuses a component that is damaged, or of another version of the contract.
pub(super) fn check_contract_version(bytes: &[u8]) -> Result<(), Problem> {
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
