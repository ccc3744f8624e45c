//! Offers that depend on what a client can be asked.

use dormouse_config::OnChange;

use super::*;

#[test]
fn a_client_that_can_be_asked_less_takes_no_tool_away() {
    let (_folder, store, of) = fixture();
    let learn = |able: serde_json::Value, tools: &[(&str, &str)], withdrawn: &[&str]| {
        let offered = Offered {
            able: serde_json::from_value(able).unwrap(),
            withdrawn: withdrawn.iter().map(|name| (*name).to_owned()).collect(),
            ..offered(tools)
        };
        store
            .learn(&of, offered, &OnChange::Ask.into(), None)
            .unwrap()
    };
    let (able, unable) = (
        json!({ "roots": {}, "sampling": {} }),
        json!({ "roots": {} }),
    );
    let all = [("a", "A"), ("b", "B"), ("c", "C")];
    let doubtful = || {
        let known = store.known(&of).unwrap();
        known.doubtful.iter().cloned().collect::<Vec<_>>()
    };
    learn(able.clone(), &all, &[]);
    // It is kept, in its place, and in doubt until somebody has looked.
    for _ in 0..2 {
        let news = learn(unable.clone(), &[("c", "C"), ("a", "A")], &[]);
        assert_eq!(news, OfferedChanges::default());
        assert_eq!(names(&store, &of), ["a", "b", "c"]);
        assert_eq!(doubtful(), ["b"]);
    }
    learn(able.clone(), &all, &[]);
    assert!(doubtful().is_empty());
    let news = learn(unable.clone(), &[("a", "A"), ("c", "C")], &[]);
    assert_eq!(news, OfferedChanges::default());
    assert!(doubtful().is_empty());
    // It sees what is new and what has changed, as anybody does.
    let news = learn(
        unable.clone(),
        &[("a", "other"), ("d", "D"), ("c", "C")],
        &[],
    );
    assert_eq!(
        (news.added, news.pending),
        (vec!["d".into()], vec!["a".into(), "d".into()])
    );
    assert_eq!(names(&store, &of), ["a", "b", "c"]);
    // What was there a moment ago, over the same connection, is gone.
    assert_eq!(learn(unable, &[("a", "A"), ("d", "D")], &["c"]).gone, ["c"]);
    assert_eq!(learn(able, &[("a", "A")], &[]).gone, ["b", "d"]);
}

/// Returns the shown prompts and templates, and whether there are instructions.
fn others(store: &Store, of: &Fingerprint) -> (Vec<String>, Vec<String>, bool) {
    let known = store.known(of).unwrap();
    let keys = |items: &[dormouse_catalog::ListedItem]| {
        items.iter().map(|item| item.key.clone()).collect()
    };
    let listing = &known.listing;
    let has_instructions = known.instructions.is_some();
    (
        keys(&listing.prompts),
        keys(&listing.templates),
        has_instructions,
    )
}

/// Makes an upstream's offer of these prompts and templates, with or without instructions.
fn offering(able: Value, prompts: &[&str], templates: &[&str], instructs: bool) -> Offered {
    let objects = |names: &[&str], member: &str| {
        let object = |name: &&str| {
            let mut object = json!({ "name": name, "description": "Is there." });
            object[member] = json!(name);
            to_raw_value(&object).unwrap()
        };
        names.iter().map(object).collect()
    };
    Offered {
        able: serde_json::from_value(able).unwrap(),
        prompts: objects(prompts, "name"),
        templates: objects(templates, "uriTemplate"),
        instructions: instructs.then(|| "Be good.".to_owned()),
        ..offered(&[("a", "A")])
    }
}

/// Prompts, resource templates and instructions are treated as tools are.
#[test]
fn a_client_that_can_be_asked_less_takes_nothing_else_away_either() {
    let (_folder, store, of) = fixture();
    let able = || json!({ "roots": {}, "sampling": {} });
    let unable = || json!({ "roots": {} });
    let learn = |offered: Offered| {
        let learnt = store.learn(&of, offered, &OnChange::Ask.into(), None);
        learnt.unwrap()
    };
    let text = |text: &[&str]| text.iter().map(ToString::to_string).collect::<Vec<_>>();
    let all = (text(&["p", "q", "r"]), text(&["t://{a}", "t://{b}"]), true);
    let doubtful = || store.known(&of).unwrap().has_other_doubtful;
    let whole = || offering(able(), &["p", "q", "r"], &["t://{a}", "t://{b}"], true);
    learn(whole());
    assert!(!doubtful());
    for _ in 0..2 {
        let news = learn(offering(unable(), &["r", "p"], &["t://{b}"], false));
        assert_eq!(news, OfferedChanges::default());
        assert_eq!(others(&store, &of), all);
        assert!(doubtful());
        assert_eq!(learn(whole()), OfferedChanges::default());
        assert_eq!(others(&store, &of), all);
        assert!(!doubtful());
    }
    // What it had, and has no longer, is gone for all.
    learn(offering(unable(), &["r"], &["t://{b}"], false));
    let less = (text(&["q", "r"]), all.1.clone(), true);
    assert_eq!(others(&store, &of), less);
    // What is new waits, whoever is offered it, and changes wait.
    let news = learn(offering(unable(), &["r", "new"], &["t://{b}"], false));
    assert_eq!(news.pending, ["prompt new"]);
    assert_eq!(others(&store, &of), less);
    // Whether something is gone shows to whoever can be asked all.
    learn(offering(able(), &["r"], &[], false));
    assert_eq!(others(&store, &of), (text(&["r"]), Vec::new(), false));
}

/// Records of what an upstream offers to each kind of clients alone do not add up without end.
#[test]
fn what_is_kept_for_other_kinds_of_clients_is_bounded() {
    let (_folder, store, of) = fixture();
    let long = "x".repeat(100_000);
    let mut most = 0;
    for kind in 0..30 {
        let names: Vec<String> = (0..20).map(|n| format!("{kind}-{n}-{long}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let able = json!({ "extensions": { "io.modelcontextprotocol/ui": {
            "mimeTypes": [format!("a/{kind}")],
        } } });
        let changes = OnChange::Accept.into();
        let next = offering(able, &names, &names, false);
        store.learn(&of, next, &changes, None).unwrap();
        let size = std::fs::metadata(store.file(&of)).unwrap().len();
        // Names of some kinds, what is withheld of prompts and of templates, and what is offered.
        assert!(size < (4 + 8 * 2 + 12) << 20, "{size}");
        most = most.max(size);
    }
    assert!(most > 8 << 20, "{most}");
}

/// Earlier versions have kept, of kinds of clients, the tools that they are offered, and nothing of
/// pages.
#[test]
fn what_earlier_versions_have_kept_of_kinds_of_clients_is_read() {
    let (_folder, store, of) = fixture();
    let able = || json!({ "roots": {}, "sampling": {} });
    let changes = ChangePolicy::from(OnChange::Block);
    let learn = |offered: Offered| store.learn(&of, offered, &changes, None).unwrap();
    learn(offering(able(), &["p", "q"], &["t://{a}"], true));
    let file = store.file(&of);
    let mut record: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for kind in record["offered_to"].as_array_mut().unwrap() {
        let kept = kind.as_object_mut().unwrap().shift_remove("others");
        assert!(kept.is_some(), "{kind}");
        assert!(kind["able"].get("extensions").is_none(), "{kind}");
    }
    std::fs::write(&file, record.to_string()).unwrap();
    let all = (
        vec!["p".to_owned(), "q".to_owned()],
        vec!["t://{a}".to_owned()],
        true,
    );
    assert_eq!(others(&store, &of), all);
    // Neither those who declare no pages nor those who do take anything away or add anything.
    let pages = json!({ "roots": {}, "extensions": { "io.modelcontextprotocol/ui": {} } });
    for few in [json!({ "roots": {} }), pages] {
        let news = learn(offering(few.clone(), &["p"], &["t://{a}"], true));
        assert_eq!(news, OfferedChanges::default(), "{few}");
        assert_eq!(others(&store, &of), all, "{few}");
        let news = learn(offering(able(), &["p", "q"], &["t://{a}"], true));
        assert_eq!(news, OfferedChanges::default(), "{few}");
    }
}
