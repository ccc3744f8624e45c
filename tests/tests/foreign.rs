//! Components that other toolchains have built, with WIT for their only contract.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use dormouse_tests::{Home, artifacts};
use serde_json::json;

/// What both greeters do, listed and called, packed and unpacked.
fn greets(language: &str, name: &str) {
    let home = Home::new().unwrap();
    let plain = artifacts::foreign(name).unwrap();
    let wit = artifacts::workspace().join("tests/foreign/wit");
    let packed = home.path().join("packed.wasm");
    let words = [
        "pack",
        plain.to_str().unwrap(),
        "--wit",
        wit.to_str().unwrap(),
    ];
    let pack = home
        .run(&[&words[..], &["--output", packed.to_str().unwrap()]].concat())
        .unwrap();
    assert!(pack.status.success(), "{pack:?}");

    home.server("plain", &plain).unwrap();
    home.server("packed", &packed).unwrap();
    let mut client = home.serve().unwrap();
    let tools = client.tools().unwrap();
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();

    // The types are in the component itself; what people wrote is in the section.
    for server in ["plain", "packed"] {
        let greet = find(&format!("{server}__greet"));
        assert_eq!(greet["inputSchema"]["required"], json!(["name"]));
        assert_eq!(greet["outputSchema"]["required"], json!(["text", "length"]));
        assert_eq!(
            find(&format!("{server}__sum"))["inputSchema"]["properties"]["numbers"]["type"],
            "array"
        );
    }
    assert_eq!(find("plain__greet").get("description"), None);
    let greet = find("packed__greet");
    assert_eq!(greet["description"], "Greets someone by name.");
    assert_eq!(greet["annotations"]["readOnlyHint"], true);
    assert_eq!(
        greet["inputSchema"]["properties"]["name"]["description"],
        "Who is greeted."
    );

    for server in ["plain", "packed"] {
        let result = client
            .call(&format!("{server}__greet"), json!({ "name": "Ada 😀" }))
            .unwrap();
        let text = format!("Hello, Ada 😀, from {language}");
        assert_eq!(
            result["structuredContent"],
            json!({ "text": text, "length": text.chars().count() })
        );
        let result = client
            .call(&format!("{server}__sum"), json!({ "numbers": [1, 2, -4] }))
            .unwrap();
        assert_eq!(result["structuredContent"]["result"], -1);
        let error = client
            .error(&format!("{server}__greet"), json!({ "name": "" }))
            .unwrap();
        assert!(error.contains("whom should I greet?"), "{error}");
    }

    // What a toolchain exports for its own use is no tool.
    assert_eq!(tools.len(), 4, "{tools:?}");
    let check = home.run(&["check", packed.to_str().unwrap()]).unwrap();
    assert!(check.status.success(), "{check:?}");
}

#[test]
fn heavy_javascript_by_jco() {
    greets("JavaScript", "js");
}

#[test]
fn heavy_python_by_componentize_py() {
    greets("Python", "py");
}
