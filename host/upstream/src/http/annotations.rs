//! The arguments that a tool wants in HTTP headers, too (`x-mcp-header`, 2026-07-28).

use std::collections::HashMap;

use dormouse_catalog::ItemLimits;
use dormouse_jsonrpc::{items, member};
use dormouse_protocol::{HEADER_KEYWORD, HeaderArgument, encode_header_value};
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use serde_json::value::RawValue;

use super::message::{excerpt, reading_error};

/// Most tools that are logged by name when they are left out, of all lists of a connection.
const MAX_NAMED: usize = 3;

/// Most bytes of the name of a tool.
const MAX_NAME_BYTES: usize = 1024;

/// Most bytes that are kept of one list of an upstream's tools.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Arguments that the tools of one upstream want in headers, by its lists.
#[derive(Default)]
pub(super) struct HeaderAnnotations {
    lists: Mutex<ReadToolLists>,
}

/// Last two lists: while one is read, the one before it counts for tools that were not read yet.
#[derive(Default)]
struct ReadToolLists {
    current: ReadToolList,
    previous: ReadToolList,
    /// Number of tools that were left out.
    told: usize,
}

/// Part of a list that was read.
#[derive(Default)]
struct ReadToolList {
    /// Arguments of each tool, by its name; empty for one that wants no headers.
    tools: HashMap<String, Vec<HeaderArgument>>,
    /// Size of the names in it.
    bytes: usize,
}

impl ReadToolList {
    /// Adds a tool. False where too much is kept already.
    fn add(&mut self, tool: &str, wanted: Vec<HeaderArgument>) -> bool {
        let bytes = wanted.iter().map(bytes).sum::<usize>() + tool.len();
        let fits = self.bytes + bytes <= MAX_KEPT_BYTES;
        if fits {
            self.bytes += bytes;
            self.tools.insert(tool.to_owned(), wanted);
        }
        fits
    }
}

/// Returns the bytes that an argument takes in memory, about.
fn bytes(argument: &HeaderArgument) -> usize {
    let names = argument.path.iter();
    let names = names.map(|name| name.len() + size_of::<String>());
    names.sum::<usize>() + argument.header.len() + size_of::<HeaderArgument>()
}

impl HeaderAnnotations {
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
            && !page.get().contains(HEADER_KEYWORD)
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
                        let (name, why) = (excerpt(&name), reading_error(&why));
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
        let arguments = call.pointer("/params/arguments");
        for wanted in wanted {
            let Some(text) = wanted.text(arguments) else {
                continue;
            };
            let name = HeaderName::try_from(&wanted.header);
            let value = HeaderValue::try_from(encode_header_value(&text).as_ref());
            if let (Ok(name), Ok(value)) = (name, value) {
                headers.insert(name, value);
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
    let schema = member(tool, "inputSchema").filter(|schema| schema.contains(HEADER_KEYWORD));
    let schema = schema.and_then(|schema| serde_json::from_str::<Value>(schema).ok());
    let wanted = HeaderArgument::of_schema(&schema.unwrap_or_default())?;
    Ok(Some((name, wanted)))
}

#[cfg(test)]
mod tests;
