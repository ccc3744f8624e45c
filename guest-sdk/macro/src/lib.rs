//! The macros of `dormouse-sdk`: the bindings of a plugin, its exports and its
//! declaration section, all from one WIT folder.

mod adapter;
mod arguments;
mod bindings;
mod export_names;
mod plugin;
mod section;
mod serialized_types;

use proc_macro::TokenStream;

/// Makes a plugin of a type that implements the exports of a WIT world.
///
/// ```ignore
/// dormouse_sdk::plugin!(Greeter);
/// ```
///
/// reads the folder `wit` beside `Cargo.toml`, which has to hold one world. It
/// generates the bindings where it stands (`Guest` for the functions of the
/// world itself, `tools::Guest` for those of an interface `tools`), exports the
/// type as the component, and puts the declaration of its tools into the
/// component's `dormouse:declaration` section. A world that exports the
/// contract's `completion` wants `dormouse_sdk::Completion` implemented. The WIT may use
/// `dormouse:plugin` without a copy of it in `wit/deps`.
///
/// Another folder, or one world of several:
///
/// ```ignore
/// dormouse_sdk::plugin!(Greeter, path = "../wit", world = "greeter");
/// ```
///
/// Its records, enums and variants are `serde::Serialize`, as the JSON that agents write: with
/// the names that it has there, and without what is left out. Those are not in which there is a
/// `list<u8>`, flags, a `result`, a map or a type of the contract.
///
/// The plugin's name and version are those of its crate (less the prefix
/// `dormouse-plugin-`) where the WIT says nothing else.
#[proc_macro]
pub fn plugin(input: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(input as arguments::Plugin);
    plugin::expand(&arguments)
        .unwrap_or_else(|error| {
            let error = error.into_compile_error();
            // Without it the compiler would advise to add a crate of that name.
            quote::quote!(#error #[allow(unused)] mod dormouse_bindings {})
        })
        .into()
}

/// Makes a plugin of a type that answers for MCP's own objects, which are given in
/// files rather than in WIT.
///
/// ```ignore
/// dormouse_sdk::adapter!(Weather, tools = "tools.json");
/// ```
///
/// | argument | MCP objects | what the type implements |
/// |---|---|---|
/// | `tools = "…"` | `Tool` | `dormouse_sdk::Adapter` |
/// | `prompts = "…"` | `Prompt` | `dormouse_sdk::Prompts` |
/// | `resources = "…"` | `Resource` | `dormouse_sdk::Resources` |
/// | `templates = "…"` | `ResourceTemplate` | the same |
/// | `subscribe` | agents may subscribe to the resources | |
/// | `completion` | arguments are completed | `dormouse_sdk::Completion` |
///
/// A file, beside `Cargo.toml`, holds an array of such objects, or the reply to a
/// list request that has them in its member `tools`, `prompts`, `resources` or
/// `resourceTemplates`. Agents get to see each object as it is there, unknown members
/// included.
#[proc_macro]
pub fn adapter(input: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(input as arguments::Adapter);
    adapter::expand(&arguments)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Generates the bindings of the contract, for the SDK alone: the contract's WIT is not in the
/// SDK's own folder.
#[doc(hidden)]
#[proc_macro]
pub fn contract_bindings(options: TokenStream) -> TokenStream {
    let options = proc_macro2::TokenStream::from(options);
    let path = dormouse_wit::CONTRACT_DIR;
    quote::quote!(::wit_bindgen::generate!({ path: #path, #options });).into()
}
