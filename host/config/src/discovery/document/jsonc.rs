//! JSON with comments and trailing commas.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{DEEPEST, DocumentMember, DocumentValue, Node, UnreadableDocument, empty};

/// Options for what editors allow in their settings, and nothing of JSON5: a file that its own
/// client cannot read is not read here as if nothing were wrong.
const ALLOWED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(text: &str) -> Result<Node, UnreadableDocument> {
    let document = parse_to_ast(text, &CollectOptions::default(), &ALLOWED).map_err(|error| {
        UnreadableDocument {
            at: error.range().start,
            message: format!("this is not JSON: {}", error.kind()),
        }
    })?;
    match document.value {
        Some(value) => node(value, 0),
        None => Ok(empty()),
    }
}

fn node(value: ast::Value<'_>, depth: usize) -> Result<Node, UnreadableDocument> {
    let at = value.range().start;
    if depth > DEEPEST {
        return Err(UnreadableDocument::too_deep(at));
    }
    let value = match value {
        ast::Value::StringLit(text) => DocumentValue::Text(text.value.into_owned()),
        ast::Value::NumberLit(number) => DocumentValue::Number(number.value.to_owned()),
        ast::Value::BooleanLit(boolean) => DocumentValue::Bool(boolean.value),
        ast::Value::NullKeyword(_) => DocumentValue::Null,
        ast::Value::Array(array) => {
            let items = array.elements.into_iter().map(|item| node(item, depth + 1));
            DocumentValue::List(items.collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => {
            let members = object.properties.into_iter().map(|property| {
                Ok(DocumentMember {
                    at: property.range.start,
                    key: property.name.into_string(),
                    node: node(property.value, depth + 1)?,
                })
            });
            DocumentValue::Table(members.collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { at, value })
}
