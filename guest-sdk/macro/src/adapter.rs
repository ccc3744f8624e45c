//! `adapter!`: export and declaration of a plugin whose tools are given as MCP
//! `Tool` objects.

use dormouse_wit::{Declaration, DeclaredTool};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use syn::{Error, LitStr, Result};

use crate::arguments::Adapter;
use crate::section;

pub(crate) fn expand(arguments: &Adapter) -> Result<TokenStream> {
    let span = arguments.tools.span();
    let path = section::manifest_dir(span)?.join(arguments.tools.value());
    let fail = |what: String| Error::new(span, format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| fail(error.to_string()))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
    if let Some(tools) = value.get_mut("tools") {
        value = tools.take();
    }
    let Value::Array(tools) = value else {
        return Err(fail("it is no array of MCP Tool objects".into()));
    };
    let tools = tools.iter().map(|tool| declared(tool).map_err(&fail));
    let mut declaration = Declaration {
        tools: tools.collect::<Result<_>>()?,
        ..Declaration::default()
    };
    section::name_after_crate(&mut declaration);
    let component = &arguments.component;
    let declaration = section::expand(&declaration, span)?;
    let file = LitStr::new(&path.to_string_lossy(), span);
    Ok(quote! {
        ::dormouse_sdk::bindings::export_adapter!(#component with_types_in ::dormouse_sdk::bindings);
        // Named here so that cargo builds again when it changes.
        const _: &[u8] = include_bytes!(#file);
        #declaration
    })
}

fn declared(tool: &Value) -> std::result::Result<DeclaredTool, String> {
    let name = tool
        .get("name")
        .and_then(Value::as_str)
        .ok_or_else(|| format!("`{tool}` has no name"))?;
    if !tool.get("inputSchema").is_some_and(Value::is_object) {
        return Err(format!("tool `{name}` has no `inputSchema` object"));
    }
    Ok(DeclaredTool {
        name: name.to_owned(),
        tool: serde_json::value::to_raw_value(tool).map_err(|error| error.to_string())?,
        function: None,
    })
}
