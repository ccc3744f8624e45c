//! Servers that change the schemas of their tools.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts, client};
use serde_json::json;

use crate::changes::frozen::{knowing, shown, tool};

/// Many clients check a result against the output schema that they have listed, and lose all of it
/// where it does not fit.
#[test]
fn a_result_that_breaks_the_schema_that_was_listed_is_an_error_with_its_text() {
    let offer = |member: &str, kind: &str| {
        let mut send = tool("send", "Sends.");
        send["outputSchema"] = json!({
            "type": "object", "properties": { (member): { "type": kind } }, "required": [member],
        });
        let value = if kind == "number" {
            json!(7)
        } else {
            json!("seven")
        };
        let content = json!([{ "type": "text", "text": "sent" }]);
        let result = json!({ "content": content, "structuredContent": { (member): value } });
        json!({ "tools": [send], "results": { "send": result } })
    };
    let all = knowing(&offer("a", "number"), "");
    let call = json!({ "name": "post__send", "arguments": {} });
    let mut host = all.serve(&[]);
    let listed = shown(&mut host, "post__send");
    assert_eq!(listed["outputSchema"]["required"], json!(["a"]));
    let result = host.request("tools/call", call.clone()).unwrap();
    assert_eq!(result["structuredContent"], json!({ "a": 7 }), "{result}");
    drop(host);
    for (member, kind) in [("a", "string"), ("b", "number")] {
        let mut host = all.serve(&[]);
        assert_eq!(shown(&mut host, "post__send"), listed);
        all.offers_just("post", &offer(member, kind));
        let result = host.request("tools/call", call.clone()).unwrap();
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["content"][0]["text"], "sent", "{result}");
        assert!(
            result.to_string().contains("dormouse approve post"),
            "{result}"
        );
        assert_eq!(result.get("structuredContent"), None, "{result}");
        // A client that has listed the tools again takes it as it is.
        assert_eq!(shown(&mut host, "post__send").get("outputSchema"), None);
        let result = host.request("tools/call", call.clone()).unwrap();
        assert_eq!(result.get("isError"), None, "{result}");
        assert!(result["structuredContent"].is_object(), "{result}");
        // And so does one that has listed nothing.
        let mut other = all.serve(&[]);
        let result = other.request("tools/call", call.clone()).unwrap();
        assert!(result["structuredContent"].is_object(), "{result}");
        drop((host, other));
        all.offers_just("post", &offer("a", "number"));
        let result = all.serve(&[]).request("tools/call", call.clone());
        assert_eq!(result.unwrap()["structuredContent"], json!({ "a": 7 }));
    }
    // What fits all the same passes.
    let mut host = all.serve(&[]);
    assert_eq!(shown(&mut host, "post__send"), listed);
    let mut more = offer("a", "number");
    more["tools"][0]["outputSchema"]["title"] = json!("EVIL");
    all.offers_just("post", &more);
    let result = host.request("tools/call", call).unwrap();
    assert_eq!(result["structuredContent"], json!({ "a": 7 }), "{result}");
}

/// Agents are not shown the headers that a server wants: it gets those that it wants now.
#[test]
fn headers_follow_the_schema_that_the_server_has_now() {
    struct Annotated(std::process::Child);
    impl Drop for Annotated {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let home = Home::new().unwrap();
    let file = home.path().join("tools");
    let offers = |argument: &str, header: &str| {
        let schema = json!({ "type": "object", "properties": {
            argument: { "type": "string", "x-mcp-header": header }, "other": { "type": "string" }
        } });
        let tool = json!({ "name": "send", "description": header, "inputSchema": schema });
        fs::write(&file, json!([tool]).to_string()).unwrap();
    };
    offers("region", "Region");
    let mut server = Command::new("python3");
    server.arg(artifacts::workspace().join("tests/servers/annotated.py"));
    let mut server = Annotated(server.arg(&file).stdout(Stdio::piped()).spawn().unwrap());
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut port)
        .unwrap();
    let table = format!("url = 'http://127.0.0.1:{}/mcp'\n", port.trim());
    home.table("far", &table).unwrap();
    home.synced("far").unwrap();
    let listed = home.serve().unwrap().tools().unwrap();
    let arguments = json!({ "region": "north", "place": "south", "other": "x" });
    for (argument, header, expected) in [
        ("region", "Region", r#"{"mcp-param-region": "north"}"#),
        ("region", "Zone", r#"{"mcp-param-zone": "north"}"#),
        ("place", "Place", r#"{"mcp-param-place": "south"}"#),
    ] {
        offers(argument, header);
        for stateless in [false, true] {
            let mut host = home.serve().unwrap();
            let result = match stateless {
                true => host.call_stateless("far__send", arguments.clone()),
                false => host.call("far__send", arguments.clone()),
            };
            assert_eq!(
                client::text(&result.unwrap()).unwrap(),
                expected,
                "{header}"
            );
            if !stateless {
                assert_eq!(host.tools().unwrap(), listed, "{header}");
            }
        }
    }
}
