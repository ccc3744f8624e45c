//! What an author writes between the macros' parentheses.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream, Result};
use syn::{Error, Ident, LitStr, Token};

/// `Type`, then any of `path = "…"` and `world = "…"`.
pub(crate) struct Plugin {
    pub(crate) component: Ident,
    pub(crate) path: Option<LitStr>,
    pub(crate) world: Option<LitStr>,
}

impl Parse for Plugin {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let component = component(input)?;
        let [path, world] = named(input, ["path", "world"])?;
        Ok(Self {
            component,
            path,
            world,
        })
    }
}

/// `Type, tools = "…"`.
pub(crate) struct Adapter {
    pub(crate) component: Ident,
    pub(crate) tools: LitStr,
}

impl Parse for Adapter {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let component = component(input)?;
        let [tools] = named(input, ["tools"])?;
        let tools = tools.ok_or_else(|| {
            let message = "`tools` is missing\nhint: add `tools = \"tools.json\"`, a file of MCP Tool objects";
            Error::new(component.span(), message)
        })?;
        Ok(Self { component, tools })
    }
}

fn component(input: ParseStream<'_>) -> Result<Ident> {
    input.parse().map_err(|error| {
        let message = "expected the type that implements the tools\nhint: `plugin!(MyPlugin)`";
        Error::new(error.span(), message)
    })
}

/// The rest of the arguments, `name = "text"` each, in the order of `names`.
fn named<const N: usize>(input: ParseStream<'_>, names: [&str; N]) -> Result<[Option<LitStr>; N]> {
    let mut values = [const { None }; N];
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let value: LitStr = input.parse()?;
        let known = names
            .iter()
            .zip(&mut values)
            .find(|(known, _)| name == **known);
        let Some((_, slot)) = known else {
            let message = format!(
                "unknown argument `{name}`\nhint: there is `{}`",
                names.join("`, `")
            );
            return Err(Error::new(name.span(), message));
        };
        if slot.replace(value).is_some() {
            return Err(Error::new(name.span(), format!("`{name}` is given twice")));
        }
    }
    Ok(values)
}

/// Where a macro's error points to when no argument is to blame.
pub(crate) fn span_of(value: Option<&LitStr>) -> Span {
    value.map_or_else(Span::call_site, LitStr::span)
}
