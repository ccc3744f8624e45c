//! The names by which functions are exported to the linker.
//!
//! A function `read` of a world is `read` to the linker as wit-bindgen names it, and so is that of
//! C's library, below every standard library: one of them is called in the other's place, or the
//! linker refuses both. The component model has other names for the same functions, which no
//! library has; the tool that makes a component of a core module takes either.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Token, parenthesized};

/// Prefix of every name of the component model's own scheme.
const PREFIX: &str = "cm32p2";

/// Renames the exports of these functions of a world in generated code. Natively, where an author's
/// tests run, they are not exported: C's library is there, too.
pub(crate) fn renamed(code: TokenStream, functions: &[String]) -> TokenStream {
    let rename = |token| {
        let TokenTree::Group(group) = token else {
            return token;
        };
        let stream = match exported(&group, functions) {
            Some(name) => quote!(cfg_attr(target_family = "wasm", unsafe(export_name = #name))),
            None => renamed(group.stream(), functions),
        };
        let mut inner = Group::new(group.delimiter(), stream);
        inner.set_span(group.span());
        TokenTree::Group(inner)
    };
    code.into_iter().map(rename).collect()
}

/// `unsafe(export_name = "…")`, as wit-bindgen writes it.
struct ExportName(LitStr);

impl Parse for ExportName {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![unsafe]>()?;
        let content;
        parenthesized!(content in input);
        let name: syn::Ident = content.parse()?;
        if name != "export_name" {
            return Err(content.error("another attribute"));
        }
        content.parse::<Token![=]>()?;
        content.parse().map(Self)
    }
}

/// Returns the other name of the export of an attribute, if it is one of the functions.
fn exported(attribute: &Group, functions: &[String]) -> Option<String> {
    if attribute.delimiter() != Delimiter::Bracket {
        return None;
    }
    let ExportName(name) = syn::parse2(attribute.stream()).ok()?;
    standard_name(&name.value(), functions)
}

/// Returns the name in the component model's own scheme for one in the older scheme.
fn standard_name(name: &str, functions: &[String]) -> Option<String> {
    let is_one = |name: &str| functions.iter().any(|function| function == name);
    if is_one(name) {
        return Some(format!("{PREFIX}||{name}"));
    }
    // What frees the result of a function, once it has been read.
    let of = name.strip_prefix("cabi_post_")?;
    is_one(of).then(|| format!("{PREFIX}||{of}_post"))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn functions_of_the_world_are_renamed_and_nothing_else() {
        let code = quote! {
            macro_rules! export {
                ($ty:ident) => {
                    #[unsafe(export_name = "read")]
                    unsafe extern "C" fn export_read() {}
                    #[unsafe(export_name = "cabi_post_read")]
                    unsafe extern "C" fn post_read() { "read" }
                    #[unsafe(export_name = "a:b/c#read")]
                    unsafe extern "C" fn other_read(read: i32) { let read = "read"; }
                    #[unsafe(export_name = "cabi_post_write")]
                    unsafe extern "C" fn post_write() {}
                };
            }
        };
        let expected = quote! {
            macro_rules! export {
                ($ty:ident) => {
                    #[cfg_attr(target_family = "wasm", unsafe(export_name = "cm32p2||read"))]
                    unsafe extern "C" fn export_read() {}
                    #[cfg_attr(target_family = "wasm", unsafe(export_name = "cm32p2||read_post"))]
                    unsafe extern "C" fn post_read() { "read" }
                    #[unsafe(export_name = "a:b/c#read")]
                    unsafe extern "C" fn other_read(read: i32) { let read = "read"; }
                    #[unsafe(export_name = "cabi_post_write")]
                    unsafe extern "C" fn post_write() {}
                };
            }
        };
        let renamed = renamed(code, &["read".to_owned()]);
        assert_eq!(renamed.to_string(), expected.to_string());
    }
}
