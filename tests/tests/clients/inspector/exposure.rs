//! Tools that are not in the list, in the Inspector: found, described, loaded and called.

use dormouse_tests::client;
use serde_json::{Value, json};

use super::{Daemon, Inspector, Way};
use crate::exposure::home_with;
use crate::names;

const CALL_TOOLS: [&str; 3] = ["call_tool", "call_tool_write", "call_tool_destructive"];

fn text(result: &Value) -> &str {
    client::text(result).unwrap_or_else(|| panic!("no text in {result}"))
}

fn called(daemon: &Daemon<'_>, meta_tool: &str, tool: &str, arguments: &Value) -> Value {
    let given = json!({ "name": tool, "arguments": arguments });
    daemon.call(meta_tool, &given.to_string())
}

/// The command line has a session for each step, and gets there as well.
pub(super) fn searches_describes_and_calls(way: Way) {
    let inspector = Inspector::new(way, home_with("mode = 'search'"));
    let list = inspector.inspect(&["--method", "tools/list", "--strict"]);
    let listed = names(&list["tools"]);
    assert_eq!(listed[..2], ["search_tools", "describe_tool"]);
    assert_eq!(listed[2..], CALL_TOOLS);
    let daemon = Daemon::start(&inspector);
    let found = daemon.call("search_tools", r#"{"query":"add two numbers"}"#);
    let first = text(&found).lines().next().unwrap();
    assert_eq!(first, "echo__add(a: integer, b: integer) [call_tool_write]");
    let described = daemon.call("describe_tool", r#"{"names":["echo__add"]}"#);
    assert!(
        text(&described).contains(r#""required":["a","b"]"#),
        "{described}"
    );
    let sum = json!({ "a": 2, "b": 3 });
    let added = called(&daemon, "call_tool_write", "echo__add", &sum);
    assert_eq!(added["structuredContent"]["result"], 5, "{added}");
    drop(daemon);
    let given = format!("arguments={sum}");
    let call = ["--method", "tools/call", "--tool-name", "call_tool_write"];
    let given = ["--tool-arg", "name=echo__add", &given];
    let added = inspector.inspect(&[&call[..], &given].concat());
    assert_eq!(added["structuredContent"]["result"], 5, "{added}");
}

/// What is loaded is in the list of a session, and of no other; without sessions it is called all the
/// same.
pub(super) fn loads_and_calls(way: Way) {
    let inspector = Inspector::new(way, home_with("mode = 'index'"));
    let daemon = Daemon::start(&inspector);
    let list = || inspector.mcpdo(&["--connection", "dormouse", "tools/list"]);
    let before = list();
    let mut expected = vec!["list_servers", "load_tools", "describe_tool"];
    expected.extend(CALL_TOOLS);
    assert_eq!(names(&before["tools"]), expected);
    let loaded = daemon.call("load_tools", r#"{"server":"echo","names":["echo"]}"#);
    assert!(text(&loaded).starts_with("echo__echo("), "{loaded}");
    let after = list();
    let in_list = match way.era {
        "legacy" => [&["echo__echo"], expected.as_slice()].concat(),
        _ => expected.clone(),
    };
    assert_eq!(names(&after["tools"]), in_list);
    let text_of = |result: &Value| text(result).to_owned();
    if way.era == "legacy" {
        let echoed = daemon.call("echo__echo", r#"{"text":"loaded"}"#);
        assert_eq!(text_of(&echoed), "loaded");
    }
    let echoed = called(
        &daemon,
        "call_tool",
        "echo__echo",
        &json!({ "text": "well" }),
    );
    assert_eq!(text_of(&echoed), "well");
    // The command line has another session.
    let others = inspector.inspect(&["--method", "tools/list"]);
    assert_eq!(names(&others["tools"]), expected);
}
