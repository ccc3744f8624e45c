//! Attributes that make a plugin's types `Serialize`, as the JSON that agents write.

use std::collections::BTreeSet;

use dormouse_wit::source::json_name;
use wit_bindgen_core::wit_parser::{
    Docs, LiveTypes, Resolve, Type, TypeDef, TypeDefKind, TypeOwner, WorldId,
};

/// Attribute of a type or of one of its members, with what it belongs to, as wit-bindgen names it.
type Attribute = (String, String);

/// Returns the attributes of the types that a world uses, and those of their members.
pub(crate) fn attributes(resolve: &Resolve, world: WorldId) -> (Vec<Attribute>, Vec<Attribute>) {
    let mut live = LiveTypes::default();
    live.add_world(resolve, world);
    let mut seen = BTreeSet::new();
    let mut attributes = (Vec::new(), Vec::new());
    for def in live.iter().filter_map(|id| resolve.types.get(id)) {
        if let Some(path) = path(resolve, def)
            && is_plain(resolve, def)
            && seen.insert(path.clone())
        {
            add(&path, def, resolve, &mut attributes);
        }
    }
    attributes
}

/// Adds the attributes of one type. A JSON object has no members for what is left out.
fn add(
    path: &str,
    def: &TypeDef,
    resolve: &Resolve,
    (of_types, of_members): &mut (Vec<Attribute>, Vec<Attribute>),
) {
    let mut member = |wit: &str, docs: &Docs, more: &str| {
        let name = json_name(wit, docs.contents.as_deref());
        let attribute = format!("#[serde(rename = {name:?}{more})]");
        of_members.push((format!("{path}.{wit}"), attribute));
    };
    let container = match &def.kind {
        TypeDefKind::Record(record) => {
            for field in &record.fields {
                let more = match is_option(resolve, &field.ty) {
                    true => ", skip_serializing_if = \"::core::option::Option::is_none\"",
                    false => "",
                };
                member(&field.name, &field.docs, more);
            }
            ""
        }
        TypeDefKind::Enum(cases) => {
            for case in &cases.cases {
                member(&case.name, &case.docs, "");
            }
            ""
        }
        TypeDefKind::Variant(variant) => {
            for case in &variant.cases {
                member(&case.name, &case.docs, "");
            }
            ", tag = \"tag\", content = \"value\""
        }
        _ => return,
    };
    for attribute in [
        "#[derive(::dormouse_sdk::private::serde::Serialize)]".to_owned(),
        format!("#[serde(crate = \"::dormouse_sdk::private::serde\"{container})]"),
    ] {
        of_types.push((path.to_owned(), attribute));
    }
}

/// Returns a type's name with its interface, as wit-bindgen has it; none for a type of the contract,
/// which the SDK has already.
fn path(resolve: &Resolve, def: &TypeDef) -> Option<String> {
    let name = def.name.as_deref()?;
    match def.owner {
        TypeOwner::World(world) => Some(format!("{}/{name}", resolve.worlds.get(world)?.name)),
        TypeOwner::Interface(interface) => {
            let path = resolve.id_of(interface);
            let path = path.unwrap_or_default();
            (!path.is_empty() && !path.starts_with("dormouse:plugin/"))
                .then(|| format!("{path}/{name}"))
        }
        TypeOwner::None => None,
    }
}

/// Whether serde's JSON of a type, and of all that is in it, is the JSON of agents.
fn is_plain(resolve: &Resolve, def: &TypeDef) -> bool {
    let plain = |ty: &Type| match ty {
        Type::Id(id) => resolve
            .types
            .get(*id)
            .is_some_and(|def| is_plain(resolve, def)),
        Type::ErrorContext => false,
        _ => true,
    };
    if let TypeOwner::Interface(_) = def.owner
        && path(resolve, def).is_none()
    {
        return false;
    }
    match &def.kind {
        TypeDefKind::Record(record) => record.fields.iter().all(|field| plain(&field.ty)),
        TypeDefKind::Variant(variant) => {
            let mut types = variant.cases.iter().filter_map(|case| case.ty.as_ref());
            types.all(plain)
        }
        TypeDefKind::Enum(_) => true,
        TypeDefKind::Tuple(tuple) => tuple.types.iter().all(plain),
        TypeDefKind::Option(ty) | TypeDefKind::Type(ty) => plain(ty),
        TypeDefKind::List(Type::U8) => false,
        TypeDefKind::List(ty) => plain(ty),
        _ => false,
    }
}

/// Whether a type is an option, maybe by another name.
fn is_option(resolve: &Resolve, ty: &Type) -> bool {
    let Type::Id(id) = ty else { return false };
    match resolve.types.get(*id).map(|def| &def.kind) {
        Some(TypeDefKind::Option(_)) => true,
        Some(TypeDefKind::Type(ty)) => is_option(resolve, ty),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each plugin that compiles proves that there are such types and members.
    #[test]
    fn types_whose_json_is_that_of_agents_are_serialized() {
        let wit = "package a:b;
            interface tools {
                enum tone { kind, /// @name blunt-1
                    blunt }
                variant place { here, at(tuple<f64, f64>) }
                flags rights { see, change }
                type name = option<string>;
                record plain {
                    /// Name by which it is said.
                    /// @name toneOfIt
                    tone: list<tone>,
                    second-name: name,
                }
                record file { content: list<u8> }
                record user { rights: rights }
                record folder { files: list<file> }
                f: func(plain: plain, place: place, user: user, folder: folder);
            }
            world w { export tools; }";
        let mut resolve = Resolve::default();
        let package = resolve.push_str("a.wit", wit).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        let (of_types, of_members) = attributes(&resolve, world);
        let types: BTreeSet<_> = of_types.iter().map(|(path, _)| path.as_str()).collect();
        let expected = ["a:b/tools/place", "a:b/tools/plain", "a:b/tools/tone"];
        assert_eq!(types, BTreeSet::from(expected));
        for (member, expected) in [
            ("plain.tone", "#[serde(rename = \"toneOfIt\")]"),
            (
                "plain.second-name",
                "#[serde(rename = \"second_name\", skip_serializing_if = \"::core::option::Option::is_none\")]",
            ),
            ("tone.blunt", "#[serde(rename = \"blunt-1\")]"),
            ("place.at", "#[serde(rename = \"at\")]"),
        ] {
            let found = (format!("a:b/tools/{member}"), expected.to_owned());
            assert!(of_members.contains(&found), "{found:?} of {of_members:?}");
        }
    }
}
