//! Reading one server's table: each value with its type, each mistake with its
//! place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use super::draft::DraftText;
use crate::ConfigProblem;
use crate::discovery::document::{DocumentValue, Node};
use crate::problem::{MAX_PROBLEMS, quoted, shown_message, within};
use crate::reading::lines::LineBeginnings;

/// Longest duration, a month: a longer one is a way to say for ever.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A file that is being read, and its problems so far.
pub(in crate::discovery) struct ClientFileReader<'a> {
    pub(in crate::discovery) file: &'a Path,
    pub(in crate::discovery) text: &'a str,
    pub(in crate::discovery) lines: &'a LineBeginnings,
    pub(in crate::discovery) problems: Vec<ConfigProblem>,
    /// Number of problems, with those that are not reported.
    pub(in crate::discovery) problem_count: usize,
}

/// The unit of a number that is a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::discovery) enum Unit {
    Seconds,
    Milliseconds,
}

impl ClientFileReader<'_> {
    /// Adds a problem at a byte.
    pub(in crate::discovery) fn problem(&mut self, at: usize, message: String, hint: Option<&str>) {
        if self.problems.len() < MAX_PROBLEMS {
            self.told(at, message, hint);
        } else {
            self.problem_count += 1;
        }
    }

    /// Adds a problem at a byte, and returns it.
    pub(in crate::discovery) fn told(
        &mut self,
        at: usize,
        message: String,
        hint: Option<&str>,
    ) -> ConfigProblem {
        let (line, column) = self.lines.place(self.text, at);
        let problem = ConfigProblem {
            file: self.file.to_owned(),
            line,
            column,
            message: shown_message(&message),
            hint: hint.map(str::to_owned),
        };
        self.problem_count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem.clone());
        }
        problem
    }

    /// Returns a reader of the same file, whose problems nobody hears of.
    pub(in crate::discovery) fn unheard(&self) -> Self {
        Self {
            problems: Vec::new(),
            problem_count: 0,
            ..*self
        }
    }

    fn wrong_type(&mut self, node: &Node, at: &str, expected: &str) {
        let message = format!("`{at}` has to be {expected}, and is {}", node.kind());
        self.problem(node.at, message, None);
    }
}

/// A server's table in a file.
pub(in crate::discovery) struct ServerEntry<'r, 'a> {
    pub(in crate::discovery) reader: &'r mut ClientFileReader<'a>,
    pub(in crate::discovery) node: &'r Node,
    /// Name of the entry in messages.
    pub(in crate::discovery) at: String,
}

impl<'r> ServerEntry<'r, '_> {
    /// Returns the value of a key, which may lead through tables (`requestOptions.headers`). Null
    /// counts as not set.
    fn value(&self, key: &str) -> Option<&'r Node> {
        let mut node = self.node;
        for key in key.split('.') {
            node = node.get(key)?;
        }
        (node.value != DocumentValue::Null).then_some(node)
    }

    pub(in crate::discovery) fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Returns the place of a key's value, or of the entry where there is no such key.
    pub(in crate::discovery) fn place(&self, key: &str) -> usize {
        self.value(key).unwrap_or(self.node).at
    }

    fn named(&self, key: &str) -> String {
        within(&self.at, key)
    }

    pub(in crate::discovery) fn problem(&mut self, key: &str, message: String, hint: Option<&str>) {
        self.reader.problem(self.place(key), message, hint);
    }

    pub(in crate::discovery) fn text(&mut self, key: &str) -> Option<String> {
        let node = self.value(key)?;
        match node.text() {
            Some(text) if !text.contains('\0') => Some(text.to_owned()),
            Some(_) => {
                let message = format!("`{}` has a NUL character in it", self.named(key));
                self.reader.problem(node.at, message, None);
                None
            }
            None => {
                self.reader.wrong_type(node, &self.named(key), "a string");
                None
            }
        }
    }

    pub(in crate::discovery) fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.value(key)?;
        if let DocumentValue::Bool(boolean) = node.value {
            return Some(boolean);
        }
        self.reader
            .wrong_type(node, &self.named(key), "true or false");
        None
    }

    /// Reads the number of a port.
    pub(in crate::discovery) fn port(&mut self, key: &str) -> Option<u16> {
        let node = self.value(key)?;
        let port = match &node.value {
            DocumentValue::Number(number) => number.parse().ok().filter(|port: &u16| *port > 0),
            _ => None,
        };
        if port.is_none() {
            let message = format!("`{}` has to be a number from 1 to 65535", self.named(key));
            self.reader.problem(node.at, message, None);
        }
        port
    }

    /// Reads a list of texts. Numbers and booleans are taken as they are written, for a program
    /// gets them as texts all the same.
    pub(in crate::discovery) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.value(key)?;
        if !matches!(node.value, DocumentValue::List(_)) {
            self.reader
                .wrong_type(node, &self.named(key), "a list of strings");
            return None;
        }
        let mut texts = Vec::new();
        for (index, item) in node.items().iter().enumerate() {
            match plain(item) {
                Some(text) => texts.push(text),
                None => {
                    let at = format!("{}[{index}]", self.named(key));
                    self.reader.wrong_type(item, &at, "a string");
                }
            }
        }
        Some(texts)
    }

    /// Reads the names in a list, or a single one that stands for itself.
    pub(in crate::discovery) fn names(&mut self, key: &str) -> Option<Vec<String>> {
        match self.value(key)?.text() {
            Some(name) => Some(vec![name.to_owned()]),
            None => self.texts(key),
        }
    }

    /// Reads the names of tools that are denied. Several may be meant by one text, and a name by one
    /// with blanks around it: what may be meant is denied.
    pub(in crate::discovery) fn denied_tools(&mut self, key: &str) -> Vec<String> {
        let texts = self.names(key).unwrap_or_default().into_iter();
        let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|');
        let denied = texts.flat_map(|text| {
            let parts: Vec<_> = text.split(is_between).map(str::to_owned).collect();
            let trimmed = text.trim().to_owned();
            let all = [text, trimmed].into_iter().chain(parts);
            all.filter(|name| !name.is_empty()).collect::<Vec<_>>()
        });
        let mut told = BTreeSet::new();
        denied.filter(|name| told.insert(name.clone())).collect()
    }

    /// Reads a table of texts. No part of a value is ever in a message.
    pub(in crate::discovery) fn table(&mut self, key: &str) -> BTreeMap<String, DraftText> {
        let Some(node) = self.value(key) else {
            return BTreeMap::new();
        };
        if !matches!(node.value, DocumentValue::Table(_)) {
            self.reader
                .wrong_type(node, &self.named(key), "a table of strings");
            return BTreeMap::new();
        }
        let mut table = BTreeMap::new();
        for member in node.members() {
            let name = &member.key;
            if name.is_empty() || name.contains(['\0', '=']) {
                // What stands behind a `=` is a value that slipped in.
                let shown = name.split('=').next().unwrap_or_default();
                let message = format!(
                    "`{}` has a key that is no name: it begins with {}",
                    self.named(key),
                    quoted(shown)
                );
                let hint = "write the name as the key, and the value behind the colon";
                self.reader.problem(member.at, message, Some(hint));
                continue;
            }
            match plain(&member.node) {
                Some(text) => {
                    table.insert(name.clone(), DraftText::Written(text));
                }
                // A value that is null is a way to say that there is none.
                None if member.node.value == DocumentValue::Null => {}
                None => {
                    let at = within(&self.named(key), name);
                    self.reader.wrong_type(&member.node, &at, "a string");
                }
            }
        }
        table
    }

    /// Reads a duration. A server is not lost for a wrong one: it gets the default.
    pub(in crate::discovery) fn duration(&mut self, key: &str, unit: Unit) -> Option<Duration> {
        let node = self.value(key)?;
        let number = match &node.value {
            DocumentValue::Number(number) => number.parse::<f64>().ok(),
            _ => None,
        };
        let seconds = match unit {
            Unit::Seconds => number,
            Unit::Milliseconds => number.map(|number| number / 1000.0),
        };
        let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else {
            let unit = match unit {
                Unit::Seconds => "seconds",
                Unit::Milliseconds => "milliseconds",
            };
            let message = format!("`{}` has to be a number above 0", self.named(key));
            let hint = format!("it is in {unit}; without it, the default holds");
            self.reader.problem(node.at, message, Some(&hint));
            return None;
        };
        Some(
            Duration::try_from_secs_f64(seconds)
                .map_or(MAX_DURATION, |duration| duration.min(MAX_DURATION)),
        )
    }

    /// Reads the names in a list of tools, each a text or a table with a `name`. Anything but a
    /// list has no names.
    pub(in crate::discovery) fn tool_names(&self, key: &str) -> Vec<String> {
        let items = self.value(key).map(Node::items).unwrap_or_default();
        let names = items.iter().filter_map(|item| {
            let name = item.get("name").unwrap_or(item);
            name.text().map(str::to_owned)
        });
        names.collect()
    }
}

/// Returns a scalar as the text that a program gets.
fn plain(node: &Node) -> Option<String> {
    match &node.value {
        DocumentValue::Text(text) if text.contains('\0') => None,
        DocumentValue::Text(text) | DocumentValue::Number(text) => Some(text.clone()),
        DocumentValue::Bool(boolean) => Some(boolean.to_string()),
        DocumentValue::Null | DocumentValue::List(_) | DocumentValue::Table(_) => None,
    }
}
