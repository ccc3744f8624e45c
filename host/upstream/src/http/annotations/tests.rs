//! Annotations of tools as they are read, kept and sent.

use serde_json::{Map, json};

use super::*;

/// Most arguments of one tool that are wanted in headers.
const MAX_HEADERS: usize = 32;

fn page(tools: Value) -> Box<RawValue> {
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
    serde_json::value::to_raw_value(&message).unwrap()
}

#[test]
fn arguments_go_into_the_headers_that_they_are_wanted_in() {
    let annotations = HeaderAnnotations::default();
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
        let learnt = HeaderAnnotations::default().learn(page(tools), true, str::to_owned);
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
        let annotations = HeaderAnnotations::default();
        let tool = json!({ "name": "t", "inputSchema": { "properties": properties } });
        let learnt = annotations.learn(page(json!([tool])), true, str::to_owned);
        assert_eq!(learnt.get().contains("inputSchema"), is_kept);
        assert!(annotations.lists.lock().current.bytes < 10_000);
    }
    let tool = |number: usize| json!({ "name": format!("t{number}"), "inputSchema": { "properties": few } });
    let annotations = HeaderAnnotations::default();
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
    let annotations = HeaderAnnotations::default();
    let tool = |name: &str| {
        let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
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
    let wanted = HeaderArgument::of_schema(&schema);
    assert_eq!(wanted.unwrap().len(), 2);
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
            std::hint::black_box(HeaderAnnotations::default().learn(page, true, str::to_owned));
        });
    }
}
