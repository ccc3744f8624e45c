//! Putting a declaration where it is found fastest: right behind the preamble.

use dormouse_wit::signature::same_signature;
use dormouse_wit::{Declaration, section, source};

use crate::read;

/// Why a component was not packed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PackError {
    #[error(transparent)]
    Wit(#[from] dormouse_wit::error::Error),
    #[error(
        "the declaration and the code disagree: {0}\nhint: give the WIT that the component was built from"
    )]
    Disagree(String),
}

/// The component with `declaration` in front; without one, with what it declares
/// already, or else with what its types tell.
///
/// # Errors
/// The bytes are no component, or the code is not what the declaration says.
pub fn pack(component: &[u8], declaration: Option<Declaration>) -> Result<Vec<u8>, PackError> {
    let exported = source::from_component(component)?.declaration;
    let declaration = match (declaration, section::find(component)?) {
        (Some(declaration), _) => declaration,
        (None, Some(found)) => read::declaration(&found)?,
        (None, None) => exported.clone(),
    };
    agree(&declaration, &exported).map_err(PackError::Disagree)?;
    Ok(section::insert(component, &section::encode(&declaration)?)?)
}

/// Whether everything declared is exported, with the signature that is declared.
pub(crate) fn agree(declared: &Declaration, exported: &Declaration) -> Result<(), String> {
    for tool in &declared.tools {
        let Some(function) = &tool.function else {
            continue;
        };
        let found = exported
            .tools
            .iter()
            .filter_map(|tool| tool.function.as_ref())
            .find(|found| found.export == function.export)
            .ok_or_else(|| {
                format!(
                    "tool `{}` is declared by `{}`, which is not exported",
                    tool.name, function.export
                )
            })?;
        same_signature(function, found)
            .map_err(|what| format!("tool `{}`, `{}`: {what}", tool.name, function.export))?;
    }
    Ok(())
}
