//! Messages about a call while it runs, from either side.

use serde_json::json;

use crate::{Sdk, home, text};

pub(crate) fn is_heard(sdk: Sdk) {
    let home = home(&["reporter"]);
    let answer = sdk
        .step(
            &home,
            json!({ "do": "progress", "tool": "reporter__work", "arguments": { "steps": 3 } }),
        )
        .unwrap();
    // Compiling, which comes first, may have been told of as well.
    let heard = answer["heard"].as_array().unwrap();
    let steps: Vec<_> = heard
        .iter()
        .filter(|one| one[2].as_str().unwrap_or("").starts_with("step "))
        .collect();
    assert_eq!(steps.len(), 3, "{answer}");
    let grows = heard
        .windows(2)
        .all(|two| two[0][0].as_f64() < two[1][0].as_f64());
    assert!(grows, "progress has to grow: {answer}");
    assert_eq!(text(&answer["result"]), "did 3 steps");
}

pub(crate) fn ends_with_a_cancelled_call(sdk: Sdk) {
    let home = home(&["spin", "echo"]);
    let answer = sdk
        .step(
            &home,
            json!({
                "do": "cancel", "tool": "spin__spin", "arguments": {},
                "other": "echo__echo", "while_running": 5
            }),
        )
        .unwrap();
    assert_eq!(answer["ended"], "cancelled");
    assert_eq!(answer["others"], json!(["0", "1", "2", "3", "4", "after"]));
    assert!(
        answer["milliseconds"].as_f64().unwrap() < 1000.0,
        "{answer}"
    );
}
