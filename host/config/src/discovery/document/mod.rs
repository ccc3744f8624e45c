//! A configuration file as a tree, whatever language it is written in, each part
//! with its place in the text.

mod jsonc;
mod toml;
mod yaml;

pub(crate) use yaml::CharacterOffsets;

use super::places::Syntax;

/// Most levels of nesting of a document. Configuration is never near it; a deeper document was made
/// to overflow somebody's stack.
const DEEPEST: usize = 100;

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Byte at which the part begins.
    pub(crate) at: usize,
    pub(crate) value: DocumentValue,
}

/// Kind of a part of a document, with its content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DocumentValue {
    Null,
    Bool(bool),
    /// A number, as it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<DocumentMember>),
}

/// A key of a table and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DocumentMember {
    pub(crate) key: String,
    /// The byte at which the key begins.
    pub(crate) at: usize,
    pub(crate) node: Node,
}

/// Reason why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnreadableDocument {
    /// Byte at which the text stops making sense.
    pub(crate) at: usize,
    /// Problem. Nothing of the text is in it, which may be a secret.
    pub(crate) message: String,
}

impl UnreadableDocument {
    fn too_deep(at: usize) -> Self {
        Self {
            at,
            message: format!("it is nested more than {DEEPEST} levels deep"),
        }
    }
}

impl Node {
    /// Returns the value of a key. Of a key that is there twice the last one counts, as it does for
    /// the clients.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.member(key).map(|member| &member.node)
    }

    /// Returns a key with its value.
    pub(crate) fn member(&self, key: &str) -> Option<&DocumentMember> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// Returns the keys and values, where this is a table.
    pub(crate) fn members(&self) -> &[DocumentMember] {
        match &self.value {
            DocumentValue::Table(members) => members,
            _ => &[],
        }
    }

    /// Checks whether something else is here that may say what a table in its place would: it has no
    /// keys, and is not nothing or `false`.
    pub(crate) fn is_no_table(&self) -> bool {
        !matches!(
            self.value,
            DocumentValue::Table(_) | DocumentValue::Null | DocumentValue::Bool(false)
        )
    }

    /// Returns the parts, where this is a list.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            DocumentValue::List(items) => items,
            _ => &[],
        }
    }

    /// Returns all parts of the tree, this one first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Node> {
        let mut waiting = vec![self];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend(node.items());
            waiting.extend(node.members().iter().map(|member| &member.node));
            Some(node)
        })
    }

    /// Returns the text, where this is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            DocumentValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the kind of the part, for a message that says what it should have been.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            DocumentValue::Null => "null",
            DocumentValue::Bool(_) => "a boolean",
            DocumentValue::Number(_) => "a number",
            DocumentValue::Text(_) => "a string",
            DocumentValue::List(_) => "a list",
            DocumentValue::Table(_) => "a table",
        }
    }
}

/// Reads a document. An empty one is an empty table.
pub(crate) fn parse(text: &str, syntax: Syntax) -> Result<Node, UnreadableDocument> {
    match syntax {
        Syntax::Json => jsonc::parse(text),
        Syntax::Toml => toml::parse(text),
        Syntax::Yaml => yaml::parse(text),
    }
}

/// Returns the content of a file without anything in it.
fn empty() -> Node {
    Node {
        at: 0,
        value: DocumentValue::Table(Vec::new()),
    }
}

#[cfg(test)]
mod tests;
