//! Comparison of items with what their user has approved, whichever way they are written.

use dormouse_config::{NewTools, OnChange};

use super::*;

/// Some servers write a tool's members in another order in each era of MCP: agents need not read
/// the list again for that.
#[test]
fn a_tool_that_is_written_in_another_order_stays_as_it_is() {
    let (_folder, store, of) = fixture();
    let learn = |tool: &str| {
        let mut listed = offered(&[]);
        listed.tools = vec![RawValue::from_string(tool.to_owned()).unwrap()];
        store
            .learn(&of, listed, &OnChange::Ask.into(), None)
            .unwrap();
        let known = store.known(&of).unwrap();
        known.listing.tools[0].tool.get().to_owned()
    };
    let first = learn(r#"{"name":"a","description":"A","inputSchema":{"type":"object"}}"#);
    let other = r#"{"inputSchema":{"type":"object"},"description":"A","name":"a"}"#;
    assert_eq!(learn(other), first);
}

/// A member that is there twice is not seen by everybody as the same.
#[test]
fn what_two_readers_read_differently_is_left_out() {
    let (_folder, store, of) = fixture();
    let mut all = offered(&[("a", "A")]);
    all.tools.push(raw(
        r#"{"name":"b","description":"EVIL","description":"old","inputSchema":{"type":"object"}}"#,
    ));
    all.tools.push(raw(
        r#"{"name":"c","inputSchema":{"type":"object","properties":{"x":1,"x":2}}}"#,
    ));
    all.prompts.push(raw(r#"{"name":"p","name":"p"}"#));
    store.learn(&of, all, &OnChange::Ask.into(), None).unwrap();
    assert_eq!(names(&store, &of), ["a"]);
    assert!(store.known(&of).unwrap().listing.prompts.is_empty());
}

#[test]
fn odd_objects_and_second_names_do_not_lose_the_others() {
    let (_folder, store, of) = fixture();
    let mut odd = offered(&[("a", "A"), ("a", "again"), ("b", "B")]);
    for object in ["{}", "[]", "1", r#"{"name":1}"#] {
        odd.tools.insert(
            0,
            serde_json::value::RawValue::from_string(object.to_owned()).unwrap(),
        );
    }
    store.learn(&of, odd, &OnChange::Ask.into(), None).unwrap();
    assert_eq!(names(&store, &of), ["a", "b"]);
}

/// SDKs write an output schema that is not of an object in another way in each era.
#[test]
fn the_era_of_a_server_changes_none_of_its_tools() {
    const SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";
    let (_folder, store, of) = fixture();
    let learn = |schema: &Value| {
        let tool = json!({
            "name": "a", "inputSchema": { "type": "object" }, "outputSchema": schema
        });
        let offered = Offered {
            tools: vec![RawValue::from_string(tool.to_string()).unwrap()],
            ..Offered::default()
        };
        store
            .learn(&of, offered, &OnChange::Block.into(), None)
            .unwrap()
    };
    let own = json!({ "$schema": SCHEMA, "type": "array", "items": { "type": "number" } });
    let into = |inner: &Value| {
        json!({
            "$schema": SCHEMA, "type": "object", "properties": { "result": inner },
            "required": ["result"],
        })
    };
    let mut other_inner = own.clone();
    other_inner["description"] = json!("EVIL");
    let mut other_outer = into(&own);
    other_outer["description"] = json!("EVIL");
    let mut other_dialect = into(&own);
    other_dialect["$schema"] = json!("EVIL");
    learn(&own);
    for schema in [into(&own), own.clone(), into(&own)] {
        assert_eq!(learn(&schema), OfferedChanges::default(), "{schema}");
    }
    for schema in [into(&other_inner), other_outer, other_dialect] {
        assert_eq!(learn(&schema).pending, ["a"], "{schema}");
        assert_eq!(learn(&own), OfferedChanges::default());
    }
}

/// Models are told the digits, whatever a number comes to.
#[test]
fn digits_that_nobody_has_seen_are_a_change() {
    let (_folder, store, of) = fixture();
    let learn = |default: &str, output: &str| {
        let tool = format!(
            r#"{{"inputSchema":{{"default":{default},"type":"object"}},"name":"a"{output}}}"#
        );
        let offered = Offered {
            tools: vec![RawValue::from_string(tool).unwrap()],
            ..Offered::default()
        };
        store
            .learn(&of, offered, &OnChange::Block.into(), None)
            .unwrap()
    };
    for output in ["", r#","outputSchema":{"type":"object"}"#] {
        learn("0.5", output);
        let more = learn("0.50000000000000000000000000769376101115", output);
        assert_eq!(more.pending, ["a"], "{output}");
        store
            .learn(&of, Offered::default(), &OnChange::Accept.into(), None)
            .unwrap();
    }
}

/// A record from before that was repaired in no way, and a component with the repaired object in
/// it, are of the same tool.
#[test]
fn what_is_mended_is_no_change_and_what_was_never_shown_is_new() {
    let (_folder, store, of) = fixture();
    let learn = |tools: &[&str]| {
        let tools = tools.iter();
        let raw = tools.map(|text| RawValue::from_string((*text).to_owned()).unwrap());
        let offered = Offered {
            tools: raw.collect(),
            ..Offered::default()
        };
        store
            .learn(&of, offered, &OnChange::Block.into(), None)
            .unwrap()
    };
    let sound = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    let odd = r#"{"name":"a","description":null,"title":7}"#;
    let unreadable = r#"{"name":"b","inputSchema":7}"#;
    assert_eq!(learn(&[odd, unreadable]).added, ["a"]);
    assert_eq!(names(&store, &of), ["a"]);
    let known = store.known(&of).unwrap();
    assert_eq!(known.listing.tools[0].tool.get(), sound);
    assert_eq!(known.listing.odd.len(), 2);
    assert_eq!(learn(&[sound, unreadable]), OfferedChanges::default());
    assert_eq!(learn(&[odd, unreadable]), OfferedChanges::default());
    let mended = r#"{"name":"b","inputSchema":{"type":"object"}}"#;
    // It was there, and nobody has seen it.
    let news = learn(&[odd, mended]);
    assert_eq!(
        (news.added, news.pending),
        (vec!["b".to_owned()], vec!["b".to_owned()])
    );
    approve(&store, &of);
    // Seen by now, and so no way to come back as something else.
    learn(&[odd, unreadable]);
    let other = r#"{"name":"b","description":"B","inputSchema":{"type":"object"}}"#;
    assert_eq!(learn(&[odd, other]).pending, ["b"]);
}

/// Nothing that may be known counts as new.
#[test]
fn what_cannot_be_compared_is_not_new() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let folder = |name: &str| of.in_folder(std::path::Path::new(name));
    let learn = |of: &Fingerprint, tools: &[(&str, &str)]| {
        let learnt = store.learn(of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&folder("/w/first"), &[("a", "A")]);
    std::fs::write(store.file(&folder("/w/first")), "{").unwrap();
    // Trust on first use is for what nothing is known of.
    assert_eq!(learn(&folder("/w/second"), &[("a", "EVIL")]), ["a"]);
    assert_eq!(learn(&of, &[("a", "EVIL")]), ["a"]);

    let (_folder, store, of) = fixture();
    let folder = |name: &str| of.in_folder(std::path::Path::new(name));
    let learn = |of: &Fingerprint, tools: &[(&str, &str)]| {
        let learnt = store.learn(of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&folder("/w/first"), &[("a", "A"), ("b", "B")]);
    for number in 0..40 {
        learn(&folder(&format!("/w/{number}")), &[("b", "B")]);
    }
    assert_eq!(
        learn(&folder("/w/last"), &[("a", "EVIL"), ("b", "B")]),
        ["a"]
    );
}
