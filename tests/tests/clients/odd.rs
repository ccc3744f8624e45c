//! Items that are not what MCP says: real clients hold whole lists against their
//! schemas, and read nothing where one item is not what they say.

use std::fs;

use dormouse_tests::artifacts;
use serde_json::{Value, json};

use crate::{Sdk, call, home, names, text};

/// Returns the lists of a careless server.
fn lists() -> Value {
    let schema = json!({ "type": "object" });
    let tool = |name: &str, member: &str, value: Value| json!({ "name": name, "inputSchema": schema, member: value });
    json!({
        "tools": [
            { "name": "untyped", "inputSchema": {} },
            { "name": "empty", "inputSchema": { "type": "object", "properties": [] } },
            { "name": "schemaless" },
            { "name": "unreadable", "inputSchema": { "type": "string" } },
            { "name": "boolean", "inputSchema": { "type": "object", "properties": { "a": true } } },
            tool("described", "description", json!(null)),
            tool("hinted", "annotations", json!({ "readOnlyHint": "yes" })),
            tool("pictured", "icons", json!([{ "url": "x" }])),
            tool("meta", "_meta", json!(7)),
            tool("titled", "title", json!(["x"])),
            tool("listing", "outputSchema", json!({ "type": "array" })),
            tool("either", "outputSchema", json!({ "anyOf": [{ "type": "object" }] })),
            tool("astray", "outputSchema", json!({ "type": "object", "$ref": "#/none" })),
            tool("matching", "outputSchema", json!({ "type": "object", "properties": { "a": { "pattern": "(" } } }))
        ],
        "prompts": [
            { "name": "asks", "arguments": [{ "description": "It has no name." }, { "name": "a" }] },
            { "name": "argues", "arguments": {}, "description": null }
        ],
        "resources": [
            { "uri": "odd:nameless" },
            { "uri": "odd:hinted", "name": "n", "annotations": { "priority": 9, "lastModified": "now" } },
            { "uri": "odd:sized", "name": "n", "size": "large", "mimeType": null },
            { "uri": "no scheme", "name": "n" }
        ],
        "resourceTemplates": [{ "uriTemplate": "odd:{a}", "title": 7 }]
    })
}

pub(crate) fn items_cost_nobody_the_others(sdk: Sdk) {
    let home = home(&["echo"]);
    let file = |name: &str| home.path().join(name);
    fs::write(file("lists"), lists().to_string()).unwrap();
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    let words = json!(["python3", script, file("starts"), file("lists")]);
    home.table("odd", &format!("command = {words}")).unwrap();
    home.synced("odd").unwrap();
    let [tools, called, prompts, resources, mended] = sdk
        .run(
            &home,
            &[
                json!({ "do": "list" }),
                call("echo__echo", json!({ "text": "well" })),
                json!({ "do": "prompts" }),
                json!({ "do": "resources" }),
                call("odd__schemaless", json!({})),
            ],
        )
        .unwrap();
    let shown = names(&tools["tools"]);
    let expected = lists();
    for tool in names(&expected["tools"]) {
        let is_shown = shown.contains(&format!("odd__{tool}").as_str());
        assert_eq!(is_shown, tool != "unreadable", "{tool}: {tools}");
    }
    assert!(shown.contains(&"echo__echo"), "{tools}");
    assert_eq!(text(&called), "well");
    assert_eq!(text(&mended), "schemaless {}");
    let prompts = names(&prompts["prompts"]);
    assert!(
        prompts.contains(&"odd__asks") && prompts.contains(&"odd__argues"),
        "{prompts:?}"
    );
    let uris = resources["resources"].as_array().unwrap().iter();
    let uris: Vec<_> = uris
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris[..3],
        ["odd:nameless", "odd:hinted", "odd:sized"],
        "{resources}"
    );
    assert!(!uris.contains(&"no scheme"), "{resources}");
}
