//! Offers that differ between kinds of clients.

use dormouse_config::{NewTools, OnChange};
use dormouse_upstream::MODERN;

use super::*;

/// Items that one kind of clients is offered, by what they can be asked and by their revision of
/// MCP, are no change of what another one is offered: they are approved once.
#[test]
fn what_one_kind_of_clients_is_offered_is_no_change_of_what_others_are() {
    let (_folder, store, of) = fixture();
    let kinds = [
        (json!({}), "2025-11-25"),
        (json!({ "sampling": {} }), "2025-11-25"),
        (json!({}), "2026-07-28"),
        (json!({}), "2025-03-26"),
    ];
    let learn = |kind: usize, text: &str| {
        let (able, protocol) = kinds[kind].clone();
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            protocol: protocol.to_owned(),
            instructions: Some(format!("Instructions {text}")),
            ..offered(&[("a", text), ("b", "B")])
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap()
    };
    learn(0, "for 0");
    // The first time that another kind comes, nobody has approved what it is offered.
    for kind in [1, 2, 3] {
        let text = format!("for {kind}");
        let news = learn(kind, &text);
        assert_eq!(news.pending, ["a", "instructions"], "{kind}");
        // It goes on waiting while others come.
        assert_eq!(learn(0, "for 0").pending, ["a", "instructions"], "{kind}");
        assert_eq!(approve(&store, &of), ["a", ""]);
        assert_eq!(descriptions(&store, &of), [text.as_str(), "B"]);
    }
    // From then on no list changes for any of them.
    for kind in [0, 1, 3, 2, 1, 0, 2, 3] {
        assert_eq!(
            learn(kind, &format!("for {kind}")),
            OfferedChanges::default()
        );
        assert_eq!(descriptions(&store, &of), ["for 3", "B"]);
        assert_eq!(pending(&store, &of), [""; 0]);
    }
    // What nobody has approved for anybody waits, whoever is offered it, and what is approved
    // for one kind is what it is for another.
    for kind in [0, 1, 2, 3] {
        assert_eq!(learn(kind, "EVIL").pending, ["a", "instructions"]);
        assert_eq!(descriptions(&store, &of), ["for 3", "B"]);
    }
    assert_eq!(learn(0, "for 1").untold, [""; 0]);
    let size = std::fs::metadata(store.file(&of)).unwrap().len();
    for round in 0..50 {
        learn(round % 4, &format!("round {round}"));
    }
    assert!(std::fs::metadata(store.file(&of)).unwrap().len() < size + 1000);
}

/// A tool that clients of one revision of MCP alone are offered is not taken from them by others,
/// and is gone when they are not offered it any longer.
#[test]
fn a_client_of_another_revision_takes_no_tool_away() {
    let (_folder, store, of) = fixture();
    let learn = |protocol: &str, tools: &[(&str, &str)]| {
        let offered = Offered {
            protocol: protocol.to_owned(),
            ..offered(tools)
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap();
        descriptions(&store, &of)
    };
    let (both, one) = ([("a", "A"), ("b", "B")], [("a", "A")]);
    for _ in 0..2 {
        assert_eq!(learn("2025-11-25", &both), ["A", "B"]);
        assert_eq!(learn("2025-03-26", &one), ["A", "B"]);
    }
    assert_eq!(learn("2025-11-25", &one), ["A"]);
    // A server can name as many revisions as it likes.
    for number in 0..100 {
        learn(&format!("2030-01-{number}"), &both);
    }
    let size = std::fs::metadata(store.file(&of)).unwrap().len();
    learn("2031-01-01", &both);
    assert_eq!(std::fs::metadata(store.file(&of)).unwrap().len(), size);
}

/// A release that is taken back is so for all clients, whichever of them comes first.
#[test]
fn what_another_release_offers_is_a_change_for_all_clients() {
    let (_folder, store, of) = fixture();
    let learn = |able: Value, version: &str, text: &str| {
        let mut offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            ..offered(&[("a", text)])
        };
        offered
            .server_info
            .insert("version".to_owned(), json!(version));
        let changes = ChangePolicy::default();
        let learnt = store.learn(&of, offered, &changes, None);
        learnt.unwrap().pending
    };
    learn(json!({ "roots": {} }), "1", "A");
    assert_eq!(learn(json!({ "roots": {} }), "2", "B"), ["a"]);
    assert_eq!(learn(json!({}), "2", "B"), ["a"]);
    assert_eq!(learn(json!({}), "1", "A"), [""; 0]);
    assert_eq!(descriptions(&store, &of), ["A"]);
    assert_eq!(learn(json!({}), "2", "B"), ["a"]);
    approve(&store, &of);
    assert_eq!(learn(json!({ "roots": {} }), "2", "B"), [""; 0]);
    assert_eq!(descriptions(&store, &of), ["B"]);
}

/// Items that no kind of clients is offered any more leave the list, whichever of them notices.
#[test]
fn what_clients_are_no_longer_offered_is_gone_for_all() {
    let (_folder, store, of) = fixture();
    let learn = |able: Value, protocol: &str, tools: &[(&str, &str)]| {
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            protocol: protocol.to_owned(),
            ..offered(tools)
        };
        let changes = ChangePolicy::default();
        store.learn(&of, offered, &changes, None).unwrap()
    };
    let (all, few) = (json!({ "roots": {}, "sampling": {} }), json!({}));
    let tools = [("a", "A"), ("b", "B"), ("c", "C")];
    learn(all.clone(), "2025-11-25", &tools);
    learn(few.clone(), "2025-11-25", &tools[..2]);
    assert_eq!(names(&store, &of), ["a", "b", "c"]);
    // These had `b`; `c` may be there for others.
    let news = learn(few.clone(), "2025-11-25", &tools[..1]);
    assert_eq!(
        (news.gone, names(&store, &of)),
        (vec!["b".into()], vec!["a".into(), "c".into()])
    );
    // Those who still are offered it, or again, have it as it was approved.
    let news = learn(all.clone(), "2025-11-25", &tools);
    assert_eq!((news.added, news.pending), (vec!["b".into()], vec![]));
    assert_eq!(names(&store, &of), ["a", "b", "c"]);
    // A tool that is only there in one era is not gone in the other.
    let more = [tools[0], tools[1], tools[2], ("d", "D")];
    learn(all.clone(), MODERN, &more);
    approve(&store, &of);
    for _ in 0..2 {
        assert_eq!(
            learn(all.clone(), "2025-11-25", &tools),
            OfferedChanges::default()
        );
        assert_eq!(learn(all.clone(), MODERN, &more), OfferedChanges::default());
        assert_eq!(names(&store, &of), ["a", "b", "c", "d"]);
    }
    learn(few, "2025-11-25", &tools[..1]);
    assert_eq!(learn(all, MODERN, &tools[..1]).gone, ["b", "c", "d"]);
}

/// Items of one kind of clients that are taken as new say nothing of what waits of another: a
/// server could make itself a second kind by what it answers.
#[test]
fn what_waits_of_one_kind_is_not_approved_by_what_another_is_shown() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let learn = |folder: &str, able: Value, version: &str, text: &str| {
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            server_info: json!({ "version": version }).as_object().unwrap().clone(),
            ..offered(&[("a", text)])
        };
        let of = of.in_folder(std::path::Path::new(folder));
        store.learn(&of, offered, &changes, None).unwrap()
    };
    let shown = |folder: &str| descriptions(&store, &of.in_folder(std::path::Path::new(folder)));
    let (able, unable) = (json!({ "roots": {} }), json!({}));
    learn("/w/one", able.clone(), "1", "Adds.");
    assert_eq!(learn("/w/two", able.clone(), "1", "EVIL").pending, ["a"]);
    learn("/w/two", unable, "1", "Adds.");
    learn("/w/two", able, "2", "EVIL");
    assert!(!shown("/w/two").contains(&"EVIL".to_owned()));
}

/// It waits again for each kind of clients to which it was offered before.
#[test]
fn what_was_replaced_is_approved_of_no_kind_that_had_it() {
    let (_folder, store, of) = fixture();
    let learn = |able: &Value, text: &str| {
        let offered = Offered {
            able: serde_json::from_value(able.clone()).unwrap(),
            ..offered(&[("a", text)])
        };
        let learnt = store.learn(&of, offered, &OnChange::Block.into(), None);
        learnt.unwrap().pending
    };
    let (one, other) = (json!({}), json!({ "roots": {} }));
    learn(&one, "First.");
    for text in ["Second.", "Third."] {
        assert_eq!(learn(&other, text), ["a"]);
        approve(&store, &of);
    }
    // The one that was never offered anything else still has it.
    assert_eq!(learn(&one, "First."), Vec::<String>::new());
    assert_eq!(learn(&other, "First."), ["a"]);
    assert_eq!(learn(&other, "Second."), ["a"]);
}
