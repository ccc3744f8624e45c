//! `adapter!`: exports and declaration of a plugin whose tools, prompts and resources
//! are given as MCP's own objects.

use dormouse_wit::{Declaration, Offers};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, LitStr, Result};

use crate::arguments::Adapter;
use crate::section;

pub(crate) fn expand(arguments: &Adapter) -> Result<TokenStream> {
    let component = &arguments.component;
    let mut declaration = Declaration {
        completion: arguments.completion,
        ..Declaration::default()
    };
    let mut code = TokenStream::new();
    for (what, file) in &arguments.files {
        let span = file.span();
        let path = section::manifest_dir(span)?.join(file.value());
        let fail = |what: String| Error::new(span, format!("`{}`: {what}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| fail(error.to_string()))?;
        what.declare(&text, arguments.subscribe, &mut declaration)
            .map_err(fail)?;
        let file = LitStr::new(&path.to_string_lossy(), span);
        // Named here so that cargo builds again when it changes.
        code.extend(quote!(
            const _: &[u8] = include_bytes!(#file);
        ));
    }
    section::name_after_crate(&mut declaration);
    let any = |wanted: &[Offers]| {
        let mut files = arguments.files.iter();
        files.any(|(what, _)| wanted.contains(what))
    };
    if any(&[Offers::Tools]) {
        code.extend(quote! {
            ::dormouse_sdk::bindings::export_adapter!(
                #component with_types_in ::dormouse_sdk::bindings
            );
        });
    }
    if any(&[Offers::Prompts]) {
        code.extend(quote! {
            ::dormouse_sdk::bindings::prompts::export_prompts!(
                #component with_types_in ::dormouse_sdk::bindings::prompts
            );
        });
    }
    if any(&[Offers::Resources, Offers::Templates]) {
        code.extend(quote! {
            ::dormouse_sdk::bindings::resources::export_resources!(
                #component with_types_in ::dormouse_sdk::bindings::resources
            );
        });
    }
    if arguments.completion {
        code.extend(quote! {
            ::dormouse_sdk::bindings::completion::export_completion!(
                #component with_types_in ::dormouse_sdk::bindings::completion
            );
        });
    }
    code.extend(section::expand(&declaration, component.span())?);
    Ok(code)
}
