//! The declaration section, as code.

use std::env;
use std::path::PathBuf;

use dormouse_wit::{Declaration, section};
use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::{Error, Result};

/// Prefix that the name of a plugin's crate may have.
const PREFIX: &str = "dormouse-plugin-";

/// Returns the folder of the crate that is being compiled.
pub(crate) fn manifest_dir(span: Span) -> Result<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| {
            Error::new(
                span,
                "`CARGO_MANIFEST_DIR` is not set\nhint: build with cargo",
            )
        })
}

/// Names the declaration after its crate where it has no name of its own.
pub(crate) fn name_after_crate(declaration: &mut Declaration) {
    if declaration.name.is_none() {
        declaration.name = env::var("CARGO_PKG_NAME")
            .ok()
            .map(|name| name.strip_prefix(PREFIX).unwrap_or(&name).to_owned());
    }
    if declaration.version.is_none() {
        declaration.version = env::var("CARGO_PKG_VERSION").ok();
    }
}

/// Generates the static that the linker turns into the section.
pub(crate) fn expand(declaration: &Declaration, span: Span) -> Result<TokenStream> {
    let bytes = section::encode(declaration).map_err(|error| Error::new(span, error))?;
    let length = bytes.len();
    let bytes = Literal::byte_string(&bytes);
    let name = section::NAME;
    // Native builds (unit tests) leave it out: not every linker would take a
    // section of this name, and nobody would read it.
    Ok(quote! {
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[used]
            #[allow(unsafe_code)]
            #[unsafe(link_section = #name)]
            static DECLARATION: [u8; #length] = *#bytes;
        };
    })
}
