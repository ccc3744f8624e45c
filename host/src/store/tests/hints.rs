//! Hints of a tool that kinds of clients are offered with different ones.

use super::*;

/// All kinds of clients are shown one tool, which is as careful as each of them needs it.
#[test]
fn a_tool_is_as_careful_as_it_is_for_whichever_client() {
    let (_folder, store, of) = fixture();
    let learn = |able: Value, tool: &Value| {
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            tools: vec![to_raw_value(tool).unwrap()],
            ..Offered::default()
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
    };
    let tool = |read_only: bool, output: &str| {
        json!({
            "name": "a", "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": read_only },
            "outputSchema": { "type": "object", "required": [output] },
        })
    };
    learn(json!({}), &tool(false, "A"));
    learn(json!({ "roots": {} }), &tool(true, "B"));
    approve(&store, &of);
    let known = store.known(&of).unwrap();
    let shown: Value = serde_json::from_str(known.listing.tools[0].tool.get()).unwrap();
    assert_eq!(shown["annotations"]["readOnlyHint"], false, "{shown}");
    assert_eq!(shown.get("outputSchema"), None, "{shown}");
}

/// Makes a tool `a` with that description, which only reads, or else destroys.
fn hinted(description: &str, reads: bool) -> Box<RawValue> {
    let tool = json!({
        "name": "a", "description": description, "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
    });
    to_raw_value(&tool).unwrap()
}

/// Returns the description of the one tool that is shown, and whether it only reads.
fn hint_shown(store: &Store, of: &Fingerprint) -> (String, bool) {
    let known = store.known(of).unwrap();
    let tool: Value = serde_json::from_str(known.listing.tools[0].tool.get()).unwrap();
    let hint = tool["annotations"]["readOnlyHint"].as_bool().unwrap();
    (tool["description"].as_str().unwrap().to_owned(), hint)
}

/// A tool is as cautious as its pending forms for all kinds of clients together: none of them is
/// forgotten because another kind is offered something else meanwhile.
#[test]
fn what_waits_of_one_kind_of_clients_is_not_forgotten_when_another_ones_changes() {
    let (_folder, store, of) = fixture();
    let kinds = [json!({}), json!({ "elicitation": { "form": {} } })];
    let learn = |kind: usize, description: &str, reads: bool| {
        let offered = Offered {
            able: serde_json::from_value(kinds[kind].clone()).unwrap(),
            tools: vec![hinted(description, reads)],
            ..Offered::default()
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
    };
    let shown = || hint_shown(&store, &of);
    let a = || "A".to_owned();
    learn(0, "A", true);
    learn(1, "A", true);
    assert_eq!(shown(), (a(), true));
    learn(1, "A", false);
    assert_eq!(shown(), (a(), false));
    for round in 0..3 {
        learn(0, &format!("A{round}"), true);
        assert_eq!(shown(), (a(), false), "{round}");
        assert_eq!(pending(&store, &of), ["tool `a`", "tool `a`"], "{round}");
        learn(1, "A", false);
        assert_eq!(shown(), (a(), false), "{round}");
        assert_eq!(pending(&store, &of), ["tool `a`", "tool `a`"], "{round}");
    }
    // What a kind is no longer offered waits no longer.
    learn(0, "A", true);
    assert_eq!(pending(&store, &of), ["tool `a`"]);
    learn(1, "A", true);
    assert_eq!((shown(), pending(&store, &of)), ((a(), true), vec![]));
    // Both are approved, each for those who are offered it.
    learn(1, "A", false);
    learn(0, "B", true);
    assert_eq!(approve(&store, &of), ["a", "a"]);
    assert_eq!(shown(), ("B".to_owned(), false));
    for kind in [0, 1, 0] {
        learn(kind, ["B", "A"][kind], kind == 0);
        assert_eq!((shown().1, pending(&store, &of)), (false, vec![]), "{kind}");
    }
    // What is new waits for each of them.
    let new = |kind: usize, text: &str| {
        let offered = Offered {
            able: serde_json::from_value(kinds[kind].clone()).unwrap(),
            ..offered(&[("new", text)])
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
    };
    new(0, "for 0");
    new(1, "for 1");
    let known = store.known(&of).unwrap();
    let waiting = known.pending.iter().filter(|item| item.name == "new");
    let was: Vec<_> = waiting.map(|item| item.was.is_some()).collect();
    assert_eq!(was, [false, false]);
}

/// The same, of a server that names another version of itself to each kind.
#[test]
fn what_waits_of_one_kind_of_clients_outlives_another_version() {
    let (_folder, store, of) = fixture();
    let kinds = [json!({}), json!({ "elicitation": { "form": {} } })];
    let learn = |kind: usize, description: &str, reads: bool| {
        let version = json!({ "name": "x", "version": kind.to_string() });
        let offered = Offered {
            able: serde_json::from_value(kinds[kind].clone()).unwrap(),
            tools: vec![hinted(description, reads)],
            server_info: serde_json::from_value(version).unwrap(),
            ..Offered::default()
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
        hint_shown(&store, &of)
    };
    let a = |reads: bool| ("A".to_owned(), reads);
    assert_eq!(learn(0, "A", true), a(true));
    assert_eq!(learn(1, "A", true), a(true));
    assert_eq!(learn(1, "A", false), a(false));
    for round in 0..3 {
        assert_eq!(learn(0, &format!("A{round}"), true), a(false), "{round}");
        assert_eq!(learn(0, "A", true), a(false), "{round}");
        assert_eq!(learn(1, "A", false), a(false), "{round}");
    }
    assert_eq!(learn(0, "A", true), a(false));
    // Until they are offered something else.
    assert_eq!(learn(1, "A", true), a(true));
    assert_eq!(pending(&store, &of), [""; 0]);
}
