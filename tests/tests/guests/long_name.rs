//! Has a tool of a very long name.

use super::*;

#[test]
fn is_shown_short_and_called_by_that() {
    let mut host = Host::with("long_name");
    let tools = host.tools();
    let name = tools[0]["name"].as_str().unwrap().to_owned();
    assert!(
        name.len() <= 48 && name.starts_with("long_name__a_tool"),
        "{name}"
    );
    assert_eq!(host.client.text(&name, json!({})).unwrap(), "called");
    host.stays_well();
}
