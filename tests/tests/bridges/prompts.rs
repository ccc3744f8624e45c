//! Prompts, and completion of their arguments.

use serde_json::json;

use crate::everything;
use crate::pair::no_digits;

#[test]
fn are_listed_and_got_alike() {
    let mut pair = everything();
    let names = pair.same_list("prompts/list", "prompts");
    assert!(
        names.contains(&"completable-prompt".to_owned()),
        "{names:?}"
    );
    for (name, arguments) in [
        ("simple-prompt", json!({})),
        ("args-prompt", json!({ "city": "Zürich" })),
        ("args-prompt", json!({ "city": "Zürich", "state": "ZH" })),
        (
            "completable-prompt",
            json!({ "department": "Sales", "name": "Eve" }),
        ),
        (
            "resource-prompt",
            json!({ "resourceType": "Text", "resourceId": "3" }),
        ),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        // A resource says when it was made.
        let outcome = pair.alike("prompts/get", params, no_digits);
        assert!(outcome["result"]["messages"][0].is_object(), "{outcome}");
    }
}

#[test]
fn fail_alike() {
    let mut pair = everything();
    for (name, arguments) in [
        ("args-prompt", json!({})),
        (
            "resource-prompt",
            json!({ "resourceType": "Nothing", "resourceId": "3" }),
        ),
        (
            "resource-prompt",
            json!({ "resourceType": "Text", "resourceId": "none" }),
        ),
    ] {
        let params = json!({ "name": name, "arguments": arguments });
        let outcome = pair.same("prompts/get", params);
        assert!(outcome["error"]["code"].is_i64(), "{outcome}");
    }
}

#[test]
fn are_completed_alike() {
    let mut pair = everything();
    let prompt = json!({ "type": "ref/prompt", "name": "completable-prompt" });
    let template = json!({
        "type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"
    });
    for (reference, name, value, known, expected) in [
        (
            &prompt,
            "department",
            "S",
            json!({}),
            json!(["Sales", "Support"]),
        ),
        (
            &prompt,
            "name",
            "",
            json!({ "department": "Sales" }),
            json!(["David", "Eve", "Frank"]),
        ),
        (&prompt, "name", "", json!({}), json!([])),
        (&template, "resourceId", "12", json!({}), json!(["12"])),
        (&template, "resourceId", "none", json!({}), json!([])),
    ] {
        let argument = json!({ "name": name, "value": value });
        let params =
            json!({ "ref": reference, "argument": argument, "context": { "arguments": known } });
        let outcome = pair.same("completion/complete", params);
        assert_eq!(
            outcome["result"]["completion"]["values"], expected,
            "{outcome}"
        );
    }
}
