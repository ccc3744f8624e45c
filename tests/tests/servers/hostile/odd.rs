//! Servers whose lists are not what MCP says: one odd tool costs nobody the others.

use dormouse_tests::client::PATIENCE;
use serde_json::{Map, Value, json};

use crate::scripted::{Scripted, tools};

/// Makes a server that has one tool of each kind of oddness, and a good one.
fn odd() -> Scripted {
    odd_with("")
}

/// Makes the same with more lines in its table.
fn odd_with(more: &str) -> Scripted {
    let all = Scripted::new();
    let schema = json!({ "type": "object" });
    all.offers_just(
        "odd",
        &json!([
            { "name": "good", "description": "Is in order.", "inputSchema": schema },
            { "name": "untyped", "inputSchema": { "properties": [] } },
            { "name": "schemaless" },
            { "name": "described", "description": null, "inputSchema": schema },
            { "name": "hinted", "inputSchema": schema, "annotations": { "readOnlyHint": "yes" } },
            { "name": "pictured", "inputSchema": schema, "icons": [{ "url": "x" }], "_meta": 7 },
            { "name": "listing", "inputSchema": schema, "outputSchema": { "type": "array" } },
            { "name": "astray", "inputSchema": schema, "outputSchema": { "$ref": "#/none" } },
            { "name": "unreadable", "inputSchema": { "type": "string" } }
        ]),
    );
    all.own("odd", more);
    all.offers("other", &[("echo", "Is another's.")]);
    all.own("other", "");
    all.run(&["sync"]);
    all
}

/// Names in languages without ASCII letters do not make one another disappear.
#[test]
fn tools_and_prompts_in_any_language_are_shown_and_called() {
    let all = Scripted::new();
    let names = ["搜索文件", "读取文件", "删除文件", "créer", "создать"];
    let tool = |name: &&str| json!({ "name": name, "description": name, "inputSchema": { "type": "object" } });
    let prompt = |name: &&str| json!({ "name": name, "description": name });
    let offer = json!({
        "tools": names.iter().map(tool).collect::<Vec<_>>(),
        "prompts": names.iter().map(prompt).collect::<Vec<_>>(),
    });
    all.offers_just("cjk", &offer);
    all.own("cjk", "");
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    for list in ["tools", "prompts"] {
        let listed = host.list(&format!("{list}/list"), list).unwrap();
        let of_server = listed.iter();
        let of_server = of_server.filter(|item| item["name"].to_string().contains("cjk__"));
        let described: Vec<_> = of_server.map(|item| &item["description"]).collect();
        assert_eq!(described, names.iter().collect::<Vec<_>>(), "{listed:?}");
    }
    for tool in host.tools().unwrap() {
        let name = tool["name"].as_str().unwrap().to_owned();
        host.call(&name, json!({})).unwrap();
    }
}

/// A tool that its server calls as a task alone could not be called, and its user is told so.
#[test]
fn a_tool_that_is_a_task_alone_is_not_shown() {
    let all = Scripted::new();
    let tool = |name: &str, support: &str| {
        json!({
            "name": name,
            "inputSchema": { "type": "object" },
            "execution": { "taskSupport": support },
        })
    };
    all.offers_just(
        "odd",
        &json!([tool("later", "required"), tool("now", "optional")]),
    );
    all.own("odd", "");
    all.run(&["sync"]);
    let line = "tool `later` is not shown: it is called as a task alone";
    assert!(all.run(&["doctor"]).contains(line));
    assert!(all.run(&["status", "--json"]).contains(line));
    let listed = all.serve(&[]).tools().unwrap();
    let listed: Vec<_> = listed.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(listed, [&json!("odd__now")]);
}

/// The second tool of a name could not be called, and a user who misses it has to be told why.
#[test]
fn of_several_of_one_name_the_others_are_told() {
    let all = Scripted::new();
    let tool = |description: &str| json!({ "name": "dup", "description": description, "inputSchema": { "type": "object" } });
    let offer = json!({
        "tools": [tool("One."), tool("Two.")],
        "prompts": [{ "name": "p" }, { "name": "p" }],
    });
    all.offers_just("odd", &offer);
    all.own("odd", "");
    let said = all.run(&["sync", "odd"]);
    for name in ["tool `dup`", "prompt `p`"] {
        let line = format!("{name} is not shown: it is listed 2 times");
        assert!(said.contains(&line), "no `{line}` in {said}");
        assert!(all.run(&["doctor"]).contains(&line));
    }
    let mut host = all.serve(&[]);
    let listed = host.tools().unwrap();
    let listed: Vec<_> = listed.iter().map(|tool| &tool["description"]).collect();
    assert_eq!(listed, [&json!("One.")]);
    let status = all.run(&["status", "--json"]);
    assert!(status.contains("tool `dup` is not shown"), "{status}");
}

#[test]
fn one_odd_tool_costs_nobody_the_others() {
    let all = odd();
    let mut host = all.serve(&[]);
    let names = [
        "astray",
        "described",
        "good",
        "hinted",
        "listing",
        "pictured",
        "schemaless",
        "untyped",
    ];
    let mut expected: Vec<String> = names.iter().map(|name| format!("odd__{name}")).collect();
    expected.push("other__echo".to_owned());
    assert_eq!(tools(&mut host), expected);
    for tool in host.tools().unwrap() {
        let name = tool["name"].as_str().unwrap().to_owned();
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        let members = tool.as_object().unwrap();
        let odd = ["description", "_meta", "outputSchema"];
        let left = odd
            .iter()
            .find(|odd| members.get(**odd).is_some_and(|is| !is.is_string()));
        assert_eq!(left, None, "{tool}");
        assert_ne!(tool["annotations"]["readOnlyHint"], "yes", "{tool}");
        assert_ne!(tool["icons"][0]["url"], "x", "{tool}");
        // What it was mended to can be called as ever.
        let own = name.split_once("__").unwrap().1;
        assert_eq!(host.text(&name, json!({})).unwrap(), format!("{own} {{}}"));
    }
    // Who knows no bounds of what structured content may be, is told all.
    let stateless = dormouse_tests::wire::stateless(json!({}), json!({}));
    let listed = host.request("tools/list", stateless).unwrap();
    let listed: &Vec<Value> = listed["tools"].as_array().unwrap();
    let array = listed
        .iter()
        .find(|tool| tool["name"] == "odd__listing")
        .unwrap();
    assert_eq!(array["outputSchema"], json!({ "type": "array" }));

    let call = json!({ "name": "odd__unreadable", "arguments": {} });
    let refused = host.request("tools/call", call).unwrap_err().to_string();
    // A model is told nothing that stands there.
    assert!(refused.contains("it is not shown"), "{refused}");
    assert!(!refused.contains("inputSchema"), "{refused}");
    drop(host);
    // What was mended is no change that anybody had to approve.
    let status = all.home.json(&["status", "--json"]).unwrap();
    assert_eq!(status[0]["servers"][0]["changed"], json!([]), "{status}");
}

#[test]
fn what_is_not_shown_is_told() {
    let all = odd();
    let missing = "tool `unreadable` is not shown";
    for words in [&["status"][..], &["list"], &["doctor"]] {
        let (_, said) = all.run_in(all.home.path(), words);
        assert!(said.contains(missing), "{words:?}: {said}");
        assert!(
            said.contains("`inputSchema.type` is `\"string\"`"),
            "{said}"
        );
    }
    let (_, said) = all.run_in(all.home.path(), &["doctor"]);
    for told in [
        "`described` is shown without what MCP does not have: `description` is `null`",
        "`annotations.readOnlyHint` is `\"yes\"`",
        "`icons[0]` has no `src`, `_meta` is `7`",
    ] {
        assert!(said.contains(told), "no {told} in {said}");
    }
    let status = all.home.json(&["status", "--json"]).unwrap();
    let told = status[0]["servers"][0]["not_shown"][0].as_str().unwrap();
    assert!(told.starts_with(missing), "{told}");
}

#[test]
fn who_does_not_want_a_tool_does_not_hear_of_it() {
    let all = odd_with("exclude_tools = [\"unreadable\"]");
    let said = all.run(&["status"]);
    assert!(!said.contains("unreadable"), "{said}");
}

/// Agents see the tools of a component that was made of such a server, and none of them is a
/// change.
#[test]
fn a_component_of_such_a_server_is_in_order() {
    let all = odd();
    let file = all.home.path().join("odd.wasm").display().to_string();
    let said = all.run(&["adapt", "odd", "-o", &file]);
    assert!(said.contains("tool `unreadable` is not shown"), "{said}");
    let said = all.run(&["check", &file]);
    assert!(!said.contains("what MCP has there"), "{said}");
    all.run(&["add", "n2", &file, "--grant-upstream", "--yes"]);
    let mut host = all.serve(&[]);
    assert_eq!(
        host.text("n2__described", json!({})).unwrap(),
        "described {}"
    );
    let changed = host.notification("notifications/tools/list_changed", PATIENCE / 10);
    assert!(changed.is_err(), "nothing is new: {changed:?}");
    assert!(tools(&mut host).contains(&"n2__untyped".to_owned()));
}

/// A program reads the same JSON, and a terminal does not follow what a stranger has written.
#[test]
fn json_for_people_has_what_is_hidden_as_escapes() {
    let all = Scripted::new();
    let description = "safe\u{202e}drawkcab\u{3164}\u{200b}\u{e0041}";
    all.offers("odd", &[("echo", description)]);
    all.own("odd", "");
    all.run(&["sync"]);
    let output = all.home.run(&["tools", "--json"]).unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.is_ascii(), "{said}");
    let tools: Value = serde_json::from_str(&said).unwrap();
    assert!(
        tools.to_string().contains(description),
        "{tools} instead of {description:?}"
    );
}

/// Schemas of an upstream are not validated here: an unusual one is no reason to leave its tool
/// out.
#[test]
fn valid_schemas_of_every_kind_are_shown_as_they_are() {
    let many = (0..200).map(|one| {
        let property = |other: usize| {
            let next = (one * 7 + other * 13) % 200;
            (
                format!("p{other}"),
                json!({ "$ref": format!("#/$defs/d{next}") }),
            )
        };
        let properties: Map<String, Value> = (0..20).map(property).collect();
        (
            format!("d{one}"),
            json!({ "type": "object", "properties": properties }),
        )
    });
    let few = (0..9).map(|one: usize| {
        let next = json!({ "$ref": format!("#/$defs/d{}", (one + 1).min(8)) });
        let properties: Map<String, Value> = (0..6)
            .map(|other| (format!("p{other}"), next.clone()))
            .collect();
        (
            format!("d{one}"),
            json!({ "type": "object", "properties": properties }),
        )
    });
    let definitions = |definitions: Map<String, Value>| {
        json!({
            "type": "object", "properties": { "root": { "$ref": "#/$defs/d0" } }, "$defs": definitions
        })
    };
    let schemas = json!({
        "registered": {
            "type": "object", "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "$ref": "B" } },
            "$defs": { "A": { "$id": "urn:a", "type": "string" }, "B": { "$id": "B", "type": "null" } }
        },
        "relative": {
            "$id": "https://example.com/s.json", "type": "object",
            "properties": { "a": { "$ref": "s.json#/$defs/A" } },
            "$defs": { "A": { "type": "string" } }
        },
        "dynamic": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.com/tree", "$dynamicAnchor": "node", "type": "object",
            "properties": { "children": { "type": "array", "items": { "$dynamicRef": "#node" } } }
        },
        "by_pattern": { "type": "object", "patternProperties": { "^(?!x-).*$": { "type": "string" } } },
        "many": definitions(many.collect()),
        "few": definitions(few.collect())
    });
    let all = Scripted::new();
    let offered = schemas.as_object().unwrap().iter().map(
        |(name, schema)| json!({ "name": name, "inputSchema": schema, "outputSchema": schema }),
    );
    all.offers_just("unusual", &offered.collect());
    all.own("unusual", "");
    all.home.lists_all().unwrap();
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    let shown = host.tools().unwrap();
    for (name, schema) in schemas.as_object().unwrap() {
        let tool = shown
            .iter()
            .find(|tool| tool["name"] == format!("unusual__{name}"));
        let tool = tool.unwrap_or_else(|| panic!("{name} is not shown"));
        assert_eq!(
            (&tool["inputSchema"], &tool["outputSchema"]),
            (schema, schema),
            "{name}"
        );
    }
    drop(host);
    for words in [&["doctor"][..], &["list"], &["status"]] {
        let (_, said) = all.run_in(all.home.path(), words);
        assert!(!said.contains("chema"), "{words:?}: {said}");
    }
}
