//! Has tools with the names of functions of C's library, which the standard library calls.

use super::*;

#[test]
fn every_tool_works_and_so_does_the_standard_library() {
    let mut host = Host::with("c_names");
    let tools = host.tools();
    assert!(tools.len() > 20, "{tools:?}");
    for tool in tools {
        let tool = tool["name"].as_str().unwrap();
        let said = host.client.text(tool, json!({ "text": "so" })).unwrap();
        let (_, name) = tool.split_once("__").unwrap();
        let expected = format!("{name}: so false false false false false 100000");
        assert_eq!(said, expected);
    }
    host.stays_well();
}
