//! The parts of a YAML document, and their places.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::super::Uneditable;
use crate::discovery::document::CharacterOffsets;

/// Part of a document, with its place and its content.
#[derive(Debug)]
pub(super) struct YamlPart {
    pub(super) range: Range<usize>,
    pub(super) anchored: bool,
    pub(super) kind: YamlPartKind,
}

#[derive(Debug)]
pub(super) enum YamlPartKind {
    Scalar(String),
    Alias,
    List(Vec<YamlPart>),
    Table(Vec<(YamlPart, YamlPart)>),
}

impl YamlPart {
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(&self.kind, YamlPartKind::Scalar(scalar) if scalar == text)
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(&self.kind, YamlPartKind::Scalar(text) if text.is_empty()) && self.range.is_empty()
    }

    /// Whether this part stands where a container should, with nothing in it.
    pub(super) fn is_empty_container(&self, text: &str) -> bool {
        let braces = matches!(&self.kind, YamlPartKind::List(items) if items.is_empty())
            || matches!(&self.kind, YamlPartKind::Table(members) if members.is_empty());
        self.is_null() || (braces && self.is_flow(text) && !self.anchored)
    }

    pub(super) fn is_flow(&self, text: &str) -> bool {
        let here = text.get(self.range.start..).unwrap_or_default();
        here.starts_with(['{', '['])
    }

    pub(super) fn check(&self, text: &str, key: Option<&String>) -> Result<(), Uneditable> {
        let at = self.range.start;
        match &self.kind {
            YamlPartKind::Alias => Err(Uneditable::style(at, "an alias")),
            YamlPartKind::Scalar(_) => Err(Uneditable::no_table(at, key.map(String::as_str))),
            _ if self.anchored => Err(Uneditable::style(at, "an anchor")),
            _ if self.is_flow(text) => Err(Uneditable::style(at, "flow style (`{…}` or `[…]`)")),
            _ => Ok(()),
        }
    }

    /// Returns the members of a table, which has to be in block style; `key` is the key of that
    /// value.
    pub(super) fn table(
        &self,
        text: &str,
        key: Option<&String>,
    ) -> Result<&[(YamlPart, YamlPart)], Uneditable> {
        self.check(text, key)?;
        match &self.kind {
            YamlPartKind::Table(members) => Ok(members),
            _ => Err(Uneditable::no_table(
                self.range.start,
                key.map(String::as_str),
            )),
        }
    }

    /// Returns the end of the last thing in the part. The parser sees the end of a block only when
    /// the next thing begins.
    pub(super) fn end(&self) -> usize {
        self.range.end
    }
}

/// Reads the parts of a document; none where there is nothing in it.
pub(super) fn parse(text: &str) -> Result<Option<YamlPart>, Uneditable> {
    let places = CharacterOffsets::of(text);
    let byte = |marker: &Marker| places.byte(marker);
    let mut open: Vec<(YamlPart, Option<YamlPart>)> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let message = format!("this is not YAML: {}", error.info());
            Uneditable::unreadable(byte(error.marker()), message)
        })?;
        let range = byte(&span.start)..byte(&span.end);
        let (kind, anchored) = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(Uneditable::style(range.start, "several documents"));
                }
                continue;
            }
            Event::Scalar(scalar, style, anchor, tag) => {
                let mut range = range;
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    // Its end is where the next thing begins.
                    let until = text.get(..range.end).unwrap_or_default();
                    range.end = until.trim_end().len();
                }
                let empty = scalar.is_empty() && style == ScalarStyle::Plain && tag.is_none();
                let range = if empty {
                    range.start..range.start
                } else {
                    range
                };
                put(
                    YamlPart {
                        range,
                        anchored: anchor != 0,
                        kind: YamlPartKind::Scalar(scalar.into_owned()),
                    },
                    &mut open,
                    &mut root,
                );
                continue;
            }
            Event::Alias(_) => {
                put(
                    YamlPart {
                        range,
                        anchored: false,
                        kind: YamlPartKind::Alias,
                    },
                    &mut open,
                    &mut root,
                );
                continue;
            }
            Event::SequenceStart(anchor, _) => (YamlPartKind::List(Vec::new()), anchor != 0),
            Event::MappingStart(anchor, _) => (YamlPartKind::Table(Vec::new()), anchor != 0),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some((mut part, _)) = open.pop() {
                    // The parser's own end is behind the comment that may follow.
                    if part.is_flow(text) {
                        part.range.end = range.start + 1;
                    }
                    put(part, &mut open, &mut root);
                }
                continue;
            }
            _ => continue,
        };
        open.push((
            YamlPart {
                range,
                anchored,
                kind,
            },
            None,
        ));
    }
    Ok(root)
}

/// Puts a complete part into its container, or makes it the root.
fn put(part: YamlPart, open: &mut [(YamlPart, Option<YamlPart>)], root: &mut Option<YamlPart>) {
    let Some((parent, waiting)) = open.last_mut() else {
        *root = Some(part);
        return;
    };
    match &mut parent.kind {
        YamlPartKind::List(items) => {
            parent.range.end = parent.range.end.max(part.range.end);
            items.push(part);
        }
        YamlPartKind::Table(members) => match waiting.take() {
            None => *waiting = Some(part),
            Some(key) => {
                // What is not there has no place: the parser gives that of the
                // next thing, which is another line's.
                let mut part = part;
                if part.is_null() {
                    part.range = key.range.end..key.range.end;
                }
                parent.range.end = parent.range.end.max(part.range.end);
                members.push((key, part));
            }
        },
        YamlPartKind::Scalar(_) | YamlPartKind::Alias => {}
    }
}
