//! Reading `dormouse.toml`.
//!
//! The document is walked by hand rather than deserialized, so that every problem
//! is found in one go and each is told with its place, its value and a way out.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use dormouse_wit::Instance;
use serde_json::{Map, Number, Value as Json};
use toml_edit::{Document, Item, TableLike, Value};

use super::problem::quoted;
use super::{Config, Origin, Problem, ServerConfig, name, paths, units};
use crate::sandbox::{FsGrant, FsMode, Grants, Limits};

/// No configuration is larger than this; a file that is was named by mistake.
const LARGEST: u64 = 4 << 20;

const TOP: &[&str] = &["servers"];
const SERVER: &[&str] = &[
    "component",
    "enabled",
    "prefix",
    "instance",
    "grants",
    "limits",
    "settings",
];
const GRANTS: &[&str] = &["fs", "env"];
const FS: &[&str] = &["path", "mode"];
const LIMITS: &[&str] = &["memory", "timeout", "idle", "result", "output", "instances"];

/// The text of a configuration file, or none where there is no such file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let shown = path.display();
    let cannot = || format!("the configuration file `{shown}` cannot be read");
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(cannot),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .with_context(cannot)?;
    if bytes.len() as u64 > LARGEST {
        bail!(
            "the configuration file `{shown}` is larger than 4 MiB\nhint: is it a configuration file?"
        );
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| error.utf8_error())
        .with_context(cannot)?;
    Ok(Some(text))
}

/// Reads the text of a configuration file. The configuration has every server
/// that could be read; the problems, in the order of the file, are everything
/// that could not.
#[must_use]
pub fn parse(file: &Path, text: &str) -> (Config, Vec<Problem>) {
    let mut reader = Reader {
        file,
        text,
        problems: Vec::new(),
    };
    let mut config = Config::default();
    match Document::parse(text) {
        Ok(document) => reader.top(document.as_table(), &mut config),
        Err(error) => {
            // Several lines can be in it, and only the first says what is wrong.
            let message = error.message().lines().next().unwrap_or_default();
            reader.problem(error.span(), format!("this is not TOML: {message}"), None);
        }
    }
    reader
        .problems
        .sort_by_key(|problem| (problem.line, problem.column));
    (config, reader.problems)
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn top(&mut self, table: &dyn TableLike, config: &mut Config) {
        for (key, item) in table.iter() {
            if key != "servers" {
                self.unknown(table, key, "the configuration", TOP);
                continue;
            }
            let Some(servers) = self.table(item, "servers") else {
                continue;
            };
            for (name, item) in servers.iter() {
                let span = key_span(servers, name);
                if let Err(bad) = name::check(name) {
                    self.problem(span, bad.to_string(), Some(bad.hint().to_owned()));
                    continue;
                }
                let origin = Origin {
                    file: self.file.to_owned(),
                    line: self.place(span.as_ref()).0,
                };
                // A server with a problem in it is left out: running it with
                // half of what the user wrote would not be what they wrote.
                let before = self.problems.len();
                let server = self.server(name, item, span, origin);
                if self.problems.len() == before
                    && let Some(server) = server
                {
                    config.servers.insert(name.to_owned(), server);
                }
            }
        }
    }

    fn server(
        &mut self,
        name: &str,
        item: &Item,
        span: Option<Range<usize>>,
        origin: Origin,
    ) -> Option<ServerConfig> {
        let at = format!("servers.{name}");
        let table = self.table(item, &at)?;
        let mut component = None;
        let mut server = ServerConfig {
            name: name.to_owned(),
            component: PathBuf::new(),
            enabled: true,
            prefix: None,
            instance: None,
            grants: Grants::default(),
            limits: Limits::default(),
            settings: Map::new(),
            origin,
        };
        for (key, item) in table.iter() {
            let here = format!("{at}.{key}");
            match key {
                "component" => component = self.path(item, &here),
                "enabled" => server.enabled = self.boolean(item, &here).unwrap_or_default(),
                "prefix" => server.prefix = self.prefix(item, &here),
                "instance" => {
                    server.instance = self.choice(
                        item,
                        &here,
                        &[
                            ("per-call", Instance::PerCall),
                            ("per-session", Instance::PerSession),
                        ],
                    );
                }
                "grants" => server.grants = self.grants(item, &here),
                "limits" => server.limits = self.limits(item, &here),
                "settings" => {
                    if let Some(Json::Object(settings)) = self.table_json(item, &here) {
                        server.settings = settings;
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), SERVER),
            }
        }
        if !table.contains_key("component") {
            self.problem(
                span,
                format!("`[{at}]` has no `component`"),
                Some("add the plugin's file: `component = \"path/to/plugin.wasm\"`".to_owned()),
            );
        }
        server.component = component?;
        Some(server)
    }

    fn grants(&mut self, item: &Item, at: &str) -> Grants {
        let mut grants = Grants::default();
        let Some(table) = self.table(item, at) else {
            return grants;
        };
        for (key, item) in table.iter() {
            let here = format!("{at}.{key}");
            match key {
                "fs" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .fs
                            .extend(self.fs(&item, &format!("{here}[{index}]")));
                    }
                }
                "env" => {
                    for (index, item) in self.items(item, &here).into_iter().enumerate() {
                        grants
                            .env
                            .extend(self.variable(&item, &format!("{here}[{index}]")));
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), GRANTS),
            }
        }
        grants
    }

    fn fs(&mut self, item: &Item, at: &str) -> Option<FsGrant> {
        let table = self.table(item, at)?;
        let mut path = None;
        // Whoever says nothing of writing has not granted it.
        let mut mode = Some(FsMode::ReadOnly);
        for (key, item) in table.iter() {
            let here = format!("{at}.{key}");
            match key {
                "path" => path = self.path(item, &here),
                "mode" => {
                    mode = self.choice(
                        item,
                        &here,
                        &[("ro", FsMode::ReadOnly), ("rw", FsMode::ReadWrite)],
                    );
                }
                _ => self.unknown(table, key, &format!("`{at}`"), FS),
            }
        }
        if !table.contains_key("path") {
            self.problem(
                item.span(),
                format!("`{at}` has no `path`"),
                Some("name the folder: `{ path = \"~/notes\", mode = \"ro\" }`".to_owned()),
            );
        }
        Some(FsGrant {
            path: path?,
            mode: mode?,
        })
    }

    fn variable(&mut self, item: &Item, at: &str) -> Option<String> {
        let name = self.string(item, at)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            let message = format!(
                "`{at}` is {}, which is no name of an environment variable",
                quoted(name)
            );
            self.problem(
                item.span(),
                message,
                Some("write only the name, like `TZ`; its value is taken from the environment of `dormouse`".to_owned()),
            );
            return None;
        }
        Some(name.to_owned())
    }

    fn limits(&mut self, item: &Item, at: &str) -> Limits {
        let mut limits = Limits::default();
        let Some(table) = self.table(item, at) else {
            return limits;
        };
        for (key, item) in table.iter() {
            let here = format!("{at}.{key}");
            match key {
                "memory" => self.set(&mut limits.memory, item, &here, units::size),
                "timeout" => self.set(&mut limits.timeout, item, &here, units::duration),
                "idle" => self.set(&mut limits.idle, item, &here, units::duration),
                "result" => self.set(&mut limits.result, item, &here, units::size),
                "output" => self.set(&mut limits.output, item, &here, units::size),
                "instances" => {
                    if let Some(instances) = self.count(item, &here) {
                        limits.instances = instances;
                    }
                }
                _ => self.unknown(table, key, &format!("`[{at}]`"), LIMITS),
            }
        }
        limits
    }

    /// Sets a limit that is written with a unit.
    fn set<T>(
        &mut self,
        limit: &mut T,
        item: &Item,
        at: &str,
        read: impl Fn(&str) -> Result<T, &'static str>,
    ) {
        // A bare number is read like the text of it, so that its error is the
        // one about units.
        let raw = self.raw(item);
        let text = match item.as_str() {
            Some(text) => text,
            None if item.is_integer() => raw,
            None => {
                self.wrong_type(item, at, "a string");
                return;
            }
        };
        match read(text) {
            Ok(value) => *limit = value,
            Err(hint) => self.problem(
                item.span(),
                format!("`{at}` cannot be {}", quoted(raw)),
                Some(hint.to_owned()),
            ),
        }
    }

    fn count(&mut self, item: &Item, at: &str) -> Option<u32> {
        let Some(number) = item.as_integer() else {
            self.wrong_type(item, at, "a whole number");
            return None;
        };
        let count = u32::try_from(number).ok().filter(|count| *count > 0);
        if count.is_none() {
            let message = format!("`{at}` cannot be {}", quoted(self.raw(item)));
            self.problem(
                item.span(),
                message,
                Some(format!("use a number from 1 to {}", u32::MAX)),
            );
        }
        count
    }

    fn prefix(&mut self, item: &Item, at: &str) -> Option<String> {
        let prefix = self.string(item, at)?;
        match name::check_prefix(prefix) {
            Ok(()) => Some(prefix.to_owned()),
            Err(bad) => {
                let message = format!("`{at}` cannot be {}", quoted(prefix));
                self.problem(item.span(), message, Some(bad.hint().to_owned()));
                None
            }
        }
    }

    fn path(&mut self, item: &Item, at: &str) -> Option<PathBuf> {
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

    fn choice<T: Copy>(&mut self, item: &Item, at: &str, choices: &[(&str, T)]) -> Option<T> {
        let text = self.string(item, at)?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<_> = choices
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        self.problem(
            item.span(),
            format!("`{at}` cannot be {}", quoted(self.raw(item))),
            Some(format!("use {}", names.join(" or "))),
        );
        None
    }

    /// The members of an array, whichever of TOML's two ways it is written in.
    fn items(&mut self, item: &Item, at: &str) -> Vec<Item> {
        if let Some(array) = item.as_array() {
            return array.iter().cloned().map(Item::Value).collect();
        }
        if let Some(tables) = item.as_array_of_tables() {
            return tables.iter().cloned().map(Item::Table).collect();
        }
        self.wrong_type(item, at, "an array");
        Vec::new()
    }

    fn table<'t>(&mut self, item: &'t Item, at: &str) -> Option<&'t dyn TableLike> {
        if item.as_table_like().is_none() {
            self.wrong_type(item, at, "a table");
        }
        item.as_table_like()
    }

    fn string<'t>(&mut self, item: &'t Item, at: &str) -> Option<&'t str> {
        if item.as_str().is_none() {
            self.wrong_type(item, at, "a string");
        }
        item.as_str()
    }

    fn boolean(&mut self, item: &Item, at: &str) -> Option<bool> {
        if item.as_bool().is_none() {
            self.wrong_type(item, at, "true or false");
        }
        item.as_bool()
    }

    fn table_json(&mut self, item: &Item, at: &str) -> Option<Json> {
        self.table(item, at)?;
        self.json(item, at)
    }

    /// What a plugin is told is JSON. What JSON has no word for, a date, becomes
    /// a string; numbers that it cannot write are refused.
    fn json(&mut self, item: &Item, at: &str) -> Option<Json> {
        if let Some(table) = item.as_table_like() {
            let mut object = Map::new();
            for (key, item) in table.iter() {
                object.insert(key.to_owned(), self.json(item, &format!("{at}.{key}"))?);
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

    fn unknown(&mut self, table: &dyn TableLike, key: &str, of: &str, known: &[&str]) {
        // Whatever is in the nearest key's place; far ones get the whole list.
        let hint = match nearest(key, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its keys are `{}`", known.join("`, `")),
        };
        self.problem(
            key_span(table, key),
            format!("{} is no key of {of}", quoted(key)),
            Some(hint),
        );
    }

    fn wrong_type(&mut self, item: &Item, at: &str, expected: &str) {
        let message = format!(
            "`{at}` has to be {expected}, and {} is {}",
            quoted(self.raw(item)),
            match item.type_name() {
                "integer" => "an integer".to_owned(),
                "array" | "array of tables" | "inline table" => format!("an {}", item.type_name()),
                other => format!("a {other}"),
            }
        );
        self.problem(item.span(), message, None);
    }

    /// An item as it is written.
    fn raw(&self, item: &Item) -> &str {
        item.span()
            .and_then(|span| self.text.get(span))
            .unwrap_or_default()
    }

    fn problem(&mut self, span: Option<Range<usize>>, message: String, hint: Option<String>) {
        let (line, column) = self.place(span.as_ref());
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line,
            column,
            message,
            hint,
        });
    }

    /// Line and column of where a span begins, counted from 1.
    fn place(&self, span: Option<&Range<usize>>) -> (usize, usize) {
        let start = span.map_or(0, |span| span.start);
        let before = self.text.get(..start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |line| line.chars().count())
            + 1;
        (line, column)
    }
}

fn key_span(table: &dyn TableLike, key: &str) -> Option<Range<usize>> {
    table.key(key).and_then(toml_edit::Key::span)
}

/// The key that was probably meant: one that a slip or two makes of it.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(key, candidate), *candidate))
        .filter(|(slips, candidate)| *slips <= 1 + candidate.len() / 4)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests;
