//! YAML: the core schema, the first document of the stream.
//!
//! The tree is built from the parser's events, which come one after the other:
//! nothing here calls itself, however deep a document is.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::{DEEPEST, DocumentMember, DocumentValue, Node, UnreadableDocument, empty};

/// Bytes that the copies of what anchors name may take in any document. Ten lines of aliases to
/// aliases would otherwise fill any memory.
const MIN_COPIED_BYTES: usize = 64 << 10;

/// Bytes of such copies that each byte of a document's text adds. Since they grow with the text
/// alone, many short documents take no more than one long one.
const COPIED_BYTES_FOR_EACH_BYTE: usize = 16;

pub(super) fn parse(text: &str) -> Result<Node, UnreadableDocument> {
    let places = CharacterOffsets::of(text);
    let mut tree = Tree {
        copied_bytes_left: text
            .len()
            .saturating_mul(COPIED_BYTES_FOR_EACH_BYTE)
            .saturating_add(MIN_COPIED_BYTES),
        ..Tree::default()
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| UnreadableDocument {
            at: places.byte(error.marker()),
            message: format!("this is not YAML: {}", error.info()),
        })?;
        if event == Event::DocumentEnd {
            break;
        }
        tree.event(event, places.byte(&span.start))?;
    }
    Ok(tree.root.unwrap_or_else(empty))
}

/// Places of the characters of a text: the parser counts them, the tree wants bytes.
pub(crate) struct CharacterOffsets {
    /// The byte of each character; none where both are the same.
    bytes: Option<Vec<usize>>,
    end: usize,
}

impl CharacterOffsets {
    pub(crate) fn of(text: &str) -> Self {
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(byte, _)| byte).collect());
        Self {
            bytes,
            end: text.len(),
        }
    }

    pub(crate) fn byte(&self, marker: &Marker) -> usize {
        let byte = match &self.bytes {
            Some(bytes) => bytes.get(marker.index()).copied(),
            None => Some(marker.index()),
        };
        byte.map_or(self.end, |byte| byte.min(self.end))
    }
}

/// A list or table that has begun.
struct OpenYamlNode {
    at: usize,
    anchor: usize,
    parts: YamlParts,
}

enum YamlParts {
    List(Vec<Node>),
    /// The members so far, and the key whose value comes next.
    Table(Vec<DocumentMember>, Option<(String, usize)>),
}

#[derive(Default)]
struct Tree {
    open: Vec<OpenYamlNode>,
    root: Option<Node>,
    /// Copies of the nodes that anchors name.
    anchors: HashMap<usize, Node>,
    /// Bytes that further copies may take, both those for anchors and those for aliases.
    copied_bytes_left: usize,
}

impl Tree {
    fn event(&mut self, event: Event<'_>, at: usize) -> Result<(), UnreadableDocument> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                let value = if plain {
                    scalar(&text)
                } else {
                    DocumentValue::Text(text.into_owned())
                };
                self.part(Node { at, value }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(at, anchor, YamlParts::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.begin(at, anchor, YamlParts::Table(Vec::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(open) => {
                    // A document may have very many lists and tables of one part.
                    let value = match open.parts {
                        YamlParts::List(mut items) => {
                            items.shrink_to_fit();
                            DocumentValue::List(items)
                        }
                        YamlParts::Table(mut members, _) => {
                            members.shrink_to_fit();
                            DocumentValue::Table(members)
                        }
                    };
                    let node = Node { at: open.at, value };
                    self.part(node, open.anchor)
                }
                None => Ok(()),
            },
            // An alias to what it stands in has no end; what it names is not known
            // before it has ended, so that it is simply not found here.
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor) else {
                    return Err(UnreadableDocument {
                        at,
                        message: "this is not YAML: an alias names nothing that stands before it"
                            .to_owned(),
                    });
                };
                let value = copy(node, &mut self.copied_bytes_left, at)?.value;
                self.part(Node { at, value }, 0)
            }
            _ => Ok(()),
        }
    }

    fn begin(
        &mut self,
        at: usize,
        anchor: usize,
        parts: YamlParts,
    ) -> Result<(), UnreadableDocument> {
        if self.open.len() >= DEEPEST {
            return Err(UnreadableDocument::too_deep(at));
        }
        self.open.push(OpenYamlNode { at, anchor, parts });
        Ok(())
    }

    /// Puts a complete part into its container, or makes it the root.
    fn part(&mut self, node: Node, anchor: usize) -> Result<(), UnreadableDocument> {
        if anchor != 0 {
            let copied = copy(&node, &mut self.copied_bytes_left, node.at)?;
            self.anchors.insert(anchor, copied);
        }
        match self.open.last_mut().map(|open| &mut open.parts) {
            None => self.root = Some(node),
            Some(YamlParts::List(items)) => items.push(node),
            Some(YamlParts::Table(members, waiting)) => match waiting.take() {
                Some((key, at)) => members.push(DocumentMember { key, at, node }),
                None => {
                    // A key that is no scalar names nothing that is looked for.
                    let key = match node.value {
                        DocumentValue::Text(text) | DocumentValue::Number(text) => text,
                        DocumentValue::Bool(boolean) => boolean.to_string(),
                        DocumentValue::Null | DocumentValue::List(_) | DocumentValue::Table(_) => {
                            String::new()
                        }
                    };
                    *waiting = Some((key, node.at));
                }
            },
        }
        Ok(())
    }
}

/// Copies a tree, if its copy takes no more than the bytes that are left. Counting ends where they
/// do, so that what is too large to be copied takes no time either.
fn copy(node: &Node, bytes_left: &mut usize, at: usize) -> Result<Node, UnreadableDocument> {
    let mut left = *bytes_left;
    for part in node.parts() {
        let keys = part.members().iter().map(|member| member.key.len());
        let content = match &part.value {
            DocumentValue::Text(text) | DocumentValue::Number(text) => text.len(),
            DocumentValue::Table(_) => keys.sum::<usize>() + size_of_val(part.members()),
            DocumentValue::List(_) => size_of_val(part.items()),
            DocumentValue::Null | DocumentValue::Bool(_) => 0,
        };
        left = left
            .checked_sub(content + size_of::<Node>())
            .ok_or_else(|| UnreadableDocument {
                at,
                message: "its anchors and aliases stand for far more than its text".to_owned(),
            })?;
    }
    *bytes_left = left;
    Ok(node.clone())
}

/// Reads a plain scalar by the rules of the core schema.
fn scalar(text: &str) -> DocumentValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => DocumentValue::Null,
        "true" | "True" | "TRUE" => DocumentValue::Bool(true),
        "false" | "False" | "FALSE" => DocumentValue::Bool(false),
        _ => {
            let number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
                && text.parse::<f64>().is_ok();
            if number {
                DocumentValue::Number(text.to_owned())
            } else {
                DocumentValue::Text(text.to_owned())
            }
        }
    }
}
