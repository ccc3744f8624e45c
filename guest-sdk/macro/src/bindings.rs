//! Bindings that wit-bindgen makes of a plugin's world.

use std::path::PathBuf;

use dormouse_wit::contract;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Ident, LitStr, Result};
use wit_bindgen_core::wit_parser::{
    LiveTypes, Resolve, TypeDefKind, World, WorldId, WorldItem, WorldKey,
};
use wit_bindgen_core::{Files, WorldGenerator as _};
use wit_bindgen_rust::{Opts, WithOption};

use crate::{export_names, serialized_types};

/// Interfaces of the contract that the SDK has types and functions for, with their modules. A
/// plugin that imports one gets those rather than a second copy, so that its `content` *is*
/// `dormouse_sdk::types::Content`.
const SHARED: [(&str, &str); 5] = [
    ("types", "::dormouse_sdk::types"),
    ("call", "::dormouse_sdk::bindings::dormouse::plugin::call"),
    (
        "client",
        "::dormouse_sdk::bindings::dormouse::plugin::client",
    ),
    (
        "notify",
        "::dormouse_sdk::bindings::dormouse::plugin::notify",
    ),
    (
        "settings",
        "::dormouse_sdk::bindings::dormouse::plugin::settings",
    ),
];

/// Generates the bindings of a world and the export of `component`.
///
/// # Errors
/// The WIT does not parse, or there can be no bindings of it.
pub(crate) fn expand(
    paths: &[PathBuf],
    world: Option<&str>,
    component: &Ident,
    span: Span,
) -> Result<TokenStream> {
    let fail = |error: &dyn std::fmt::Display| Error::new(span, error.to_string());
    let mut found = found(paths, world).map_err(|error| fail(&error))?;
    let code = generate(&mut found).map_err(|error| fail(&error))?;
    let files = found.files.iter().map(|file| file.to_str().ok_or(file));
    let files = files
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|path| fail(&format!("the path `{}` is not UTF-8", path.display())))?;
    let files = files.into_iter().map(|file| LitStr::new(file, span));
    let interfaces = found.interfaces.iter().map(|path| syn::parse_str(path));
    let interfaces = interfaces.collect::<Result<Vec<TokenStream>>>()?;
    let completion = found.completes.then(|| completion(component));
    Ok(quote! {
        // A module of its own, so that the generated code is not held to the
        // lints of the author's.
        #[allow(
            missing_docs,
            unreachable_pub,
            unsafe_code,
            unused,
            clippy::all,
            clippy::pedantic,
            clippy::restriction
        )]
        mod dormouse_bindings {
            use super::#component;
            // Named here so that cargo builds again, and with it this macro runs again, when
            // one changes.
            #(const _: &[u8] = include_bytes!(#files);)*
            #code
            __export_dormouse_plugin!(#component);
            // So that authors write `tools::Guest`. A module of their own that has the
            // name of an interface is nearer, and hides it.
            #(pub use self::exports::#interfaces;)*
            #completion
        }
        #[allow(unused_imports)]
        use dormouse_bindings::*;
    })
}

/// Generates the bindings; each function of the world itself gets an export name of its own.
fn generate(found: &mut Found) -> std::result::Result<TokenStream, String> {
    let with = found.shared.iter();
    let with =
        with.map(|(interface, module)| (interface.clone(), WithOption::Path((*module).to_owned())));
    let (of_types, of_members) = serialized_types::attributes(&found.resolve, found.world);
    let options = Opts {
        additional_type_attributes: of_types,
        additional_member_attributes: of_members,
        runtime_path: Some("::dormouse_sdk::private::wit_bindgen::rt".to_owned()),
        export_macro_name: Some("__export_dormouse_plugin".to_owned()),
        with: with.collect(),
        generate_all: true,
        ..Opts::default()
    };
    let mut files = Files::default();
    options
        .build()
        .generate(&mut found.resolve, found.world, &mut files)
        .map_err(|error| format!("{error:#}"))?;
    let (_, code) = files.iter().next().ok_or("there are no bindings")?;
    let code = std::str::from_utf8(code).map_err(|error| error.to_string())?;
    let code: TokenStream = code.parse().map_err(|error| format!("{error}"))?;
    Ok(export_names::renamed(code, &found.functions))
}

/// Completes arguments by the SDK's own trait, which `adapter!` takes, too.
fn completion(component: &Ident) -> TokenStream {
    quote! {
        const _: () = {
            use self::exports::dormouse::plugin::completion::{Completions, Guest, Reference};

            impl Guest for #component {
                fn complete(
                    of: Reference,
                    argument: ::std::string::String,
                    value: ::std::string::String,
                    context: ::std::vec::Vec<(::std::string::String, ::std::string::String)>,
                ) -> ::std::result::Result<Completions, ::std::string::String> {
                    let of = match of {
                        Reference::Prompt(name) => ::dormouse_sdk::Reference::Prompt(name),
                        Reference::Template(uri) => ::dormouse_sdk::Reference::Template(uri),
                    };
                    <#component as ::dormouse_sdk::Completion>::complete(
                        of, argument, value, context,
                    )
                    .map(|all| Completions {
                        values: all.values,
                        total: all.total,
                        has_more: all.has_more,
                    })
                }
            }
        };
    }
}

/// Facts about a world that its bindings need.
struct Found {
    /// WIT that was read, and the world in it.
    resolve: Resolve,
    world: WorldId,
    /// The files that were read.
    files: Vec<PathBuf>,
    /// The functions that the world itself exports.
    functions: Vec<String>,
    /// Interfaces of the contract that it imports, each with its module: wit-bindgen refuses a
    /// mapping that it finds no use for.
    shared: Vec<(String, &'static str)>,
    /// The modules of the interfaces that it exports, below `exports`.
    interfaces: Vec<String>,
    /// Whether it exports the contract's `completion`.
    completes: bool,
}

fn found(paths: &[PathBuf], world: Option<&str>) -> std::result::Result<Found, String> {
    let mut resolve = Resolve::default();
    let mut main = None;
    let mut files = Vec::new();
    for path in paths {
        let (package, read) = resolve
            .push_path(path)
            .map_err(|error| format!("{error:#}"))?;
        main = Some(package);
        files.extend(read.paths().map(ToOwned::to_owned));
    }
    let main = main.ok_or("no WIT")?;
    let id = resolve
        .select_world(&[main], world)
        .map_err(|error| format!("{error:#}"))?;
    let world = resolve.worlds.get(id).ok_or("no world")?;
    let mut shared = Vec::new();
    for (key, item) in &world.imports {
        if !matches!(item, WorldItem::Interface { .. }) {
            continue;
        }
        let name = resolve.name_world_key(key);
        let known = SHARED
            .iter()
            .find(|(known, _)| name == contract::interface(known));
        shared.extend(known.map(|(_, module)| (name, *module)));
    }
    let mut live = LiveTypes::default();
    live.add_world(&resolve, id);
    for ty in live.iter() {
        let kind = match resolve.types.get(ty).map(|ty| &ty.kind) {
            Some(TypeDefKind::Stream(_)) => "stream",
            Some(TypeDefKind::Future(_)) => "future",
            _ => continue,
        };
        return Err(format!(
            "the world `{}` has a `{kind}` in it, which this SDK has no bindings for\nhint: leave out what takes or returns one: it would be no tool either",
            world.name
        ));
    }
    let exported = world.exports.values().filter_map(|item| match item {
        WorldItem::Function(function) => Some(function.name.clone()),
        _ => None,
    });
    Ok(Found {
        shared,
        interfaces: interfaces(&resolve, world),
        completes: world
            .exports
            .keys()
            .any(|key| resolve.name_world_key(key) == contract::interface("completion")),
        functions: exported.collect(),
        world: id,
        files,
        resolve,
    })
}

/// Returns the modules that wit-bindgen makes of the interfaces which a world exports, of those
/// whose names are clear without their packages.
fn interfaces(resolve: &Resolve, world: &World) -> Vec<String> {
    let mut modules: Vec<(String, String)> = Vec::new();
    for (key, item) in &world.exports {
        let WorldItem::Interface { id, .. } = item else {
            continue;
        };
        let interface = resolve.interfaces.get(*id);
        let Some(package) = interface
            .and_then(|interface| interface.package)
            .and_then(|package| resolve.packages.get(package))
        else {
            continue;
        };
        let (module, path) = match key {
            WorldKey::Name(name) => (ident(name), ident(name)),
            WorldKey::Interface(_) => {
                let Some(name) = interface.and_then(|interface| interface.name.as_deref()) else {
                    continue;
                };
                let path = [&package.name.namespace, &package.name.name, name].map(ident);
                (ident(name), path.join("::"))
            }
        };
        modules.push((module, path));
    }
    // Of two versions of a package, the modules have the version in their names, too.
    let versions = |path: &str| {
        let names = resolve.packages.iter().map(|(_, package)| {
            format!(
                "{}::{}",
                ident(&package.name.namespace),
                ident(&package.name.name)
            )
        });
        names
            .filter(|name| path.starts_with(&format!("{name}::")))
            .count()
    };
    // Beside them are the modules of packages, and wit-bindgen's own.
    let beside = |module: &str| {
        let mut packages = resolve.packages.iter();
        matches!(module, "exports" | "std" | "core" | "alloc")
            || packages.any(|(_, package)| ident(&package.name.namespace) == module)
    };
    let twice = |module: &str| modules.iter().filter(|(other, _)| other == module).count() > 1;
    modules
        .iter()
        .filter(|(module, path)| !beside(module) && !twice(module) && versions(path) <= 1)
        .map(|(_, path)| path.clone())
        .collect()
}

/// Returns the name that wit-bindgen gives to a module.
fn ident(kebab: &str) -> String {
    let name = kebab.replace('-', "_").to_ascii_lowercase();
    // A keyword has a `_` behind it there.
    match syn::parse_str::<Ident>(&name) {
        Ok(_) => name,
        Err(_) => name + "_",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each plugin that compiles proves wit-bindgen's own names for them.
    #[test]
    fn interfaces_are_called_by_their_names_where_these_are_clear() {
        let folder = tempfile::tempdir().unwrap();
        let wit = "package a:b@1.0.0;
            interface more-tools { f: func(); }
            interface %type { f: func(); }
            interface std { f: func(); }
            interface a { f: func(); }
            interface twice { f: func(); }
            world w {
                export more-tools;
                export %type;
                export std;
                export a;
                export twice;
                export c:d/twice;
                export mine: interface { f: func(); }
            }";
        std::fs::create_dir(folder.path().join("deps")).unwrap();
        std::fs::write(folder.path().join("a.wit"), wit).unwrap();
        let other = "package c:d; interface twice { f: func(); }";
        std::fs::write(folder.path().join("deps/c.wit"), other).unwrap();
        let found = found(&[folder.path().to_owned()], None).unwrap();
        assert_eq!(
            found.interfaces,
            ["a::b::more_tools", "a::b::type_", "mine"]
        );
        assert!(!found.completes);
    }
}
