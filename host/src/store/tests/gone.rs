//! Items that an upstream no longer offers.

use dormouse_catalog::Provenance;
use dormouse_config::{NewTools, OnChange};
use dormouse_wit::{Declaration, DeclaredTool};

use super::*;

/// If new tools are shown, one that was displaced from the remembered ones does not count as new.
#[test]
fn what_is_gone_and_forgotten_does_not_come_back_as_new() {
    let (_folder, store, of) = fixture();
    let changes = ChangePolicy {
        new_tools: NewTools::Show,
        ..OnChange::Block.into()
    };
    let learn = |tools: &[(&str, &str)]| {
        let learnt = store.learn(&of, offered(tools), &changes, None);
        learnt.unwrap().pending
    };
    learn(&[("a", "A")]);
    assert!(learn(&[("new", "N")]).is_empty());
    let long = "x".repeat(400_000);
    for round in ["b", "c", "d"] {
        let names: Vec<_> = (0..10).map(|tool| format!("A{round}{tool}")).collect();
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), &*long)).collect();
        learn(&tools);
    }
    learn(&[]);
    assert_eq!(learn(&[("a", "EVIL")]), ["a"]);
    assert_eq!(descriptions(&store, &of), Vec::<String>::new());
}

/// An upstream decides neither how large its record becomes by offering something else each
/// time, nor that what is not remembered counts as seen.
#[test]
fn what_is_gone_is_remembered_within_bounds() {
    let (_folder, store, of) = fixture();
    let component = Declaration {
        tools: vec![DeclaredTool {
            name: "own".to_owned(),
            tool: offered(&[("own", "OWN")]).tools.remove(0),
            function: None,
        }],
        ..Declaration::default()
    };
    let component = Arc::new(Listing::new(component, Provenance::Section).unwrap());
    let long = "x".repeat(400_000);
    let size = || std::fs::metadata(store.file(&of)).unwrap().len();
    let learn = |round: usize, able: bool, seen: Option<&Arc<Listing>>| {
        let tools: Vec<_> = (0..10).map(|tool| format!("t{round}-{tool}")).collect();
        let tools: Vec<_> = tools.iter().map(|tool| (tool.as_str(), &*long)).collect();
        let able = if able {
            json!({ "roots": {} })
        } else {
            json!({})
        };
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            ..offered(&tools)
        };
        store
            .learn(&of, offered, &OnChange::Ask.into(), seen)
            .unwrap()
    };
    for round in 0..12 {
        learn(round, true, Some(&component));
    }
    assert!(size() < 16 << 20, "{} bytes", size());
    // More is gone than is remembered: it could be this.
    let evil = [
        ("own", "EVIL"),
        ("t0-0", "EVIL"),
        ("t11-0", "EVIL"),
        ("new", "N"),
    ];
    let evil = Offered {
        able: serde_json::from_value(json!({ "roots": {} })).unwrap(),
        ..offered(&evil)
    };
    let news = store
        .learn(&of, evil, &OnChange::Ask.into(), Some(&component))
        .unwrap();
    assert_eq!(news.pending, ["own"]);
    assert_eq!(
        pending(&store, &of),
        ["tool `own`", "tool `t0-0`", "tool `t11-0`", "tool `new`"]
    );
    let known = store.known(&of).unwrap();
    assert_eq!(
        known
            .pending
            .of_component(&component)
            .tools()
            .collect::<Vec<_>>(),
        ["own"]
    );
    // Without a component, and for clients that can be asked less.
    std::fs::remove_file(store.file(&of)).unwrap();
    learn(0, true, None);
    for round in 1..12 {
        learn(round, false, None);
        assert!(size() < 16 << 20, "{} bytes", size());
    }
    let records = size();
    assert!(
        records > 4 << 20,
        "the test has to offer more than is kept: {records}"
    );
}
