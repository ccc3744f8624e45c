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

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = r#"{
        "tools": [{ "name": "t", "inputSchema": {} }],
        "prompts": [{ "name": "p" }],
        "resources": [{ "uri": "a:b", "name": "r" }]
    }"#;

    /// Expands arguments in which `FILE` is a file with this text.
    fn expanded(text: &str, arguments: &str) -> std::result::Result<String, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().display().to_string();
        let arguments = arguments.replace("FILE", &path);
        let code = syn::parse_str(&arguments).and_then(|arguments| expand(&arguments));
        code.map(|code| code.to_string())
            .map_err(|error| error.to_string().replace(&path, "FILE"))
    }

    #[test]
    fn only_what_is_declared_is_exported() {
        for (arguments, exported) in [
            ("Shelf, tools = \"FILE\"", &["export_adapter"][..]),
            ("Shelf, prompts = \"FILE\"", &["export_prompts"]),
            (
                "Shelf, prompts = \"FILE\", resources = \"FILE\", subscribe, completion",
                &["export_prompts", "export_resources", "export_completion"],
            ),
        ] {
            let code = expanded(ALL, arguments).unwrap();
            for name in [
                "export_adapter",
                "export_prompts",
                "export_resources",
                "export_completion",
            ] {
                assert_eq!(code.contains(name), exported.contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn what_no_agent_could_use_does_not_compile() {
        for (text, arguments, expected) in [
            ("[]", "Shelf, tools = \"FILE.none\"", "`FILE.none`: "),
            (
                "[{\"name\":\"t\"}]",
                "Shelf, tools = \"FILE\"",
                "`FILE`: Tool `t` has no `inputSchema` object",
            ),
            (
                ALL,
                "Shelf, templates = \"FILE\"",
                "`FILE`: it is no array of MCP ResourceTemplate objects, and has none as its member `resourceTemplates`",
            ),
            (ALL, "Shelf", "it offers nothing\nhint: add `tools = "),
            (
                ALL,
                "Shelf, tools = \"FILE\", subscribe",
                "`subscribe` belongs to `resources = \"…\"` or `templates = \"…\"`, and there is neither",
            ),
            (
                ALL,
                "Shelf, tools = \"FILE\", completion",
                "`completion` belongs to `prompts = ",
            ),
            (
                ALL,
                "Shelf, tool = \"FILE\"",
                "unknown argument `tool`\nhint: there is `tools = \"…\"`, `prompts = ",
            ),
            (
                ALL,
                "Shelf, tools = \"FILE\", tools = \"FILE\"",
                "`tools` is given twice",
            ),
        ] {
            let told = expanded(text, arguments).unwrap_err();
            assert!(told.starts_with(expected), "{told}");
        }
    }
}
