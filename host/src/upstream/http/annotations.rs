//! The arguments that a tool wants in HTTP headers, too (`x-mcp-header`, 2026-07-28).

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::headers::encode;
use super::message::excerpt;

const MARK: &str = "x-mcp-header";

/// Most tools of one page that are logged by name when they are left out.
const MAX_NAMED: usize = 3;

/// What the tools of one upstream want in headers, as its lists have said it.
#[derive(Default)]
pub(super) struct Annotations {
    tools: Mutex<HashMap<String, Vec<Wanted>>>,
}

/// An argument that is wanted in a header.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    /// The names of the properties that lead to it.
    path: Vec<String>,
    header: HeaderName,
}

impl Annotations {
    /// Reads a page of the upstream's tools. A tool whose annotations are wrong must
    /// not be used, so it is taken out; without such a tool the page stays as it is.
    pub(super) fn learn(&self, page: Box<RawValue>) -> Box<RawValue> {
        let mut known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        // Most servers have no such thing, and their lists need not be read for it.
        if known.is_empty() && !page.get().contains(MARK) {
            return page;
        }
        let Ok(mut message) = serde_json::from_str::<Value>(page.get()) else {
            return page;
        };
        let Some(tools) = message
            .pointer_mut("/result/tools")
            .and_then(Value::as_array_mut)
        else {
            return page;
        };
        let before = tools.len();
        let mut left_out = 0;
        tools.retain(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            match wanted(tool.get("inputSchema").unwrap_or(&Value::Null)) {
                Ok(wanted) => {
                    known.insert(name.to_owned(), wanted);
                    true
                }
                Err(why) => {
                    left_out += 1;
                    if left_out <= MAX_NAMED {
                        let (name, why) = (excerpt(name), excerpt(&why));
                        tracing::warn!("the tool `{name}` is left out: {why}");
                    }
                    false
                }
            }
        });
        if left_out > MAX_NAMED {
            let more = left_out - MAX_NAMED;
            tracing::warn!("{more} more tools are left out for what their headers are to be");
        }
        if tools.len() == before {
            return page;
        }
        serde_json::value::to_raw_value(&message).unwrap_or(page)
    }

    /// Adds the headers that a call of a tool has to have.
    pub(super) fn apply(&self, tool: &str, call: &str, headers: &mut HeaderMap) {
        let known = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(wanted) = known.get(tool).filter(|wanted| !wanted.is_empty()) else {
            return;
        };
        let Ok(call) = serde_json::from_str::<Value>(call) else {
            return;
        };
        for Wanted { path, header } in wanted {
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

/// What a tool's schema wants in headers.
///
/// # Errors
/// An annotation is not as the specification wants it; says which.
fn wanted(schema: &Value) -> Result<Vec<Wanted>, String> {
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
fn collect(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    direct: bool,
    wanted: &mut Vec<Wanted>,
) -> Result<(), String> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (MARK, mark) => wanted.push(one(mark, schema.get("type"), path, direct)?),
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
                    path.push(name.clone());
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
    path: &[String],
    direct: bool,
) -> Result<Wanted, String> {
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
    let name = mark.as_str().filter(|name| !name.is_empty());
    let header = name.and_then(|name| HeaderName::try_from(format!("mcp-param-{name}")).ok());
    match header {
        Some(header) => Ok(Wanted {
            path: path.to_vec(),
            header,
        }),
        None => Err(format!(
            "`{at}` wants a header of the name `{mark}`, which cannot be"
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
        assert_eq!(annotations.learn(first).get(), text);
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
        annotations.learn(page(json!([{"name": "run", "inputSchema": {}}])));
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
            let learnt = Annotations::default().learn(page(tools));
            let left: Value = serde_json::from_str(learnt.get()).unwrap();
            let expected = json!([{"name": "good", "inputSchema": {"type": "object"}}]);
            assert_eq!(left["result"]["tools"], expected, "{wrong}");
        }
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
                let header = format!("A{one}");
                (
                    format!("a{one}"),
                    json!({"type": "string", "x-mcp-header": header}),
                )
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
                std::hint::black_box(Annotations::default().learn(page));
            });
        }
    }
}
