//! YAML, in block style: an entry is a run of lines.
//!
//! No crate edits YAML and keeps what is around. The places are the parser's; a document that is
//! written in a way that lines cannot be put into (flow style, anchors) is refused.

mod lines;
mod part;

use std::ops::Range;

use serde_json::Value as Json;

use self::lines::{UNIT, YamlLines, scalar};
use self::part::{YamlPart, YamlPartKind, parse};
use super::text::{Splices, indent, line_end_missing, line_start, newline, next_line};
use super::{Uneditable, Where};

pub(super) fn add(text: &str, at: Where<'_>, entry: &Json) -> Result<String, Uneditable> {
    let root = parse(text)?;
    let newline = newline(text);
    let mut lines = YamlLines {
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
                YamlPartKind::List(items) => {
                    items.first().map(|item| dash(text, item)).transpose()?
                }
                YamlPartKind::Table(members) => members
                    .first()
                    .map(|(key, _)| begin(text, key))
                    .transpose()?,
                YamlPartKind::Scalar(_) | YamlPartKind::Alias => None,
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
        YamlPartKind::List(items) => (items.len(), " []"),
        YamlPartKind::Table(members) => (members.len(), " {}"),
        YamlPartKind::Scalar(_) | YamlPartKind::Alias => (0, ""),
    };
    // Nothing at all would be null, which not every client takes for empty.
    if let (1, Some(name)) = (count, name) {
        splices.insert(colon(text, name), empty);
    }
    Ok(splices.apply(text))
}

/// Finds an entry's indentation and its lines.
fn find<'t>(
    text: &'t str,
    part: &YamlPart,
    at: Where<'_>,
) -> Result<Option<(&'t str, Range<usize>)>, Uneditable> {
    part.check(text, at.keys.last())?;
    let found = match &part.kind {
        YamlPartKind::List(items) if at.list => {
            let named = |item: &&YamlPart| match &item.kind {
                YamlPartKind::Table(members) => members
                    .iter()
                    .any(|(key, value)| key.is("name") && value.is(at.name)),
                _ => false,
            };
            match items.iter().rev().find(named) {
                Some(item) => Some((dash(text, item)?, item.range.start, item.end())),
                None => None,
            }
        }
        YamlPartKind::Table(members) if !at.list => {
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

/// Returns the end of the colon behind a key.
fn colon(text: &str, key: &YamlPart) -> usize {
    let after = text.get(key.range.end..).unwrap_or_default();
    key.range.end + after.find(':').map_or(0, |at| at + 1)
}

/// Returns the indentation of a key, which has to be the first thing in its line.
fn begin<'t>(text: &'t str, key: &YamlPart) -> Result<&'t str, Uneditable> {
    indent(text, key.range.start)
        .ok_or_else(|| Uneditable::style(key.range.start, "several things on one line"))
}

/// Returns the indentation of the dash before an item.
fn dash<'t>(text: &'t str, item: &YamlPart) -> Result<&'t str, Uneditable> {
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
