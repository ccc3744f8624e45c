//! Files of rules that cannot be read: nobody knows what they deny.

use std::path::{Path, PathBuf};

use dormouse_text::visible::visible_path;

use crate::discovery::document::{DocumentValue, Node};
use crate::discovery::library::LoadedFile;
use crate::discovery::places::{FileShape, Syntax};
use crate::discovery::search::{ClientSearch, project_of};
use crate::discovery::settle::OFF;
use crate::{Client, Scope};

/// A file of the user's or of administrators that may have rules for a client's servers, and that
/// cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadRules {
    pub(crate) client: Client,
    file: PathBuf,
    /// Whether there is nothing in the file, as while somebody writes it in place. Its client takes
    /// that for no rules.
    is_empty: bool,
}

impl UnreadRules {
    /// Returns the problem, as a sentence without its end.
    pub(crate) fn told(&self) -> String {
        let what = match self.is_empty {
            true => "is empty",
            false => "cannot be read",
        };
        format!("{} {what}, and may deny it", visible_path(&self.file))
    }

    /// Returns the hint for a person.
    pub(crate) fn hint(&self) -> &'static str {
        match self.is_empty {
            true => "import again when its client has written it; `{}` in it is no rules",
            false => "`dormouse doctor` says where; import again when it is mended",
        }
    }
}

/// Whether a client has rules for its servers in the files that these are written in. An entry, which
/// denies its own tools, stands in none of those that only the user has.
pub(in crate::discovery) fn has_rules(client: Client) -> bool {
    !matches!(
        client,
        Client::ClaudeDesktop | Client::Windsurf | Client::Goose
    )
}

/// Whether a document has something else where a shape has the servers: what stands in it may switch
/// some off. What is empty has nothing in it.
fn has_odd_servers(root: &Node, shape: &FileShape) -> bool {
    let mut node = root;
    for key in &shape.keys {
        match node.get(key) {
            Some(inner) => node = inner,
            None => return node.is_no_table(),
        }
    }
    match &node.value {
        DocumentValue::Null | DocumentValue::Bool(false) => false,
        DocumentValue::List(items) => !shape.list && !items.is_empty(),
        DocumentValue::Table(members) => shape.list && !members.is_empty(),
        DocumentValue::Bool(true) | DocumentValue::Number(_) | DocumentValue::Text(_) => true,
    }
}

impl ClientSearch<'_> {
    /// Notes a file that may have rules, where it cannot be read, or not the servers that a shape has
    /// there. A project's may be a stranger's,
    /// and says nothing of the user's servers.
    pub(in crate::discovery) fn note_unread(
        &mut self,
        scope: &Scope,
        file: &Path,
        syntax: Syntax,
        shape: Option<&FileShape>,
        loaded: &LoadedFile,
    ) {
        if project_of(scope).is_some() {
            return;
        }
        let is_empty = match loaded {
            LoadedFile::Bad { .. } => false,
            LoadedFile::Document(document)
                if syntax == Syntax::Json && document.text.trim().is_empty() =>
            {
                true
            }
            // Its client may find rules in it all the same.
            LoadedFile::Document(document) if document.root.is_no_table() => false,
            LoadedFile::Document(document)
                if shape.is_some_and(|shape| has_odd_servers(&document.root, shape)) =>
            {
                false
            }
            LoadedFile::Missing | LoadedFile::Document(_) => return,
        };
        self.unread.push(UnreadRules {
            client: self.client,
            file: file.to_owned(),
            is_empty,
        });
    }

    /// Switches the servers off whose client has rules of the user's that cannot be read, those of
    /// projects too: the client may well read what Dormouse cannot, as a text that is not UTF-8.
    pub(in crate::discovery) fn deny_unread(&mut self) {
        let mut unread = self.unread.iter();
        let Some(why) = unread
            .find(|unread| !unread.is_empty)
            .map(UnreadRules::told)
        else {
            return;
        };
        for found in &mut self.found {
            let server = &mut found.server;
            if server.denied.is_none() {
                server.enabled = false;
                found.notes.push(format!("{OFF}{why}"));
                server.denied = Some(why.clone());
            }
        }
    }
}
