//! Types that belong to the contract.

use wit_parser::{Resolve, TypeDef, TypeOwner};

/// Returns the name of a type that belongs to a version of the contract that this crate knows.
pub(super) fn of_contract<'a>(resolve: &'a Resolve, def: &'a TypeDef) -> Option<&'a str> {
    // Most types are told from these by having no name, or no interface.
    let name = def.name.as_deref()?;
    let TypeOwner::Interface(owner) = def.owner else {
        return None;
    };
    let interface = resolve.interfaces.get(owner)?;
    if interface.name.as_deref() != Some("types") {
        return None;
    }
    let package = &resolve.packages.get(interface.package?)?.name;
    let version = package.version.as_ref()?;
    let ours = (&*package.namespace, &*package.name) == ("dormouse", "plugin")
        && (version.major, version.minor) == (0, 1);
    ours.then_some(name)
}
