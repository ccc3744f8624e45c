//! Schemas that a validator would follow for ever.

use dormouse_tests::component;
use serde_json::{Map, Value};

use super::*;

/// Returns a schema whose references double at each of so many levels.
fn doubling(levels: usize) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
    }
    definitions.insert(format!("d{levels}"), json!({ "required": ["never"] }));
    json!({ "type": "object", "$ref": "#/$defs/d0", "$defs": definitions })
}

/// Returns a schema that leads back to itself, twice at each level.
fn recursive() -> Value {
    json!({
        "type": "object",
        "properties": { "child": { "anyOf": [{ "$ref": "#" }, { "$ref": "#", "title": "x" }] } },
        "required": ["child"]
    })
}

/// Returns a component that offers these tools, which answer with the arguments that they get as
/// `answer`.
fn offering(tools: &Value) -> Vec<u8> {
    let home = Home::new().unwrap();
    let bytes = artifacts::read(&artifacts::guest("adapter").unwrap()).unwrap();
    let file = home.plugin_file("adapter.wasm", &bytes).unwrap();
    let listed = home.path().join("tools.json");
    let tame = json!({ "tools": [{ "name": "TOOLS", "inputSchema": { "type": "object" } }] });
    std::fs::write(&listed, tame.to_string()).unwrap();
    let words = [
        "pack",
        file.to_str().unwrap(),
        "--tools",
        listed.to_str().unwrap(),
    ];
    let packed = home.run(&words).unwrap();
    assert!(packed.status.success(), "{packed:?}");
    // What `pack` has written, with other tools.
    let packed = artifacts::read(&file).unwrap();
    let start = packed.iter().position(|byte| *byte == b'{').unwrap();
    let mut declarations = serde_json::Deserializer::from_slice(&packed[start..]).into_iter();
    let mut declaration: Value = declarations.next().unwrap().unwrap();
    let tame = declaration["tools"][0].clone();
    let hostile = tools.as_array().unwrap().iter().map(|tool| {
        let mut declared = tame.clone();
        match declared.get_mut("tool") {
            Some(object) => *object = tool.clone(),
            None => declared = tool.clone(),
        }
        if declared.get("name").is_some() {
            declared["name"] = tool["name"].clone();
        }
        declared
    });
    declaration["tools"] = hostile.collect();
    let text = declaration.to_string();
    let mut section = u32::try_from(text.len()).unwrap().to_le_bytes().to_vec();
    section.extend_from_slice(text.as_bytes());
    let stripped = home.path().join("stripped.wasm");
    std::fs::write(&stripped, &bytes).unwrap();
    let strip = home
        .run(&["pack", stripped.to_str().unwrap(), "--strip"])
        .unwrap();
    assert!(strip.status.success(), "{strip:?}");
    let bytes = artifacts::read(&stripped).unwrap();
    component::with_section_in_front(&bytes, "dormouse:declaration", &section)
}

#[test]
fn references_that_double_leave_a_tool_out_and_cost_nothing() {
    for levels in [20, 40] {
        let bad = offering(&json!([
            { "name": "in", "inputSchema": doubling(levels) },
            { "name": "out", "inputSchema": { "type": "object" }, "outputSchema": doubling(levels) },
            { "name": "fine", "inputSchema": { "type": "object" } }
        ]));
        let mut host = Host::with(&bad, "");
        let tools = host.client.tools().unwrap();
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert!(names.contains(&"bad__fine"), "{names:?}");
        assert!(!names.contains(&"bad__in"), "{names:?}");
        let params = json!({ "name": "bad__in", "arguments": {} });
        let answer = host.client.outcome("tools/call", params).unwrap();
        assert!(answer.get("error").is_some(), "{answer}");
        // One whose answers alone cannot be checked is shown without saying what they are.
        let out = tools.iter().find(|tool| tool["name"] == "bad__out");
        assert!(out.is_none_or(|tool| tool.get("outputSchema").is_none()));
        let params = json!({ "name": "bad__out", "arguments": {} });
        host.client.outcome("tools/call", params).unwrap();
        // Its user hears why, wherever they look.
        let file = host.home.path().join("plugins/bad.wasm");
        for words in [&["doctor"][..], &["check", file.to_str().unwrap()]] {
            let output = host.home.run(words).unwrap();
            let told = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            assert!(
                told.contains("references are followed"),
                "{words:?}: {told}"
            );
        }
        let status = host.home.server_status("bad").unwrap().to_string();
        assert!(status.contains("references are followed"), "{status}");
        let peak = host.peak();
        assert!(peak < 400 << 10, "the host took {peak} KiB");
        host.stays_well();
    }
}

#[test]
fn a_value_that_is_followed_for_ever_is_refused_and_a_small_one_is_not() {
    let bad = offering(&json!([{ "name": "go", "inputSchema": recursive() }]));
    let mut host = Host::with(&bad, "");
    let mut arguments = json!({ "child": {} });
    for _ in 0..60 {
        arguments = json!({ "child": arguments });
    }
    for _ in 0..4 {
        let error = host.client.error("bad__go", arguments.clone()).unwrap();
        assert!(
            error.contains("steps") && error.contains("inputSchema"),
            "{error}"
        );
    }
    let error = host.client.error("bad__go", json!({})).unwrap();
    assert!(error.contains("`child`"), "{error}");
    host.stays_well();
}
