//! TOML.
//!
//! An entry is added as lines at the end of the file and removed as the lines it
//! is written in. To print the document again would be shorter, but change the
//! ends of lines where they are those of Windows.

use std::ops::Range;

use serde_json::Value as Json;
use toml_edit::{Array, Document, InlineTable, Item, Key, Table, TableLike, Value};

use super::text::{Splices, line_end_missing, line_start, newline, next_line};
use super::{Uneditable, Where};
use crate::reading::reader::key_span;

pub(super) fn add(text: &str, at: Where<'_>, entry: &Json) -> Result<String, Uneditable> {
    let mut text = remove(text, at)?;
    let newline = newline(&text);
    if line_end_missing(&text) {
        text.push_str(newline);
    }
    if !text.trim().is_empty() && !text.ends_with(&format!("{newline}{newline}")) {
        text.push_str(newline);
    }
    let path: Vec<_> = at
        .keys
        .iter()
        .map(String::as_str)
        .chain([at.name])
        .collect();
    let path: Vec<_> = path
        .into_iter()
        .map(|key| Key::new(key).to_string())
        .collect();
    text.push_str(&format!("[{}]{newline}", path.join(".")));
    for (key, value) in entry.as_object().into_iter().flatten() {
        let key = Key::new(key);
        if let Some(value) = self::value(value) {
            text.push_str(&format!("{key} = {value}{newline}"));
        }
    }
    Ok(text)
}

pub(super) fn remove(text: &str, at: Where<'_>) -> Result<String, Uneditable> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Uneditable::unreadable(at, "this is not TOML".to_owned())
    })?;
    let mut table: &dyn TableLike = document.as_table();
    for key in at.keys {
        let Some(item) = table.get(key) else {
            return Ok(text.to_owned());
        };
        let place = key_span(table, key).map_or(0, |span| span.start);
        if item.is_inline_table() {
            return Err(Uneditable::style(place, "an inline table"));
        }
        table = item
            .as_table_like()
            .ok_or_else(|| Uneditable::no_table(place, Some(key)))?;
    }
    let Some(item) = table.get(at.name) else {
        return Ok(text.to_owned());
    };
    let mut blocks = Vec::new();
    let key = key_span(table, at.name).map_or(0, |span| span.start);
    blocks_of(text, item, key, &mut blocks);
    let mut splices = Splices::default();
    for block in joined(text, blocks) {
        splices.replace(with_blank_lines(text, block), "");
    }
    Ok(splices.apply(text))
}

/// Collects the lines that an item is written in; `key` is the place of its key.
fn blocks_of(text: &str, item: &Item, key: usize, blocks: &mut Vec<Range<usize>>) {
    match item {
        Item::None => {}
        Item::Value(value) => {
            let end = value.span().map_or(key, |span| span.end);
            blocks.push(line_start(text, key)..next_line(text, end));
        }
        Item::Table(table) => blocks_of_table(text, table, blocks),
        Item::ArrayOfTables(tables) => {
            for table in tables {
                blocks_of_table(text, table, blocks);
            }
        }
    }
}

fn blocks_of_table(text: &str, table: &Table, blocks: &mut Vec<Range<usize>>) {
    let headed = !table.is_implicit() && !table.is_dotted();
    if headed && let Some(header) = table.span() {
        let end = lines_end(table).max(header.end);
        blocks.push(line_start(text, header.start)..next_line(text, end));
    }
    for (key, item) in table {
        // What stands under a header is in its lines already.
        let beneath = match item {
            Item::Value(_) => true,
            Item::Table(table) => table.is_dotted(),
            Item::None | Item::ArrayOfTables(_) => false,
        };
        if !(headed && beneath) {
            let key = key_span(table, key).map_or(0, |span| span.start);
            blocks_of(text, item, key, blocks);
        }
    }
}

/// Returns the end of the last value under a table's header.
fn lines_end(table: &Table) -> usize {
    let ends = table.iter().map(|(_, item)| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(table) if table.is_dotted() => lines_end(table),
        _ => 0,
    });
    ends.max().unwrap_or_default()
}

/// Joins runs of lines between which nothing is written.
fn joined(text: &str, mut blocks: Vec<Range<usize>>) -> Vec<Range<usize>> {
    blocks.sort_by_key(|block| block.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for block in blocks {
        match joined.last_mut() {
            Some(last)
                if text
                    .get(last.end..block.start)
                    .is_none_or(|between| between.trim().is_empty()) =>
            {
                last.end = last.end.max(block.end);
            }
            _ => joined.push(block),
        }
    }
    joined
}

/// Extends lines to the blank lines around them that nobody needs without them.
fn with_blank_lines(text: &str, lines: Range<usize>) -> Range<usize> {
    let head = text.get(..lines.start).unwrap_or_default();
    let tail = text.get(lines.end..).unwrap_or_default();
    let blank_before = head.len() - head.trim_end().len();
    // From its start: there may be as many lines as this is asked of, and blank ones behind.
    if tail.trim_start().is_empty() {
        // The end of the last line that stays is no blank line.
        let kept = head.trim_end().len();
        let start = if kept == 0 { 0 } else { next_line(text, kept) };
        return start.min(lines.start)..text.len();
    }
    let spaced = blank_before == head.len()
        || head.trim_end_matches([' ', '\t']).ends_with("\n\n")
        || head.ends_with("\r\n\r\n");
    let blank_after = tail.len() - tail.trim_start_matches(['\r', '\n']).len();
    lines.start..lines.end + if spaced { blank_after } else { 0 }
}

/// Returns a value as TOML writes it; none for null, which it has no word for.
fn value(json: &Json) -> Option<Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(boolean) => (*boolean).into(),
        Json::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => text.into(),
        Json::Array(items) => Value::Array(items.iter().filter_map(value).collect::<Array>()),
        Json::Object(members) => {
            let mut table = InlineTable::new();
            for (key, member) in members {
                if let Some(value) = value(member) {
                    table.insert(key, value);
                }
            }
            Value::InlineTable(table)
        }
    })
}
