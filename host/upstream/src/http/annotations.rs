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
mod tests {
    use serde_json::json;

    use super::*;

    fn page(tools: Value) -> Box<RawValue> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
        serde_json::value::to_raw_value(&message).unwrap()
    }

    #[test]
    fn arguments_go_into_the_headers_that_they_are_wanted_in() {
        let annotations = Annotations::default();
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            "none": {"type": "string", "x-mcp-header": "None"},
            "plain": {"type": "string", "default": {"x-mcp-header": "data"}},
        }});
        let first = page(json!([{"name": "run", "inputSchema": schema, "odd": 1.10}]));
        let text = first.get().to_owned();
        assert_eq!(annotations.learn(first, true, str::to_owned).get(), text);
        let call = json!({"params": {"name": "run", "arguments": {
            "region": "über", "deep": {"n": -7}, "flag": true, "none": null, "plain": "x"}}});
        let mut headers = HeaderMap::new();
        annotations.apply("run", &call.to_string(), &mut headers);
        assert_eq!(headers.len(), 3);
        assert_eq!(headers["mcp-param-region"], "=?base64?w7xiZXI=?=");
        assert_eq!(headers["mcp-param-n"], "-7");
        assert_eq!(headers["mcp-param-flag"], "true");
        let mut headers = HeaderMap::new();
        annotations.apply("another", &call.to_string(), &mut headers);
        assert!(headers.is_empty());
        // The tool has changed since.
        annotations.learn(
            page(json!([{"name": "run", "inputSchema": {}}])),
            true,
            str::to_owned,
        );
        annotations.apply("run", &call.to_string(), &mut headers);
        assert!(headers.is_empty());
    }

    #[test]
    fn a_tool_with_a_wrong_annotation_is_left_out_alone() {
        for wrong in [
            json!({"x-mcp-header": "Root", "type": "string"}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": 1}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"},
                                  "b": {"type": "string", "x-mcp-header": "a"}}}),
            json!({"properties": {"a": {"items": {"type": "string", "x-mcp-header": "A"}}}}),
            json!({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
            json!({"$defs": {"a": {"type": "string", "x-mcp-header": "A"}}}),
        ] {
            let tools = json!([
                {"name": "good", "inputSchema": {"type": "object"}},
                {"name": "bad", "inputSchema": wrong},
            ]);
            let learnt = Annotations::default().learn(page(tools), true, str::to_owned);
            let left: Value = serde_json::from_str(learnt.get()).unwrap();
            let expected = json!([{"name": "good", "inputSchema": {"type": "object"}}]);
            assert_eq!(left["result"]["tools"], expected, "{wrong}");
        }
    }

    /// Each argument is kept with all names that lead to it.
    #[test]
    fn what_is_kept_is_bounded() {
        let long = "x".repeat(100_000);
        let many: Map<String, Value> = (0..2000)
            .map(|one| {
                let mark = json!({"type": "string", "x-mcp-header": format!("A{one}")});
                (format!("a{one}"), mark)
            })
            .collect();
        let few: Map<String, Value> = many.clone().into_iter().take(MAX_HEADERS).collect();
        for (properties, is_kept) in [
            (
                json!({ (long.clone()): { "properties": few.clone() } }),
                false,
            ),
            (
                json!({ "a": { "type": "string", "x-mcp-header": long } }),
                false,
            ),
            (json!(many), false),
            (json!(few.clone()), true),
        ] {
            let annotations = Annotations::default();
            let tool = json!({ "name": "t", "inputSchema": { "properties": properties } });
            let learnt = annotations.learn(page(json!([tool])), true, str::to_owned);
            assert_eq!(learnt.get().contains("inputSchema"), is_kept);
            assert!(annotations.lists.lock().current.bytes < 10_000);
        }
        let tool = |number: usize| json!({ "name": format!("t{number}"), "inputSchema": { "properties": few } });
        let annotations = Annotations::default();
        for round in 0..20 {
            let tools: Value = (0..100).map(|one| tool(round * 100 + one)).collect();
            annotations.learn(page(tools), true, str::to_owned);
            let lists = annotations.lists.lock();
            assert_eq!(
                (lists.current.tools.len(), lists.previous.tools.len()),
                (100, if round > 0 { 100 } else { 0 })
            );
        }
        let tools: Value = (0..2000).map(tool).collect();
        let learnt = annotations.learn(page(tools), true, str::to_owned);
        let left: Value = serde_json::from_str(learnt.get()).unwrap();
        let lists = annotations.lists.lock();
        assert_eq!(
            left["result"]["tools"].as_array().unwrap().len(),
            lists.current.tools.len()
        );
        assert!(lists.current.tools.len() < 2000 && lists.current.bytes <= MAX_KEPT_BYTES);
    }

    #[test]
    fn the_next_page_of_a_list_adds_to_it() {
        let annotations = Annotations::default();
        let tool = |name: &str| {
            let schema =
                json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
            json!([{ "name": name, "inputSchema": schema }])
        };
        let headers = |name: &str| {
            let mut headers = HeaderMap::new();
            let call = json!({ "params": { "arguments": { "a": "x" } } });
            annotations.apply(name, &call.to_string(), &mut headers);
            headers.len()
        };
        annotations.learn(page(tool("one")), true, str::to_owned);
        annotations.learn(page(tool("two")), false, str::to_owned);
        assert_eq!((headers("one"), headers("two")), (1, 1));
        // While a list is read anew, what was known of the rest counts.
        annotations.learn(page(tool("one")), true, str::to_owned);
        assert_eq!((headers("one"), headers("two")), (1, 1));
        annotations.learn(page(tool("one")), true, str::to_owned);
        assert_eq!((headers("one"), headers("two")), (1, 0));
    }

    #[test]
    fn a_property_may_have_the_name_of_a_keyword() {
        let schema = json!({"properties": {"properties": {"type": "string", "x-mcp-header": "P"},
                                           "default": {"type": "string", "x-mcp-header": "D"}}});
        assert_eq!(wanted(&schema).unwrap().len(), 2);
    }

    #[test]
    fn reading_takes_linear_time() {
        let tools = |number: usize| {
            let schema = json!({"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
            }});
            let tools =
                (0..number).map(|one| json!({"name": format!("t{one}"), "inputSchema": schema}));
            page(tools.collect())
        };
        let arguments = |number: usize| {
            let arguments = (0..number).map(|one| {
                // More of them are not read.
                let argument = match one < MAX_HEADERS {
                    true => json!({"type": "string", "x-mcp-header": format!("A{one}")}),
                    false => json!({"type": "string"}),
                };
                (format!("a{one}"), argument)
            });
            let arguments: Map<String, Value> = arguments.collect();
            let schema = json!({"type": "object", "properties": arguments});
            page(json!([{"name": "t", "inputSchema": schema}]))
        };
        type Input<'a> = &'a dyn Fn(usize) -> Box<RawValue>;
        let inputs: [(&str, Input<'_>); 2] = [("tools", &tools), ("arguments", &arguments)];
        for (what, input) in inputs {
            dormouse_tests::growth::is_linear(what, 500, input, |page| {
                let page: Box<RawValue> = page.to_owned();
                std::hint::black_box(Annotations::default().learn(page, true, str::to_owned));
            });
        }
    }
}
