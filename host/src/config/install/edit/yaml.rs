//! YAML, in block style: an entry is a run of lines.
//!
//! No crate edits YAML and keeps what is around. The places are the parser's; what
//! is written in a way that lines cannot be put into (flow style, anchors) is
//! refused.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use serde_json::Value as Json;

use super::text::{Splices, indent, line_end_missing, line_start, newline, next_line};
use super::{Uneditable, Where};
use crate::config::discovery::document::Places;

/// How far an entry's own lines stand in where the file shows nothing else.
const UNIT: &str = "  ";

/// A part of a document: where it is, and what is in it.
#[derive(Debug)]
struct Part {
    range: Range<usize>,
    anchored: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Scalar(String),
    Alias,
    List(Vec<Part>),
    Table(Vec<(Part, Part)>),
}

pub(super) fn add(text: &str, at: Where<'_>, entry: &Json) -> Result<String, Uneditable> {
    let root = parse(text)?;
    let newline = newline(text);
    let mut lines = Lines {
        newline,
        text: String::new(),
    };
    let Some(root) = root.filter(|root| !root.is_null()) else {
        let mut whole = text.to_owned();
        if line_end_missing(&whole) {
            whole.push_str(newline);
        }
        let mut outer = String::new();
        for key in at.keys {
            lines.line(&outer, &format!("{}:", scalar(key)));
            outer.push_str(UNIT);
        }
        lines.entry(&outer, at, entry);
        return Ok(whole + &lines.text);
    };
    let mut part = &root;
    for (depth, key) in at.keys.iter().enumerate() {
        let table = part.table(text, depth.checked_sub(1).and_then(|up| at.keys.get(up)))?;
        let outer = match table.first() {
            Some((first, _)) => begin(text, first)?,
            None => "",
        };
        let found = table.iter().rev().find(|(name, _)| name.is(key));
        match found {
            Some((_, value)) if !value.is_empty_container(text) => part = value,
            Some((name, value)) => {
                // `key:` and `key: []` are both an empty container.
                let mut inner = format!("{outer}{UNIT}");
                for key in at.keys.get(depth + 1..).unwrap_or_default() {
                    lines.line(&inner, &format!("{}:", scalar(key)));
                    inner.push_str(UNIT);
                }
                lines.entry(&inner, at, entry);
                let colon = colon(text, name);
                let mut splices = Splices::default();
                if !value.is_null() {
                    splices.replace(colon..value.range.end, "");
                }
                put_lines(
                    text,
                    &mut splices,
                    value.end().max(colon),
                    &lines.text,
                    newline,
                );
                return Ok(splices.apply(text));
            }
            None => {
                let mut inner = outer.to_owned();
                for key in at.keys.get(depth..).unwrap_or_default() {
                    lines.line(&inner, &format!("{}:", scalar(key)));
                    inner.push_str(UNIT);
                }
                lines.entry(&inner, at, entry);
                let mut splices = Splices::default();
                put_lines(text, &mut splices, part.end(), &lines.text, newline);
                return Ok(splices.apply(text));
            }
        }
    }
    let mut splices = Splices::default();
    match find(text, part, at)? {
        Some((outer, range)) => {
            lines.entry(outer, at, entry);
            splices.replace(range, lines.text);
        }
        None => {
            let outer = match &part.kind {
                Kind::List(items) => items.first().map(|item| dash(text, item)).transpose()?,
                Kind::Table(members) => members
                    .first()
                    .map(|(key, _)| begin(text, key))
                    .transpose()?,
                Kind::Scalar(_) | Kind::Alias => None,
            };
            lines.entry(outer.unwrap_or(UNIT), at, entry);
            put_lines(text, &mut splices, part.end(), &lines.text, newline);
        }
    }
    Ok(splices.apply(text))
}

pub(super) fn remove(text: &str, at: Where<'_>) -> Result<String, Uneditable> {
    let Some(root) = parse(text)?.filter(|root| !root.is_null()) else {
        return Ok(text.to_owned());
    };
    let mut part = &root;
    let mut name = None;
    for (depth, key) in at.keys.iter().enumerate() {
        let table = part.table(text, depth.checked_sub(1).and_then(|up| at.keys.get(up)))?;
        match table.iter().rev().find(|(name, _)| name.is(key)) {
            Some((key, value)) if !value.is_empty_container(text) => {
                name = Some(key);
                part = value;
            }
            _ => return Ok(text.to_owned()),
        }
    }
    let Some((_, range)) = find(text, part, at)? else {
        return Ok(text.to_owned());
    };
    let mut splices = Splices::default();
    splices.replace(range, "");
    let (count, empty) = match &part.kind {
        Kind::List(items) => (items.len(), " []"),
        Kind::Table(members) => (members.len(), " {}"),
        Kind::Scalar(_) | Kind::Alias => (0, ""),
    };
    // Nothing at all would be null, which not every client takes for empty.
    if let (1, Some(name)) = (count, name) {
        splices.insert(colon(text, name), empty);
    }
    Ok(splices.apply(text))
}

/// An entry's indentation and its lines.
fn find<'t>(
    text: &'t str,
    part: &Part,
    at: Where<'_>,
) -> Result<Option<(&'t str, Range<usize>)>, Uneditable> {
    part.check(text, at.keys.last())?;
    let found = match &part.kind {
        Kind::List(items) if at.list => {
            let named = |item: &&Part| match &item.kind {
                Kind::Table(members) => members
                    .iter()
                    .any(|(key, value)| key.is("name") && value.is(at.name)),
                _ => false,
            };
            match items.iter().rev().find(named) {
                Some(item) => Some((dash(text, item)?, item.range.start, item.end())),
                None => None,
            }
        }
        Kind::Table(members) if !at.list => {
            match members.iter().rev().find(|(key, _)| key.is(at.name)) {
                Some((key, value)) => {
                    let end = value.end().max(key.range.end);
                    Some((begin(text, key)?, key.range.start, end))
                }
                None => None,
            }
        }
        _ => {
            return Err(Uneditable::no_table(
                part.range.start,
                at.keys.last().map(String::as_str),
            ));
        }
    };
    Ok(found.map(|(outer, start, end)| (outer, line_start(text, start)..next_line(text, end))))
}

/// Puts lines behind the line in which a place is.
fn put_lines(text: &str, splices: &mut Splices, at: usize, lines: &str, newline: &str) {
    let end = next_line(text, at);
    let missing = text.get(..end).is_some_and(line_end_missing);
    let lead = if missing { newline } else { "" };
    splices.insert(end, format!("{lead}{lines}"));
}

/// Where the colon behind a key ends.
fn colon(text: &str, key: &Part) -> usize {
    let after = text.get(key.range.end..).unwrap_or_default();
    key.range.end + after.find(':').map_or(0, |at| at + 1)
}

/// The indentation of a key, which has to be the first thing in its line.
fn begin<'t>(text: &'t str, key: &Part) -> Result<&'t str, Uneditable> {
    indent(text, key.range.start)
        .ok_or_else(|| Uneditable::style(key.range.start, "several things on one line"))
}

/// The indentation of the dash before an item.
fn dash<'t>(text: &'t str, item: &Part) -> Result<&'t str, Uneditable> {
    let start = line_start(text, item.range.start);
    let before = text.get(start..item.range.start).unwrap_or_default();
    let blanks = before.len() - before.trim_start_matches(' ').len();
    if before.trim() == "-" {
        Ok(before.get(..blanks).unwrap_or_default())
    } else {
        Err(Uneditable::style(
            item.range.start,
            "several things on one line",
        ))
    }
}

impl Part {
    fn is(&self, text: &str) -> bool {
        matches!(&self.kind, Kind::Scalar(scalar) if scalar == text)
    }

    fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(text) if text.is_empty()) && self.range.is_empty()
    }

    /// Whether this stands where a container should, with nothing in it.
    fn is_empty_container(&self, text: &str) -> bool {
        let braces = matches!(&self.kind, Kind::List(items) if items.is_empty())
            || matches!(&self.kind, Kind::Table(members) if members.is_empty());
        self.is_null() || (braces && self.is_flow(text) && !self.anchored)
    }

    fn is_flow(&self, text: &str) -> bool {
        let here = text.get(self.range.start..).unwrap_or_default();
        here.starts_with(['{', '['])
    }

    fn check(&self, text: &str, key: Option<&String>) -> Result<(), Uneditable> {
        let at = self.range.start;
        match &self.kind {
            Kind::Alias => Err(Uneditable::style(at, "an alias")),
            Kind::Scalar(_) => Err(Uneditable::no_table(at, key.map(String::as_str))),
            _ if self.anchored => Err(Uneditable::style(at, "an anchor")),
            _ if self.is_flow(text) => Err(Uneditable::style(at, "flow style (`{…}` or `[…]`)")),
            _ => Ok(()),
        }
    }

    /// The members of what has to be a table in block style; `key` is whose value
    /// it is.
    fn table(&self, text: &str, key: Option<&String>) -> Result<&[(Part, Part)], Uneditable> {
        self.check(text, key)?;
        match &self.kind {
            Kind::Table(members) => Ok(members),
            _ => Err(Uneditable::no_table(
                self.range.start,
                key.map(String::as_str),
            )),
        }
    }

    /// Where the last thing in it ends. The parser sees the end of a block only
    /// when the next thing begins.
    fn end(&self) -> usize {
        self.range.end
    }
}

/// Reads the places of a document; none where there is nothing in it.
fn parse(text: &str) -> Result<Option<Part>, Uneditable> {
    let places = Places::of(text);
    let byte = |marker: &Marker| places.byte(marker);
    let mut open: Vec<(Part, Option<Part>)> = Vec::new();
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
                    Part {
                        range,
                        anchored: anchor != 0,
                        kind: Kind::Scalar(scalar.into_owned()),
                    },
                    &mut open,
                    &mut root,
                );
                continue;
            }
            Event::Alias(_) => {
                put(
                    Part {
                        range,
                        anchored: false,
                        kind: Kind::Alias,
                    },
                    &mut open,
                    &mut root,
                );
                continue;
            }
            Event::SequenceStart(anchor, _) => (Kind::List(Vec::new()), anchor != 0),
            Event::MappingStart(anchor, _) => (Kind::Table(Vec::new()), anchor != 0),
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
            Part {
                range,
                anchored,
                kind,
            },
            None,
        ));
    }
    Ok(root)
}

/// Takes a part that is complete to where it belongs.
fn put(part: Part, open: &mut [(Part, Option<Part>)], root: &mut Option<Part>) {
    let Some((parent, waiting)) = open.last_mut() else {
        *root = Some(part);
        return;
    };
    match &mut parent.kind {
        Kind::List(items) => {
            parent.range.end = parent.range.end.max(part.range.end);
            items.push(part);
        }
        Kind::Table(members) => match waiting.take() {
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
        Kind::Scalar(_) | Kind::Alias => {}
    }
}

/// Lines in the making.
struct Lines {
    newline: &'static str,
    text: String,
}

impl Lines {
    fn line(&mut self, indent: &str, line: &str) {
        self.text
            .push_str(&format!("{indent}{line}{}", self.newline));
    }

    /// The lines of an entry, as a member or an item of what is at `indent`.
    fn entry(&mut self, indent: &str, at: Where<'_>, entry: &Json) {
        let inner = format!("{indent}{UNIT}");
        let members = entry.as_object().into_iter().flatten();
        if at.list {
            self.line(indent, &format!("- name: {}", scalar(at.name)));
            for (key, value) in members.filter(|(key, _)| *key != "name") {
                self.member(&inner, key, value);
            }
        } else {
            self.line(indent, &format!("{}:", scalar(at.name)));
            for (key, value) in members {
                self.member(&inner, key, value);
            }
        }
    }

    fn member(&mut self, indent: &str, key: &str, value: &Json) {
        let key = scalar(key);
        let inner = format!("{indent}{UNIT}");
        match value {
            Json::Array(items) if !items.is_empty() => {
                self.line(indent, &format!("{key}:"));
                for item in items {
                    self.line(&inner, &format!("- {}", json(item)));
                }
            }
            Json::Object(members) if !members.is_empty() => {
                self.line(indent, &format!("{key}:"));
                for (key, value) in members {
                    self.member(&inner, key, value);
                }
            }
            other => self.line(indent, &format!("{key}: {}", json(other))),
        }
    }
}

/// A value in a line: JSON is YAML, and words need no quotes.
fn json(value: &Json) -> String {
    match value {
        Json::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text as a scalar, in quotes unless it is plainly a word.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let taken = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if plain && !taken.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        Json::from(text).to_string()
    }
}
