//! JSON with comments and trailing commas.
//!
//! The text is spliced at the places that the parser tells. The parser's own editing would also
//! tidy up what is around: blank lines and comments are the user's.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

use super::text::{Splices, indent, line_start, newline, next_line, skip_blanks};
use super::{Uneditable, Where};

/// The indentation of a file that shows none of its own.
const UNIT: &str = "  ";

pub(super) fn add(text: &str, at: Where<'_>, entry: &Json) -> Result<String, Uneditable> {
    let (root, tokens) = parse(text)?;
    let page = Page::new(text, tokens, root.as_ref());
    let (keys, last) = (at.keys, at.name);
    let Some(root) = &root else {
        return Ok(page.begin(&nest(keys, last, entry)));
    };
    let mut object = object(root, None)?;
    for (index, key) in keys.iter().enumerate() {
        let Some(property) = find(object, key) else {
            let rest = keys.get(index + 1..).unwrap_or_default();
            return Ok(page.insert(object, key, &nest(rest, last, entry)));
        };
        object = self::object(&property.value, Some(key))?;
    }
    Ok(match find(object, last) {
        Some(property) => page.replace(property, entry),
        None => page.insert(object, last, entry),
    })
}

pub(super) fn remove(text: &str, at: Where<'_>) -> Result<String, Uneditable> {
    let (root, tokens) = parse(text)?;
    let page = Page::new(text, tokens, root.as_ref());
    let Some(root) = &root else {
        return Ok(text.to_owned());
    };
    let mut object = object(root, None)?;
    for key in at.keys {
        let Some(property) = find(object, key) else {
            return Ok(text.to_owned());
        };
        object = self::object(&property.value, Some(key))?;
    }
    match find(object, at.name) {
        Some(property) => Ok(page.remove(property)),
        None => Ok(text.to_owned()),
    }
}

type Parsed<'t> = (Option<Value<'t>>, Vec<TokenAndRange<'t>>);

fn parse(text: &str) -> Result<Parsed<'_>, Uneditable> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    // Whether it may be read at all has been found out before.
    let parsed = parse_to_ast(text, &collect, &ParseOptions::default()).map_err(|error| {
        Uneditable::unreadable(
            error.range().start,
            format!("this is not JSON: {}", error.kind()),
        )
    })?;
    Ok((parsed.value, parsed.tokens.unwrap_or_default()))
}

/// Returns the object that a value has to be; `key` is the key of that value.
fn object<'v, 't>(value: &'v Value<'t>, key: Option<&str>) -> Result<&'v Object<'t>, Uneditable> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(Uneditable::no_table(value.range().start, key)),
    }
}

/// Finds a property. Of a key that is there twice the last one counts, as it does for the clients.
fn find<'o, 't>(object: &'o Object<'t>, key: &str) -> Option<&'o ObjectProp<'t>> {
    let mut backwards = object.properties.iter().rev();
    backwards.find(|property| property.name.as_str() == key)
}

/// Puts an entry into the tables that lead to it.
fn nest(keys: &[String], name: &str, entry: &Json) -> Json {
    let within =
        |value: Json, key: &str| Json::Object([(key.to_owned(), value)].into_iter().collect());
    let entry = within(entry.clone(), name);
    keys.iter()
        .rev()
        .fold(entry, |value, key| within(value, key))
}

/// A text, with the style in which more is written into it.
struct Page<'t> {
    text: &'t str,
    tokens: Vec<TokenAndRange<'t>>,
    newline: &'static str,
    unit: &'t str,
    /// Whether all of the text is on one line.
    flat: bool,
}

impl<'t> Page<'t> {
    fn new(text: &'t str, tokens: Vec<TokenAndRange<'t>>, root: Option<&Value<'t>>) -> Self {
        let object = match root {
            Some(Value::Object(object)) => Some(object),
            _ => None,
        };
        let first = object.and_then(|object| object.properties.first());
        let unit = first
            .and_then(|property| indent(text, property.range.start))
            .filter(|unit| !unit.is_empty());
        let flat = object.is_some_and(|object| {
            let whole = text.get(object.range.start..object.range.end);
            !object.properties.is_empty() && whole.is_some_and(|whole| !whole.contains('\n'))
        });
        Self {
            text,
            tokens,
            newline: newline(text),
            unit: unit.unwrap_or(UNIT),
            flat,
        }
    }

    /// Returns the text of a file in which there is nothing but perhaps comments, with a value
    /// added.
    fn begin(&self, root: &Json) -> String {
        let comments = self.text.trim_end();
        let lead = if comments.is_empty() {
            ""
        } else {
            self.newline
        };
        format!("{comments}{lead}{}{}", self.pretty(root, ""), self.newline)
    }

    fn replace(&self, property: &ObjectProp<'_>, value: &Json) -> String {
        let range = property.value.range();
        let value = match indent(self.text, property.range.start) {
            Some(indent) if !self.flat => self.pretty(value, indent),
            _ => value.to_string(),
        };
        let mut splices = Splices::default();
        splices.replace(range.start..range.end, value);
        splices.apply(self.text)
    }

    fn insert(&self, object: &Object<'_>, key: &str, value: &Json) -> String {
        let key = Json::from(key);
        let Some(last) = object.properties.last() else {
            return self.insert_first(object, &key, value);
        };
        let before = indent(self.text, last.range.start);
        let comma = self.comma_after(last.range.end);
        let end = self.comments_after(comma.map_or(last.range.end, |comma| comma.end));
        // A comment to the end of the line would swallow what is put behind it.
        let commented = self
            .tokens
            .iter()
            .any(|token| token.range.end == end && matches!(token.token, Token::CommentLine(_)));
        let mut piece = match before {
            Some(indent) => format!(
                "{}{indent}{key}: {}",
                self.newline,
                self.pretty(value, indent)
            ),
            None if commented => format!("{}{key}: {value}", self.newline),
            None => format!(" {key}: {value}"),
        };
        let mut splices = Splices::default();
        match comma {
            // Whoever writes commas at the end wants them there.
            Some(_) => piece.push(','),
            None => splices.insert(last.range.end, ","),
        }
        splices.insert(end, piece);
        splices.apply(self.text)
    }

    /// Puts a member into an object that has none, behind the comments in it.
    fn insert_first(&self, object: &Object<'_>, key: &Json, value: &Json) -> String {
        let (open, close) = (object.range.start + 1, object.range.end - 1);
        let mut splices = Splices::default();
        if self.flat {
            splices.replace(
                open..skip_blanks(self.text, open).min(close),
                format!("{key}: {value}"),
            );
            return splices.apply(self.text);
        }
        let start = line_start(self.text, object.range.start);
        let outer = self
            .text
            .get(start..skip_blanks(self.text, start))
            .unwrap_or_default();
        let inner = format!("{outer}{}", self.unit);
        let piece = format!(
            "{}{inner}{key}: {}",
            self.newline,
            self.pretty(value, &inner)
        );
        let comment = self
            .tokens
            .iter()
            .rev()
            .find(|token| token.range.start >= open && token.range.end <= close);
        let behind = comment.map_or(open, |comment| comment.range.end);
        let rest = self.text.get(behind..close).unwrap_or_default();
        if rest.contains('\n') {
            splices.insert(behind, piece);
        } else {
            splices.replace(behind..close, format!("{piece}{}{outer}", self.newline));
        }
        splices.apply(self.text)
    }

    /// Removes a member and the comments in it and behind it in its line. Comments in lines of
    /// their own stay, whatever they are about.
    fn remove(&self, property: &ObjectProp<'_>) -> String {
        let Range { start, end } = property.range;
        let mut splices = Splices::default();
        let comma = self.comma_after(end);
        let mut range = start..self.comments_after(comma.map_or(end, |comma| comma.end));
        let rest = skip_blanks(self.text, range.end);
        let ends_line = self
            .text
            .get(rest..)
            .is_some_and(|rest| rest.starts_with(['\r', '\n']));
        let begins_line = indent(self.text, start).is_some();
        if begins_line && ends_line {
            range = line_start(self.text, start)..next_line(self.text, rest);
        } else if comma.is_some() {
            range.end = rest;
        } else if !begins_line {
            let head = self.text.get(..start).unwrap_or_default();
            range.start = head.trim_end_matches([' ', '\t']).len();
        }
        if comma.is_none()
            && let Some(before) = self.comma_before(start)
        {
            splices.replace(before.start..before.end, "");
        }
        splices.replace(range, "");
        splices.apply(self.text)
    }

    fn comma_after(&self, at: usize) -> Option<Range> {
        let mut after = self.tokens.iter().filter(|token| token.range.start >= at);
        let next = after.find(|token| !is_comment(&token.token))?;
        (next.token == Token::Comma).then_some(next.range)
    }

    fn comma_before(&self, at: usize) -> Option<Range> {
        let mut before = self
            .tokens
            .iter()
            .rev()
            .filter(|token| token.range.end <= at);
        let next = before.find(|token| !is_comment(&token.token))?;
        (next.token == Token::Comma).then_some(next.range)
    }

    /// Returns the end of the comments that follow a place in its line.
    fn comments_after(&self, at: usize) -> usize {
        let mut end = at;
        for token in self.tokens.iter().filter(|token| token.range.start >= at) {
            let between = self.text.get(end..token.range.start).unwrap_or_default();
            if !is_comment(&token.token) || between.contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }

    /// Writes a value as people do: a line for each member of an object, a list of words on one
    /// line.
    fn pretty(&self, value: &Json, indent: &str) -> String {
        match value {
            Json::Object(members) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit);
                let members: Vec<_> = members
                    .iter()
                    .map(|(key, value)| {
                        let key = Json::from(key.as_str());
                        format!(
                            "{}{inner}{key}: {}",
                            self.newline,
                            self.pretty(value, &inner)
                        )
                    })
                    .collect();
                format!("{{{}{}{indent}}}", members.join(","), self.newline)
            }
            Json::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.pretty(item, indent)).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}
