//! The call of wit-bindgen that a plugin's author would otherwise write.

use std::path::PathBuf;

use dormouse_wit::contract;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Error, Ident, LitStr, Result};
use wit_parser::{Resolve, WorldItem};

/// The interfaces of the contract that the SDK has types and functions for, and
/// where. A plugin that imports one gets those rather than a second copy, so
/// that its `content` *is* `dormouse_sdk::types::Content`.
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

/// The bindings of a world and the export of `component`.
///
/// # Errors
/// When the WIT does not parse.
pub(crate) fn expand(
    paths: &[PathBuf],
    world: Option<&str>,
    component: &Ident,
    span: Span,
) -> Result<TokenStream> {
    let fail = |error: &dyn std::fmt::Display| Error::new(span, error.to_string());
    let (world, with) = shared(paths, world).map_err(|error| fail(&error))?;
    let with = with.iter().map(|(interface, module)| -> Result<_> {
        let module: syn::Path = syn::parse_str(module)?;
        Ok(quote!(#interface: #module))
    });
    let with = with.collect::<Result<Vec<_>>>()?;
    let paths = paths.iter().map(|path| path.to_str().ok_or(path));
    let paths = paths
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|path| fail(&format!("the path `{}` is not UTF-8", path.display())))?;
    let world = LitStr::new(&world, span);
    // wit-bindgen itself names every WIT file in an `include_bytes!`, so that
    // cargo builds again, and with it this macro runs again, when one changes.
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
            ::dormouse_sdk::private::wit_bindgen::generate!({
                path: [#(#paths),*],
                world: #world,
                runtime_path: "::dormouse_sdk::private::wit_bindgen::rt",
                export_macro_name: "__export_dormouse_plugin",
                with: { #(#with),* },
                generate_all,
            });
            __export_dormouse_plugin!(#component);
        }
        #[allow(unused_imports)]
        use dormouse_bindings::*;
    })
}

/// Interfaces of the contract by their full names, each with its module.
type Shared = Vec<(String, &'static str)>;

/// The world's full name, and which interfaces of the contract it imports, with
/// the module of each. wit-bindgen refuses a mapping that it finds no use for, so
/// they have to be known beforehand; and of several packages it wants to be told
/// which one the world is in.
fn shared(paths: &[PathBuf], world: Option<&str>) -> std::result::Result<(String, Shared), String> {
    let mut resolve = Resolve::default();
    let mut main = None;
    for path in paths {
        let pushed = resolve
            .push_path(path)
            .map_err(|error| format!("{error:#}"))?;
        main = Some(pushed.0);
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
    let package = world.package.unwrap_or(main);
    Ok((resolve.id_of_name(package, &world.name), shared))
}
