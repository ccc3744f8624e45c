//! The arguments that a tool wants in HTTP headers, too (`x-mcp-header`, 2026-07-28).

use std::collections::{HashMap, HashSet};

use dormouse_catalog::ItemLimits;
use dormouse_jsonrpc::{items, member};
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::headers::encode;
use super::message::excerpt;

const MARK: &str = "x-mcp-header";

/// Most tools that are logged by name when they are left out, of all lists of a connection.
const MAX_NAMED: usize = 3;

/// Most arguments of one tool that are wanted in headers.
const MAX_HEADERS: usize = 32;

/// Most bytes of the name of a tool or a header, and of the names of all properties that lead to an
/// argument together.
const MAX_NAME_BYTES: usize = 1024;

/// Most bytes that are kept of one list of an upstream's tools.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Arguments that the tools of one upstream want in headers, by its lists.
#[derive(Default)]
pub(super) struct Annotations {
    lists: Mutex<Lists>,
}

/// Last two lists: while one is read, the one before it counts for tools that were not read yet.
#[derive(Default)]
struct Lists {
    current: List,
    previous: List,
    /// Number of tools that were left out.
    told: usize,
}

/// Part of a list that was read.
#[derive(Default)]
struct List {
    /// Arguments of each tool, by its name; empty for one that wants no headers.
    tools: HashMap<String, Vec<HeaderArgument>>,
    /// Size of the names in it.
    bytes: usize,
}

impl List {
    /// Adds a tool. False where too much is kept already.
    fn add(&mut self, tool: &str, wanted: Vec<HeaderArgument>) -> bool {
        let bytes = wanted.iter().map(HeaderArgument::bytes).sum::<usize>() + tool.len();
        let fits = self.bytes + bytes <= MAX_KEPT_BYTES;
        if fits {
            self.bytes += bytes;
            self.tools.insert(tool.to_owned(), wanted);
        }
        fits
    }
}

/// An argument that is wanted in a header.
#[derive(Debug, PartialEq, Eq)]
struct HeaderArgument {
    /// The names of the properties that lead to it.
    path: Vec<String>,
    header: HeaderName,
}

impl HeaderArgument {
    /// Returns the bytes that it takes in memory, about.
    fn bytes(&self) -> usize {
        let names = self
            .path
            .iter()
            .map(|name| name.len() + size_of::<String>());
        names.sum::<usize>() + self.header.as_str().len() + size_of::<Self>()
    }
}

impl Annotations {
    /// Reads a page of the upstream's tools, which may be the first one of a list. A tool whose
    /// annotations are wrong must not be used, so it is taken out; without such a tool the page
    /// stays as it is.
    ///
    /// Logged text goes through `redact` first.
    pub(super) fn learn(
        &self,
        page: Box<RawValue>,
        is_first: bool,
        redact: impl Fn(&str) -> String,
    ) -> Box<RawValue> {
        let mut lists = self.lists.lock();
        if is_first {
            lists.previous = std::mem::take(&mut lists.current);
        }
        // Most servers have no such thing, and their lists need not be read for it.
        if lists.previous.tools.is_empty()
            && lists.current.tools.is_empty()
            && !page.get().contains(MARK)
        {
            return page;
        }
        let limits = ItemLimits::default();
        let text = page.get();
        let tools = member(text, "result").and_then(|result| member(result, "tools"));
        let Some((tools, found)) =
            tools.and_then(|tools| Some((tools, items(tools, limits.items).ok()?)))
        else {
            return page;
        };
        let mut left_out = 0;
        let mut kept = Vec::with_capacity(found.items.len());
        for tool in &found.items {
            // Of what is too long nobody is shown anything.
            let wanted = match tool.len() <= limits.bytes {
                true => of_tool(tool),
                false => Ok(None),
            };
            let noted = wanted.and_then(|wanted| {
                let is_noted = wanted.is_none_or(|(name, wanted)| lists.current.add(&name, wanted));
                is_noted.then_some(()).ok_or_else(|| {
                    format!(
                        "the tools of this server want more in headers than the \
                         {MAX_KEPT_BYTES} bytes that are kept of that"
                    )
                })
            });
            match noted {
                Ok(()) => kept.push(*tool),
                Err(why) => {
                    left_out += 1;
                    lists.told = lists.told.saturating_add(1);
                    if lists.told <= MAX_NAMED {
                        let (name, why) = (redact(&name(tool)), redact(&why));
                        let (name, why) = (excerpt(&name), excerpt(&why));
                        tracing::warn!("the tool `{name}` is left out: {why}");
                    } else if lists.told == MAX_NAMED + 1 {
                        tracing::warn!("more tools are left out for what their headers are to be");
                    }
                }
            }
        }
        if left_out == 0 {
            return page;
        }
        let start = tools.as_ptr() as usize - text.as_ptr() as usize;
        let [before, after] = [text.get(..start), text.get(start + tools.len()..)];
        let without = format!(
            "{}[{}]{}",
            before.unwrap_or_default(),
            kept.join(","),
            after.unwrap_or_default()
        );
        RawValue::from_string(without).unwrap_or(page)
    }

    /// Adds the headers that a call of a tool has to have.
    pub(super) fn apply(&self, tool: &str, call: &str, headers: &mut HeaderMap) {
        let lists = self.lists.lock();
        let current = lists.current.tools.get(tool);
        let wanted = current.or_else(|| lists.previous.tools.get(tool));
        let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) else {
            return;
        };
        let Ok(call) = serde_json::from_str::<Value>(call) else {
            return;
        };
        for HeaderArgument { path, header } in wanted {
            let arguments = call.pointer("/params/arguments");
            let value = path.iter().try_fold(arguments, |value, key| {
                value.map(|value| value.get(key)).filter(Option::is_some)
            });
            let text = match value.flatten() {
                Some(Value::String(text)) => encode(text),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => number.to_string(),
                _ => continue,
            };
            if let Ok(value) = HeaderValue::try_from(text) {
                headers.insert(header, value);
            }
        }
    }
}

/// Returns the name of a tool, as it is written in a list.
fn name(tool: &str) -> String {
    let name = member(tool, "name").and_then(|name| serde_json::from_str(name).ok());
    name.unwrap_or_default()
}

/// Returns the name of a tool, and the arguments that it wants in headers; none where it is no tool
/// that could be called.
///
/// # Errors
/// An annotation is not as the specification wants it; says which.
fn of_tool(tool: &str) -> Result<Option<(String, Vec<HeaderArgument>)>, String> {
    let name = name(tool);
    if name.len() > MAX_NAME_BYTES {
        return Ok(None);
    }
    let schema = member(tool, "inputSchema").filter(|schema| schema.contains(MARK));
    let schema = schema.and_then(|schema| serde_json::from_str::<Value>(schema).ok());
    let wanted = wanted(&schema.unwrap_or_default())?;
    Ok(Some((name, wanted)))
}

/// Returns the arguments that a tool's schema wants in headers.
///
/// # Errors
/// An annotation is not as the specification wants it; says which.
fn wanted(schema: &Value) -> Result<Vec<HeaderArgument>, String> {
    let mut wanted = Vec::new();
    if let Value::Object(schema) = schema {
        collect(schema, &mut Vec::new(), true, &mut wanted)?;
    }
    let mut seen = HashSet::new();
    match wanted.iter().find(|one| !seen.insert(one.header.clone())) {
        Some(twice) => Err(format!("two arguments want the header `{}`", twice.header)),
        None => Ok(wanted),
    }
}

/// Walks a schema. `direct` says whether nothing but `properties` has led here.
fn collect<'s>(
    schema: &'s Map<String, Value>,
    path: &mut Vec<&'s str>,
    direct: bool,
    wanted: &mut Vec<HeaderArgument>,
) -> Result<(), String> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (MARK, mark) => {
                wanted.push(one(mark, schema.get("type"), path, direct)?);
                if wanted.len() > MAX_HEADERS {
                    return Err(format!(
                        "more than {MAX_HEADERS} of its arguments want headers"
                    ));
                }
            }
            // Data, in which the mark means nothing.
            ("default" | "const" | "enum" | "examples", _) => {}
            // Here the keys are names, not keywords.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, inner) in named {
                    let Value::Object(inner) = inner else {
                        continue;
                    };
                    path.push(name);
                    collect(inner, path, direct && key == "properties", wanted)?;
                    path.pop();
                }
            }
            (_, Value::Object(inner)) => collect(inner, path, false, wanted)?,
            (_, Value::Array(all)) => {
                for inner in all.iter().filter_map(Value::as_object) {
                    collect(inner, path, false, wanted)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn one(
    mark: &Value,
    kind: Option<&Value>,
    path: &[&str],
    direct: bool,
) -> Result<HeaderArgument, String> {
    let bytes: usize = path.iter().map(|name| name.len()).sum();
    if bytes > MAX_NAME_BYTES {
        return Err(format!(
            "the names that lead to an argument with `{MARK}` have {bytes} bytes, and \
             {MAX_NAME_BYTES} are allowed"
        ));
    }
    let at = path.join(".");
    if !direct || path.is_empty() {
        return Err(format!(
            "`{MARK}` is where no argument can be found (`{at}`)"
        ));
    }
    if !matches!(
        kind.and_then(Value::as_str),
        Some("string" | "integer" | "boolean")
    ) {
        return Err(format!(
            "`{at}` has `{MARK}`, but is no string, integer or boolean"
        ));
    }
    let name = mark.as_str();
    let name = name.filter(|name| !name.is_empty() && name.len() <= MAX_NAME_BYTES);
    let header = name.and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok());
    match header {
        Some(header) => Ok(HeaderArgument {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            header,
        }),
        None => Err(format!(
            "`{at}` wants a header of the name `{}`, which cannot be",
            excerpt(&mark.to_string())
        )),
    }
}

#[cfg(test)]
mod tests;
