//! Reading the values of a TOML document, each mistake with its place, its value
//! and a way out.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dormouse_files::paths;
use dormouse_launch::redaction::tells_nothing;
use dormouse_policy::ProviderLogin;
use dormouse_text::nearest::nearest;
use serde_json::{Map, Number, Value as Json};
use toml_edit::{Item, TableLike, Value};

use super::lines::LineBeginnings;
use crate::file::MisplacedKeys;
use crate::problem::{MAX_PROBLEMS, quoted, shown_message, within};
use crate::{ConfigProblem, Inputs};

/// Most tables, arrays, keys and parts of keys of a TOML document: each takes some hundred times
/// the memory of its text.
const MAX_TOML_PARTS: usize = 50_000;

/// Problem of a document with more parts than that.
pub(crate) const TOO_MANY_PARTS: &str = "this has more than 50000 keys and values";

/// Returns the place of the part of a TOML document that is one too many, if there is one.
/// Characters that begin a part are counted, also in texts, where they are less frequent.
pub(crate) fn too_many_parts(text: &str) -> Option<usize> {
    let parts = text.bytes().enumerate();
    let mut parts = parts.filter(|(_, byte)| matches!(byte, b'.' | b'[' | b'{' | b'=' | b','));
    parts.nth(MAX_TOML_PARTS).map(|(at, _)| at)
}

/// A document that is being read, and its problems so far.
pub(crate) struct DocumentReader<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a str,
    lines: LineBeginnings,
    pub(crate) problems: Vec<ConfigProblem>,
    /// Number of problems, with those that are not reported.
    pub(crate) problem_count: usize,
    pub(crate) variables: VariableHandling,
    /// Most servers that are read.
    pub(crate) max_servers: usize,
    /// Answers to the questions of clients that are filled in. None where the document says
    /// them itself (`[discovery.inputs]`).
    pub(crate) inputs: Option<Inputs>,
    /// Providers of logins that the document has; none where something is wrong with one.
    pub(crate) providers: BTreeMap<String, Option<ProviderLogin>>,
    /// Keys that are in none of the tables that they belong into.
    pub(crate) misplaced: MisplacedKeys,
}

/// Handling of the variables of a document, and the limit of what is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableHandling {
    /// Variables stay as they are written.
    Kept,
    /// Values are filled in, of at most this number of bytes. None where the document sets the
    /// number itself (`filled_in` of `[discovery]`).
    FilledIn(Option<usize>),
}

impl<'a> DocumentReader<'a> {
    pub(crate) fn new(file: &'a Path, text: &'a str, variables: VariableHandling) -> Self {
        Self {
            variables,
            file,
            text,
            lines: LineBeginnings::of(text),
            problems: Vec::new(),
            problem_count: 0,
            max_servers: usize::MAX,
            inputs: None,
            providers: BTreeMap::new(),
            misplaced: MisplacedKeys::default(),
        }
    }
}

impl DocumentReader<'_> {
    /// Sets a value that is written with a unit.
    pub(crate) fn set<T>(
        &mut self,
        value: &mut T,
        item: &Item,
        at: &str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) {
        if let Some(read) = self.measure(item, at, read) {
            *value = read;
        }
    }

    /// Reads a value that is written with a unit.
    pub(crate) fn measure<T>(
        &mut self,
        item: &Item,
        at: &str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        // A bare number is read like the text of it, so that its error is the
        // one about units.
        let raw = self.raw(item);
        let text = match item.as_str() {
            Some(text) => text,
            None if item.is_integer() => raw,
            None => {
                self.wrong_type(item, at, "a string");
                return None;
            }
        };
        match read(text) {
            Ok(value) => Some(value),
            Err(hint) => {
                let message = format!("`{at}` cannot be {}", self.shown(item));
                self.problem(item.span(), message, Some(hint.to_owned()));
                None
            }
        }
    }

    pub(crate) fn count(&mut self, item: &Item, at: &str) -> Option<u32> {
        let Some(number) = item.as_integer() else {
            self.wrong_type(item, at, "a whole number");
            return None;
        };
        let count = u32::try_from(number).ok().filter(|count| *count > 0);
        if count.is_none() {
            let message = format!("`{at}` cannot be {}", self.shown(item));
            self.problem(
                item.span(),
                message,
                Some(format!("use a number from 1 to {}", u32::MAX)),
            );
        }
        count
    }

    pub(crate) fn path(&mut self, item: &Item, at: &str) -> Option<PathBuf> {
        let text = self.string(item, at)?;
        let base = self.file.parent().unwrap_or(Path::new(""));
        match paths::expand(text, base) {
            Ok(path) => Some(path),
            Err(why) => {
                self.problem(
                    item.span(),
                    format!("`{at}`: {why}"),
                    Some("use an absolute path, one from the folder of this file, or one from your home with `~/`".to_owned()),
                );
                None
            }
        }
    }

    pub(crate) fn choice<T: Copy>(
        &mut self,
        item: &Item,
        at: &str,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let text = self.string(item, at)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        // One that is nearly right is no secret.
        let shown = match nearest(text, choices.iter().map(|(name, _)| *name)) {
            Some(_) => quoted(self.raw(item)),
            None => self.shown(item),
        };
        let names: Vec<_> = choices
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        self.problem(
            item.span(),
            format!("`{at}` cannot be {shown}"),
            Some(format!("use {}", names.join(" or "))),
        );
        None
    }

    /// Returns the items of an array, whichever of TOML's two ways it is written in.
    pub(crate) fn items(&mut self, item: &Item, at: &str) -> Vec<Item> {
        if let Some(array) = item.as_array() {
            return array.iter().cloned().map(Item::Value).collect();
        }
        if let Some(tables) = item.as_array_of_tables() {
            return tables.iter().cloned().map(Item::Table).collect();
        }
        self.wrong_type(item, at, "an array");
        Vec::new()
    }

    pub(crate) fn table<'t>(&mut self, item: &'t Item, at: &str) -> Option<&'t dyn TableLike> {
        if item.as_table_like().is_none() {
            self.wrong_type(item, at, "a table");
        }
        item.as_table_like()
    }

    pub(crate) fn string<'t>(&mut self, item: &'t Item, at: &str) -> Option<&'t str> {
        if item.as_str().is_none() {
            self.wrong_type(item, at, "a string");
        }
        item.as_str()
    }

    pub(crate) fn boolean(&mut self, item: &Item, at: &str) -> Option<bool> {
        if item.as_bool().is_none() {
            self.wrong_type(item, at, "true or false");
        }
        item.as_bool()
    }

    pub(crate) fn table_json(&mut self, item: &Item, at: &str) -> Option<Json> {
        self.table(item, at)?;
        self.json(item, at)
    }

    /// Converts an item to JSON, which is what plugins get. A date, for which JSON has no word,
    /// becomes a string; numbers that JSON cannot write are refused.
    pub(crate) fn json(&mut self, item: &Item, at: &str) -> Option<Json> {
        if let Some(table) = item.as_table_like() {
            let mut object = Map::new();
            for (key, item) in table.iter() {
                object.insert(key.to_owned(), self.json(item, &within(at, key))?);
            }
            return Some(Json::Object(object));
        }
        Some(match item {
            Item::Value(Value::String(text)) => Json::String(text.value().clone()),
            Item::Value(Value::Integer(number)) => Json::from(*number.value()),
            Item::Value(Value::Boolean(boolean)) => Json::from(*boolean.value()),
            Item::Value(Value::Datetime(date)) => Json::String(date.value().to_string()),
            Item::Value(Value::Float(number)) => {
                let Some(number) = Number::from_f64(*number.value()) else {
                    let message = format!(
                        "`{at}` is {}, which JSON cannot express",
                        quoted(self.raw(item))
                    );
                    self.problem(
                        item.span(),
                        message,
                        Some(
                            "settings reach the plugin as JSON: use a finite number, or a string"
                                .to_owned(),
                        ),
                    );
                    return None;
                };
                Json::Number(number)
            }
            _ => {
                let mut array = Vec::new();
                for (index, item) in self.items(item, at).iter().enumerate() {
                    array.push(self.json(item, &format!("{at}[{index}]"))?);
                }
                Json::Array(array)
            }
        })
    }

    pub(crate) fn unknown(&mut self, table: &dyn TableLike, key: &str, of: &str, known: &[&str]) {
        if let Some(item) = table.get(key) {
            self.misplaced.add(key, item, known);
        }
        let near = nearest(key, known.iter().copied());
        // Whatever is in the nearest key's place; far ones get the whole list.
        let hint = match (MisplacedKeys::place_of(key, known), near) {
            (Some(place), _) => format!("write it into {place}"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("its keys are `{}`", known.join("`, `")),
        };
        self.problem(
            key_span(table, key),
            format!("{} is no key of {of}", quoted(key)),
            Some(hint),
        );
    }

    pub(crate) fn wrong_type(&mut self, item: &Item, at: &str, expected: &str) {
        if item.is_array() {
            self.misplaced.add_array(at);
        }
        let shown = match self.may_be_shown(item) {
            true => quoted(self.raw(item)) + " ",
            false => String::new(),
        };
        let message = format!(
            "`{at}` has to be {expected}, and {shown}is {}",
            match item.type_name() {
                "integer" => "an integer".to_owned(),
                "array" | "array of tables" | "inline table" => format!("an {}", item.type_name()),
                other => format!("a {other}"),
            }
        );
        self.problem(item.span(), message, None);
    }

    /// Whether a message may repeat a value: what is wrong may be a secret in a wrong place.
    fn may_be_shown(&self, item: &Item) -> bool {
        /// Longest text that begins with a digit and is taken for a size or a time.
        const MAX_SIZE_BYTES: usize = 10;
        match item.as_str() {
            Some(text)
                if text.len() <= MAX_SIZE_BYTES
                    && text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                true
            }
            Some(text) => tells_nothing(text) && !text.contains("://"),
            None => item.is_integer() || item.is_float() || item.is_bool() || item.is_datetime(),
        }
    }

    /// Returns a value for a message, if it may be repeated.
    pub(crate) fn shown(&self, item: &Item) -> String {
        match self.may_be_shown(item) {
            true => quoted(self.raw(item)),
            false => "what it is".to_owned(),
        }
    }

    /// Returns an item as it is written.
    pub(crate) fn raw(&self, item: &Item) -> &str {
        item.span()
            .and_then(|span| self.text.get(span))
            .unwrap_or_default()
    }

    pub(crate) fn problem(
        &mut self,
        span: Option<Range<usize>>,
        message: String,
        hint: Option<String>,
    ) {
        self.problem_count += 1;
        let message = match self.problem_count {
            count if count > MAX_PROBLEMS + 1 => return,
            count if count > MAX_PROBLEMS => {
                format!("more than {MAX_PROBLEMS} things are wrong in this file")
            }
            _ => message,
        };
        let (line, column) = self.place(span.as_ref());
        self.problems.push(ConfigProblem {
            file: self.file.to_owned(),
            line,
            column,
            message: shown_message(&message),
            hint,
        });
    }

    /// Returns the line and column of the beginning of a span, counted from 1.
    pub(crate) fn place(&self, span: Option<&Range<usize>>) -> (usize, usize) {
        self.lines
            .place(self.text, span.map_or(0, |span| span.start))
    }
}

/// Returns the place of a key.
pub(crate) fn key_span(table: &dyn TableLike, key: &str) -> Option<Range<usize>> {
    table.key(key).and_then(toml_edit::Key::span)
}
