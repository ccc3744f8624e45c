//! Prompts and resources.

use serde_json::{Value, json};

use crate::{Sdk, home, names};

/// Checks an error, as the protocol has them.
fn is_refused(answer: &Value, code: i64, part: &str) {
    let error = &answer["error"];
    assert_eq!(error["code"], code, "{answer}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(part), "no {part} in {message}");
}

pub(crate) fn prompts_are_got(sdk: Sdk) {
    let home = home(&["library"]);
    let prompt = |name: &str, arguments: Value| json!({ "do": "prompt", "name": name, "arguments": arguments });
    let mut asking = prompt("library__write_about", json!({}));
    asking["answers"] =
        json!({ "elicit": [{ "action": "accept", "content": { "topic": "dormice" } }] });
    let [list, greet, talk, about, completed, unknown, missing] = sdk
        .run(
            &home,
            &[
                json!({ "do": "prompts" }),
                prompt(
                    "library__greet",
                    json!({ "name": "Ada", "mood": "cheerful", "times": "3" }),
                ),
                prompt("library__talk", json!({ "topic": "dormice" })),
                asking,
                json!({
                    "do": "complete",
                    "ref": { "type": "ref/prompt", "name": "library__greet" },
                    "argument": { "name": "name", "value": "k" },
                    "known": { "other": "known" }
                }),
                prompt("library__great", json!({})),
                prompt("library__greet", json!({})),
            ],
        )
        .unwrap();
    // Dormouse's own commands come after all servers' prompts.
    assert_eq!(
        names(&list["prompts"]),
        [
            "library__greet",
            "library__talk",
            "library__write_about",
            "servers",
            "status",
            "enable",
            "disable",
            "approve"
        ]
    );
    assert_eq!(list["prompts"][0]["title"], "A greeting");
    assert_eq!(
        names(&list["prompts"][0]["arguments"]),
        ["name", "mood", "times"]
    );
    assert_eq!(greet["description"], "Greets somebody.");
    assert_eq!(
        greet["messages"],
        json!([{
            "role": "user",
            "content": { "type": "text", "text": "Greet Ada cheerfully, 3 times." }
        }])
    );
    assert_eq!(talk["messages"][1]["role"], "assistant");
    assert_eq!(
        about["asked"][0]["params"]["message"],
        "[server `library`] About what?"
    );
    assert_eq!(
        about["messages"][0]["content"]["text"],
        "Write about dormice."
    );
    assert_eq!(completed["values"], json!(["known"]));
    is_refused(&unknown, -32602, "did you mean `library__greet`?");
    is_refused(&missing, -32602, "`name` is missing");
}

pub(crate) fn resources_are_read(sdk: Sdk) {
    let home = home(&["library"]);
    let read = |uri: &str| json!({ "do": "read", "uri": uri });
    let [list, today, zeros, book, completed, unknown, heard] = sdk
        .run(
            &home,
            &[
                json!({ "do": "resources" }),
                read("library://today"),
                read("library://zeros/3"),
                read("library://books/Dormouse"),
                json!({
                    "do": "complete",
                    "ref": { "type": "ref/resource", "uri": "library://books/{title}" },
                    "argument": { "name": "title", "value": "D" },
                    "known": {}
                }),
                read("library://tomorrow"),
                json!({ "do": "subscribe", "uri": "library://today", "tool": "library__touch" }),
            ],
        )
        .unwrap();
    assert_eq!(names(&list["resources"]), ["today", "status"]);
    assert_eq!(list["resources"][0]["uri"], "library://today");
    assert_eq!(list["resources"][0]["mimeType"], "text/plain");
    assert_eq!(
        list["templates"][1]["uriTemplate"],
        "library://books/{title}"
    );
    assert_eq!(
        today["contents"],
        json!([{ "uri": "library://today", "mimeType": "text/plain", "text": "Reading" }])
    );
    assert_eq!(zeros["contents"][0]["blob"], "AAAA");
    assert_eq!(book["contents"][0]["text"], "It sleeps.");
    assert_eq!(book["contents"][1]["blob"], "AQID");
    assert_eq!(completed["values"], json!(["Dormouse"]));
    is_refused(&unknown, sdk.not_found(), "`library://tomorrow`");
    // Once for what changed while the client was subscribed.
    assert_eq!(heard["heard"], json!(["library://today"]));
}
