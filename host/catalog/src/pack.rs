//! Packing: moving a declaration right behind the preamble, where it is found fastest.

use dormouse_wit::signature::same_signature;
use dormouse_wit::{Declaration, Function, contract, section, source};

use crate::component::declaration::decode_declaration;

/// Reason for which a component was not packed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum PackError {
    #[error(transparent)]
    Wit(#[from] dormouse_wit::error::Error),
    #[error(
        "the declaration and the code disagree: {0}\nhint: give the WIT that the component was built from"
    )]
    Disagree(String),
    #[error("{0}")]
    Nothing(String),
}

/// Returns the component with `declaration` in front; without one, with the declaration that it has
/// already, or else with one derived from its types.
///
/// # Errors
/// The bytes are no component, the code differs from the declaration, or there is nothing to
/// declare.
pub fn pack(component: &[u8], declaration: Option<Declaration>) -> Result<Vec<u8>, PackError> {
    let code = source::from_component(component)?;
    let exported = code.declaration;
    let declaration = match (declaration, section::find(component)?) {
        (Some(declaration), _) => declaration,
        (None, Some(found)) => decode_declaration(&found)?,
        (None, None) => exported.clone(),
    };
    agree(&declaration, &exported).map_err(PackError::Disagree)?;
    if let Some(nothing) = code.nothing.filter(|_| !declaration.offers_something()) {
        return Err(PackError::Nothing(nothing.told()));
    }
    Ok(section::insert(component, &section::encode(&declaration)?)?)
}

/// Checks that everything declared is exported, with the declared signature.
pub(crate) fn agree(declared: &Declaration, exported: &Declaration) -> Result<(), String> {
    let all: Vec<_> = functions(exported).collect();
    for (what, function) in functions(declared) {
        let (_, found) = all
            .iter()
            .find(|(_, found)| found.export == function.export)
            .ok_or_else(|| {
                let export = &function.export;
                format!("{what} is declared by `{export}`, which is not exported")
            })?;
        same_signature(function, found)
            .map_err(|difference| format!("{what}, `{}`: {difference}", function.export))?;
    }
    if declared.completion && !exported.completion {
        let completion = contract::interface("completion");
        return Err(format!(
            "it says that arguments are completed, and `{completion}` is not exported"
        ));
    }
    Ok(())
}

/// Returns the functions behind all declared items, each with its item, like "tool `add`".
pub(crate) fn functions(declaration: &Declaration) -> impl Iterator<Item = (String, &Function)> {
    let tools = declaration.tools.iter();
    let tools = tools.map(|tool| ("tool", &tool.name, &tool.function));
    let items = [
        ("prompt", &declaration.prompts),
        ("resource", &declaration.resources),
        ("resource template", &declaration.templates),
    ];
    let items = items.into_iter().flat_map(|(what, items)| {
        items
            .iter()
            .map(move |item| (what, &item.key, &item.function))
    });
    tools
        .chain(items)
        .filter_map(|(what, name, function)| Some((format!("{what} `{name}`"), function.as_ref()?)))
}
