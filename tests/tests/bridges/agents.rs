//! The same server, directly and behind Dormouse, for the clients that agents are
//! made of.

use dormouse_tests::{Home, Sdk, upstream};
use serde_json::{Value, json};

use crate::difference::assert_same;

/// Returns a step with names as the server has them, or as Dormouse shows them.
fn named(step: &Value, prefix: &str) -> Value {
    let mut step = step.clone();
    let place = match step["do"].as_str().unwrap() {
        "call" | "progress" => step.pointer_mut("/tool"),
        "prompt" => step.pointer_mut("/name"),
        "complete" => step.pointer_mut("/ref/name"),
        _ => None,
    };
    if let Some(name) = place {
        *name = json!(format!("{prefix}{}", name.as_str().unwrap()));
    }
    step
}

/// Returns an outcome of an SDK without the host's part: its name, its own items, and members of
/// results in the stateless era.
fn own(mut outcome: Value, prefix: &str, is_stateless: bool) -> Value {
    let members = outcome.as_object_mut().unwrap();
    for name in ["server", "protocol"] {
        members.remove(name);
    }
    if is_stateless {
        for name in ["_meta", "resultType", "ttlMs", "cacheScope"] {
            members.remove(name);
        }
        // Some SDKs show that of a result, too.
        if let Some(Value::Object(result)) = members.get_mut("result")
            && let Some(Value::Object(meta)) = result.get_mut("_meta")
        {
            meta.remove("io.modelcontextprotocol/serverInfo");
            if meta.is_empty() {
                result.remove("_meta");
            }
        }
    }
    if let Some(Value::Array(prompts)) = members.get_mut("prompts") {
        prompts.retain(|prompt| prompt["name"].as_str().unwrap().starts_with(prefix));
    }
    if let Some(Value::Array(resources)) = members.get_mut("resources") {
        resources.retain(|resource| !resource["uri"].as_str().unwrap().starts_with("dormouse:"));
    }
    // Questions say whose they are, and no more than that is different.
    let asked = members.get_mut("asked").and_then(Value::as_array_mut);
    for question in asked.into_iter().flatten() {
        for name in ["message", "systemPrompt"] {
            let pointer = format!("/params/{name}");
            let Some(Value::String(text)) = question.pointer_mut(&pointer) else {
                continue;
            };
            *text = text.replace("[server `everything`] ", "");
        }
    }
    if let Some(Value::Array(tools)) = members.get_mut("tools") {
        // What is called as a task alone is shown to nobody.
        tools.retain(|tool| tool["name"] != "simulate-research-query");
    }
    for kind in ["tools", "prompts"] {
        for item in members
            .get_mut(kind)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            let name = item["name"].as_str().unwrap();
            item["name"] = json!(name.strip_prefix(prefix).unwrap());
            // A member of the older era only, which some SDKs drop in the newer one.
            item.as_object_mut().unwrap().remove("execution");
        }
    }
    if let Some(Value::Array(heard)) = members.get_mut("heard") {
        // TypeScript's second version tells of its own doing too, and may miss what
        // comes together with the result: on a busy machine, that is all of the last 100 ms.
        heard.retain(|one| one[2].is_null());
        assert!(heard.len() >= 2, "{heard:?}");
        heard.truncate(2);
    }
    if let Some(Value::Array(asked)) = members.get_mut("asked") {
        // This server asks for roots a moment after its start, whatever is going on.
        asked.retain(|question| question["method"] != "roots/list");
        for question in asked.iter_mut() {
            // What it is anyhow, where nothing is said.
            let params = question["params"].as_object_mut().unwrap();
            params.retain(|name, value| (name.as_str(), &*value) != ("mode", &json!("form")));
        }
        if asked.is_empty() {
            members.remove("asked");
        }
    }
    outcome
}

fn is_the_same(sdk: Sdk) {
    let is_stateless = sdk.is_modern();
    let call = |tool: &str, arguments: Value| json!({ "do": "call", "tool": tool, "arguments": arguments });
    let mut form = call("trigger-elicitation-request", json!({}));
    form["answers"] = json!({
        // All of it, because fastmcp makes a null of what is left out.
        "elicit": [{ "action": "accept", "content": {
            "name": "Ada", "check": true, "email": "ada@example.com",
            "homepage": "https://example.com", "birthdate": "1815-12-10"
        } }]
    });
    let mut model = call("trigger-sampling-request", json!({ "prompt": "Think." }));
    model["answers"] = json!({ "sample": "I do." });
    let steps = [
        json!({ "do": "list" }),
        call("echo", json!({ "message": "Grüße 😀" })),
        call("get-structured-content", json!({ "location": "New York" })),
        call("get-tiny-image", json!({})),
        call("get-resource-links", json!({ "count": 2 })),
        call("get-sum", json!({ "a": "one" })),
        json!({
            "do": "progress", "tool": "trigger-long-running-operation",
            "arguments": { "duration": 1.5, "steps": 3 }
        }),
        form,
        model,
        json!({ "do": "prompts" }),
        json!({ "do": "prompt", "name": "args-prompt", "arguments": { "city": "Bern" } }),
        json!({
            "do": "complete", "ref": { "type": "ref/prompt", "name": "completable-prompt" },
            "argument": { "name": "department", "value": "E" }, "known": {}
        }),
        json!({ "do": "resources" }),
        json!({ "do": "read", "uri": "demo://resource/static/document/structure.md" }),
    ];
    let home = Home::new().unwrap();
    let server = upstream::everything().unwrap();
    home.upstream("everything", &server, "").unwrap();
    home.synced("everything").unwrap();
    let prefix = "everything__";
    let through = sdk.run(&home, &steps.each_ref().map(|step| named(step, prefix)));
    let direct = sdk.run_at(&home, &server.launch(), &steps);
    let outcomes = through.unwrap().into_iter().zip(direct.unwrap());
    for (step, (through, direct)) in steps.iter().zip(outcomes) {
        let what = format!("{sdk:?}: {step}");
        assert_same(
            &own(through, prefix, is_stateless),
            &own(direct, "", is_stateless),
            &what,
        );
    }
}

macro_rules! agents {
    ($($name:ident = $sdk:literal $mode:literal;)*) => {
        $(#[test]
        fn $name() {
            is_the_same(Sdk::new($sdk, $mode));
        })*
    };
}

// Against the server itself, all of them speak the legacy era, which is all that it
// knows; to Dormouse they speak what they like best.
agents! {
    python = "python" "auto";
    python_legacy = "python" "legacy";
    fastmcp = "fastmcp" "auto";
    typescript_1 = "v1" "legacy";
    typescript_2 = "v2" "auto";
}
