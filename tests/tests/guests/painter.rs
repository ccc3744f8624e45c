//! Answers and fails with content blocks, one or several.

use super::*;

#[test]
fn a_block_is_an_answer_and_blocks_are_an_error() {
    let mut host = Host::with("painter");
    for tool in host.tools() {
        assert!(tool["outputSchema"].is_null(), "{tool}");
    }
    let mut call = |tool: &str, arguments: Value| {
        let result = host.client.call(&format!("painter__{tool}"), arguments);
        let result = result.unwrap();
        assert!(result["structuredContent"].is_null(), "{result}");
        (result["isError"].clone(), result["content"].clone())
    };
    assert_eq!(
        call("paint", json!({})),
        (
            json!(false),
            json!([{
                "type": "image", "data": "AQID", "mimeType": "image/png",
                "annotations": { "audience": ["user"], "priority": 0.5 },
            }])
        )
    );
    assert_eq!(
        call("try_to_paint", json!({ "spill": false })),
        (
            json!(false),
            json!([{
                "type": "resource_link", "uri": "paint://1", "name": "first",
                "title": "The first one", "mimeType": "image/png", "size": 3,
            }])
        )
    );
    assert_eq!(
        call("try_to_paint", json!({ "spill": true })),
        (
            json!(true),
            json!([
                { "type": "text", "text": "the colour is on the floor" },
                { "type": "image", "data": "BA==", "mimeType": "image/png" },
            ])
        )
    );
    assert_eq!(
        call("spoil", json!({})),
        (
            json!(true),
            json!([{
                "type": "resource",
                "resource": { "uri": "paint://why", "mimeType": "text/plain", "text": "rain" },
            }])
        )
    );
    host.stays_well();
}
