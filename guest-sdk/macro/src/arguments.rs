//! Arguments of the macros.

use dormouse_wit::Offers;
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
        let component = component(input, "plugin!(MyPlugin)")?;
        let ([path, world], []) = named(input, ["path", "world"], [])?;
        Ok(Self {
            component,
            path,
            world,
        })
    }
}

/// `Type`, then files of MCP objects, at least one, and flags.
pub(crate) struct Adapter {
    pub(crate) component: Ident,
    /// Files, each with the kind of its objects.
    pub(crate) files: Vec<(Offers, LitStr)>,
    /// `subscribe`: the resources tell of their changes.
    pub(crate) subscribe: bool,
    /// `completion`: arguments are completed.
    pub(crate) completion: bool,
}

impl Parse for Adapter {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let component = component(input, "adapter!(MyPlugin, tools = \"tools.json\")")?;
        let ([tools, prompts, resources, templates], [subscribe, completion]) = named(
            input,
            ["tools", "prompts", "resources", "templates"],
            ["subscribe", "completion"],
        )?;
        let files = [
            (Offers::Tools, tools),
            (Offers::Prompts, prompts),
            (Offers::Resources, resources),
            (Offers::Templates, templates),
        ];
        let files: Vec<_> = files
            .into_iter()
            .filter_map(|(what, file)| Some((what, file?)))
            .collect();
        if files.is_empty() {
            let message = "it offers nothing\nhint: add `tools = \"tools.json\"`, a file of MCP Tool objects, or likewise `prompts`, `resources` or `templates`";
            return Err(Error::new(component.span(), message));
        }
        let any = |wanted: &[Offers]| files.iter().any(|(what, _)| wanted.contains(what));
        for (flag, wanted, of) in [
            (
                &subscribe,
                [Offers::Resources, Offers::Templates],
                "resources = \"…\"` or `templates",
            ),
            (
                &completion,
                [Offers::Prompts, Offers::Templates],
                "prompts = \"…\"` or `templates",
            ),
        ] {
            if let Some(flag) = flag
                && !any(&wanted)
            {
                let message = format!("`{flag}` belongs to `{of} = \"…\"`, and there is neither");
                return Err(Error::new(flag.span(), message));
            }
        }
        Ok(Self {
            component,
            files,
            subscribe: subscribe.is_some(),
            completion: completion.is_some(),
        })
    }
}

fn component(input: ParseStream<'_>, example: &str) -> Result<Ident> {
    input.parse().map_err(|error| {
        let message = format!("expected the type that implements the plugin\nhint: `{example}`");
        Error::new(error.span(), message)
    })
}

/// Values of the named arguments, and the flags that are there.
type Named<const N: usize, const M: usize> = ([Option<LitStr>; N], [Option<Ident>; M]);

/// Reads the rest of the arguments, in the order of `names` and `flags`: `name = "text"` for a
/// name, the name alone for a flag.
fn named<const N: usize, const M: usize>(
    input: ParseStream<'_>,
    names: [&str; N],
    flags: [&str; M],
) -> Result<Named<N, M>> {
    let mut values = [const { None }; N];
    let mut set = [const { None }; M];
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        let name: Ident = input.parse()?;
        let twice = || Error::new(name.span(), format!("`{name}` is given twice"));
        if let Some((_, slot)) = flags
            .iter()
            .zip(&mut set)
            .find(|(known, _)| name == **known)
        {
            if slot.replace(name.clone()).is_some() {
                return Err(twice());
            }
            continue;
        }
        let Some((_, slot)) = names
            .iter()
            .zip(&mut values)
            .find(|(known, _)| name == **known)
        else {
            let all: Vec<_> = names
                .iter()
                .map(|name| format!("`{name} = \"…\"`"))
                .chain(flags.iter().map(|flag| format!("`{flag}`")))
                .collect();
            let message = format!(
                "unknown argument `{name}`\nhint: there is {}",
                all.join(", ")
            );
            return Err(Error::new(name.span(), message));
        };
        let text = |error: Error| {
            let message = format!("`{name}` needs a text\nhint: `{name} = \"…\"`");
            Error::new(error.span(), message)
        };
        input.parse::<Token![=]>().map_err(text)?;
        let value: LitStr = input.parse().map_err(text)?;
        if slot.replace(value).is_some() {
            return Err(twice());
        }
    }
    Ok((values, set))
}

/// Returns the place of a macro's error when no argument is to blame.
pub(crate) fn span_of(value: Option<&LitStr>) -> Span {
    value.map_or_else(Span::call_site, LitStr::span)
}
