//! TOML.

use toml_edit::{Document, Item, TableLike};

use super::{DEEPEST, DocumentMember, DocumentValue, Node, UnreadableDocument};
use crate::reading::reader::{TOO_MANY_PARTS, key_span, too_many_parts};

pub(super) fn parse(text: &str) -> Result<Node, UnreadableDocument> {
    if let Some(at) = too_many_parts(text) {
        return Err(UnreadableDocument {
            at,
            message: TOO_MANY_PARTS.to_owned(),
        });
    }
    let document = Document::parse(text).map_err(|error| {
        // Several lines can be in it, and only the first says what is wrong.
        let message = error.message().lines().next().unwrap_or_default();
        UnreadableDocument {
            at: error.span().map_or(0, |span| span.start),
            message: format!("this is not TOML: {message}"),
        }
    })?;
    Ok(Node {
        at: 0,
        value: table(document.as_table(), 0)?,
    })
}

fn table(table: &dyn TableLike, depth: usize) -> Result<DocumentValue, UnreadableDocument> {
    let members = table.iter().map(|(key, item)| {
        let at = key_span(table, key).or_else(|| item.span());
        let at = at.map_or(0, |span| span.start);
        Ok(DocumentMember {
            key: key.to_owned(),
            at,
            node: node(item, at, depth + 1)?,
        })
    });
    Ok(DocumentValue::Table(members.collect::<Result<_, _>>()?))
}

/// Converts an item. `key` is the place of the item's key: a table may have no place of its own.
fn node(item: &Item, key: usize, depth: usize) -> Result<Node, UnreadableDocument> {
    let at = item.span().map_or(key, |span| span.start);
    if depth > DEEPEST {
        return Err(UnreadableDocument::too_deep(at));
    }
    let value = if let Some(inner) = item.as_table_like() {
        table(inner, depth)?
    } else if let Some(array) = item.as_array() {
        let items = array.iter().cloned();
        list(items.map(Item::Value), at, depth)?
    } else if let Some(tables) = item.as_array_of_tables() {
        list(tables.iter().cloned().map(Item::Table), at, depth)?
    } else if let Some(text) = item.as_str() {
        DocumentValue::Text(text.to_owned())
    } else if let Some(boolean) = item.as_bool() {
        DocumentValue::Bool(boolean)
    } else if let Some(number) = item.as_integer() {
        DocumentValue::Number(number.to_string())
    } else if let Some(number) = item.as_float() {
        DocumentValue::Number(number.to_string())
    } else if let Some(date) = item.as_datetime() {
        DocumentValue::Text(date.to_string())
    } else {
        DocumentValue::Null
    };
    Ok(Node { at, value })
}

fn list(
    items: impl Iterator<Item = Item>,
    at: usize,
    depth: usize,
) -> Result<DocumentValue, UnreadableDocument> {
    let items = items.map(|item| node(&item, at, depth + 1));
    Ok(DocumentValue::List(items.collect::<Result<_, _>>()?))
}
