//! Text of many bytes everywhere.

use super::*;

#[test]
fn survives_wherever_text_is_cut() {
    let mut host = Host::with("multibyte");
    let tools = host.tools();
    assert!(
        tools[0]["description"]
            .as_str()
            .unwrap()
            .contains("誰にでも挨拶します 🙋")
    );
    assert!(
        tools[0]["inputSchema"]["properties"]["größe"]["description"]
            .as_str()
            .unwrap()
            .contains("🍎")
    );
    let text = host
        .client
        .text("multibyte__greet", json!({ "größe": 3, "名前": "日本" }))
        .unwrap();
    assert_eq!(text, "Grüß Gott, 日本! 🍎🍎🍎");
    // What the tool itself says is told in its own words alone.
    let arguments = json!({ "größe": 0, "名前": "日本" });
    let error = host.client.error("multibyte__greet", arguments).unwrap();
    assert_eq!(error, "zu klein 😀日本語ß".repeat(200));
    // An argument of the wrong type, and one of a wrong name, to be shown back.
    let long = "日本語".repeat(300);
    host.fails(
        "multibyte__greet",
        json!({ "größe": long, "名前": "" }),
        "größe",
    );
    let mut arguments = json!({ "größe": 1, "名前": "" });
    arguments[&long] = json!(1);
    host.client.error("multibyte__greet", arguments).unwrap();
    host.stays_well();
}
