//! The same server, directly and behind Dormouse, for the clients that agents are
//! made of.

use dormouse_tests::{Home, Sdk, upstream};
use serde_json::{Value, json};

/// A step with names as the server has them, or as Dormouse shows them.
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

/// What an SDK has understood, without what is the host's business: who it is, and
/// what each era says of a result besides.
fn own(mut outcome: Value, prefix: &str) -> Value {
    let members = outcome.as_object_mut().unwrap();
    for name in [
        "server",
        "protocol",
        "_meta",
        "resultType",
        "ttlMs",
        "cacheScope",
    ] {
        members.remove(name);
    }
    for kind in ["tools", "prompts"] {
        for item in outcome[kind].as_array_mut().into_iter().flatten() {
            let name = item["name"].as_str().unwrap();
            item["name"] = json!(name.strip_prefix(prefix).unwrap());
        }
    }
    // This server asks for roots a moment after its start, whatever is going on.
    if let Some(asked) = outcome["asked"].as_array_mut() {
        asked.retain(|question| question["method"] != "roots/list");
        if asked.is_empty() {
            outcome["asked"] = Value::Null;
        }
    }
    // Reading a member that is not there has put a null in its place.
    outcome
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    outcome
}

fn is_the_same(sdk: Sdk) {
    let call = |tool: &str, arguments: Value| json!({ "do": "call", "tool": tool, "arguments": arguments });
    let mut form = call("trigger-elicitation-request", json!({}));
    form["answers"] = json!({
        "elicit": [{ "action": "accept", "content": { "name": "Ada" } }]
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
            "arguments": { "duration": 0.2, "steps": 3 }
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
    for (step, (through, direct)) in steps
        .iter()
        .zip(through.unwrap().into_iter().zip(direct.unwrap()))
    {
        assert_eq!(own(through, prefix), own(direct, ""), "{sdk:?}: {step}");
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
