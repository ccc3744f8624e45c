//! Resource templates that are pending, and claim their resources all the same.

use std::sync::{Arc, OnceLock};

use dormouse_wit::Template;

use crate::roster::Server;
use crate::store::Gated;

/// Resource template that is not shown because its user has not approved it as it is.
#[derive(Debug)]
pub(in super::super) struct WithheldTemplate {
    /// The template.
    pub(super) key: String,
    /// Whether it was seen as something else before.
    pub(in super::super) is_known: bool,
    server: Arc<Server>,
    parsed: OnceLock<Option<Template>>,
}

impl WithheldTemplate {
    /// Returns all withheld templates of a server.
    pub(super) fn all_of(server: &Arc<Server>) -> impl Iterator<Item = Self> + use<> {
        let withheld = server.withheld(Gated::Template);
        let all: Vec<_> = withheld
            .map(|item| Self {
                key: item.name.clone(),
                is_known: item.is_known,
                server: server.clone(),
                parsed: OnceLock::new(),
            })
            .collect();
        all.into_iter()
    }

    /// Returns the name of its server.
    pub(in super::super) fn server(&self) -> &str {
        &self.server.config().name
    }

    /// Checks whether its server is from a project's file.
    pub(in super::super) fn is_of_project(&self) -> bool {
        self.server.config().is_of_project()
    }

    fn parsed(&self) -> Option<&Template> {
        let parse = || Template::lenient(&self.key);
        self.parsed.get_or_init(parse).as_ref()
    }

    /// Returns the cost of [`Self::matches`], in bytes that are compared.
    pub(in super::super) fn steps(&self, uri: &str) -> usize {
        self.parsed().map_or(1, |template| template.steps(uri))
    }

    /// Checks whether a URI is that of one of its resources.
    pub(in super::super) fn matches(&self, uri: &str) -> bool {
        self.parsed()
            .is_some_and(|template| template.captures(uri).is_some())
    }
}
