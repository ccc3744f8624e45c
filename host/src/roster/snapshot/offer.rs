//! Prompts, resources and resource templates that agents see.

use std::sync::{Arc, OnceLock};

use dormouse_catalog::{ListedItem, Listing};
use dormouse_wit::{Template, Type};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::roster::{Server, names};

/// Kinds of offers beside tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferKind {
    /// MCP `Prompt`.
    Prompt,
    /// MCP `Resource`.
    Resource,
    /// MCP `ResourceTemplate`.
    Template,
}

impl OfferKind {
    /// Returns the member of the MCP object that identifies it.
    #[must_use]
    pub fn member(self) -> &'static str {
        match self {
            Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// Returns the noun for it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        }
    }

    fn declared(self, listing: &Listing) -> &[ListedItem] {
        match self {
            Self::Prompt => &listing.prompts,
            Self::Resource => &listing.resources,
            Self::Template => &listing.templates,
        }
    }
}

/// Prompt, resource or template that agents see.
#[derive(Debug)]
pub struct Offer {
    /// Name or URI under which agents see it.
    pub key: String,
    kind: OfferKind,
    pub(super) server: Arc<Server>,
    listing: Arc<Listing>,
    index: usize,
    template: OnceLock<Option<Template>>,
}

impl Offer {
    /// Returns all items of a kind in a server's listing, each by the key under which agents see it
    /// as long as no other server has the same.
    pub(super) fn all_of<'a>(
        kind: OfferKind,
        server: &'a Arc<Server>,
        listing: &'a Arc<Listing>,
    ) -> impl Iterator<Item = Self> + use<'a> {
        let config = server.config();
        let declared = kind.declared(listing).iter().enumerate();
        declared.map(move |(index, item)| Self {
            key: match kind {
                OfferKind::Prompt => {
                    names::shown(&config.name, config.prefix.as_deref(), &item.key)
                }
                // Results of tools refer to resources, so that these keep
                // their URIs.
                OfferKind::Resource | OfferKind::Template => item.key.clone(),
            },
            kind,
            server: server.clone(),
            listing: listing.clone(),
            index,
            template: OnceLock::new(),
        })
    }

    /// Returns the name of its server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.config().name
    }

    /// Checks whether its server is from a project's file.
    pub(in super::super) fn is_of_project(&self) -> bool {
        self.server.config().is_of_project()
    }

    /// Returns its plugin's declaration of it.
    #[must_use]
    pub fn declared(&self) -> Option<&ListedItem> {
        self.kind.declared(&self.listing).get(self.index)
    }

    /// Checks whether its plugin completes arguments.
    #[must_use]
    pub fn completes(&self) -> bool {
        self.listing.completion
    }

    /// Checks whether it has an argument of that name. An upstream's is taken to have any, because
    /// the upstream checks that itself, and so is a template that its plugin takes apart in a way
    /// of its own.
    #[must_use]
    pub fn has(&self, argument: &str) -> bool {
        #[derive(Deserialize)]
        struct Declared {
            #[serde(default)]
            arguments: Vec<PromptArgument>,
        }
        #[derive(Deserialize)]
        struct PromptArgument {
            name: String,
        }
        if self.server.config().bridge().is_some() {
            return true;
        }
        match self.kind {
            OfferKind::Prompt => self.declared().is_some_and(|item| {
                let declared = serde_json::from_str::<Declared>(item.object.get());
                let arguments = declared.map(|prompt| prompt.arguments).unwrap_or_default();
                arguments.iter().any(|one| one.name == argument)
            }),
            OfferKind::Resource | OfferKind::Template => Template::parse(self.own_key())
                .map_or(true, |template| {
                    template.variables().any(|name| name == argument)
                }),
        }
    }

    /// Returns its server's own name, URI or template for it.
    pub(in super::super) fn own_key(&self) -> &str {
        self.declared().map_or(&self.key, |declared| &declared.key)
    }

    fn parsed(&self) -> Option<&Template> {
        let has_function = || {
            let function = self.declared().map(ListedItem::function);
            matches!(function, Some(Ok(Some(_))))
        };
        // A function gets the values of the variables. Whoever has none gets the whole URI.
        let parse = || match has_function() {
            true => Template::parse(self.own_key()).ok(),
            false => Template::lenient(self.own_key()),
        };
        self.template.get_or_init(parse).as_ref()
    }

    /// Checks whether no URI can be told to be one of this template.
    #[must_use]
    pub fn claims_nothing(&self) -> bool {
        self.kind == OfferKind::Template && self.parsed().is_none()
    }

    /// Returns the possible values of an argument, if its type lists them.
    #[must_use]
    pub fn cases(&self, argument: &str) -> Option<Vec<String>> {
        let function = self.declared()?.function().ok()??;
        let mut fields = function.arguments().iter();
        cases(&fields.find(|field| field.json == argument)?.ty)
    }

    /// Returns the cost of [`Self::matched`], in bytes that are compared.
    #[must_use]
    pub(in super::super) fn steps(&self, uri: &str) -> usize {
        self.parsed().map_or(1, |template| template.steps(uri))
    }

    /// Returns the values of a template's variables, where a URI matches it.
    #[must_use]
    pub fn matched(&self, uri: &str) -> Option<Map<String, Value>> {
        let values = self.parsed()?.captures(uri)?.into_iter();
        Some(
            values
                .map(|(name, value)| (name.to_owned(), Value::from(value)))
                .collect(),
        )
    }
}

/// Returns the possible values of a type, if it lists them.
fn cases(mut ty: &Type) -> Option<Vec<String>> {
    while let Type::Option(inner) = ty {
        ty = inner;
    }
    match ty {
        Type::Enum(cases) => Some(cases.iter().map(|case| case.json.clone()).collect()),
        Type::Bool => Some(vec!["true".into(), "false".into()]),
        _ => None,
    }
}
