//! What is kept of an upstream is compared and put together in linear time.

use dormouse_tests::growth::is_linear;

use super::*;

/// Offers to a kind of clients: tools of long `_meta`, annotations and schemas.
fn offer(size: usize, members: usize, client: &str, text: &str) -> Offered {
    let many: serde_json::Map<_, _> = (0..members)
        .map(|member| {
            (
                format!("m{member}"),
                json!({ "description": text, "enum": [member] }),
            )
        })
        .collect();
    let tools = (0..size).map(|number| {
        let tool = json!({
            "name": format!("t{number}"), "description": text, "_meta": many,
            "annotations": { "title": text, "readOnlyHint": client != "sampling" },
            "inputSchema": { "type": "object", "properties": many },
            "outputSchema": { "type": "object", "properties": many, "title": client },
        });
        to_raw_value(&tool).unwrap()
    });
    Offered {
        tools: tools.collect(),
        able: serde_json::from_value(json!({ client: {} })).unwrap(),
        ..Offered::default()
    }
}

/// Kinds of clients come one after the other, and are offered other things.
#[test]
fn what_kinds_of_clients_are_offered_is_put_together_in_linear_time() {
    let kinds = |size: usize, members: usize| {
        let kinds = [
            ("roots", "A"),
            ("sampling", "B"),
            ("elicitation", "A"),
            ("sampling", "C"),
        ];
        kinds.map(|(client, text)| offer(size, members, client, text))
    };
    type Kinds<'k> = &'k dyn Fn(usize) -> [Offered; 4];
    let cases: [(&str, Kinds<'_>); 2] = [
        ("tools", &|size| kinds(size, 3)),
        ("members of one tool", &|size| kinds(1, 5 * size)),
    ];
    for (what, kinds) in cases {
        is_linear(what, 6, kinds, |kinds| {
            let (_folder, store, of) = fixture();
            for on_change in [OnChange::Freeze, OnChange::Ask] {
                let changes = ChangePolicy::from(on_change);
                for offered in kinds {
                    store.learn(&of, offered.clone(), (&changes, None)).unwrap();
                }
            }
            assert!(store.known(&of).is_some());
        });
    }
}
