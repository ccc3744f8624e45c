//! Tests that an upstream's records are compared and combined in linear time.

use std::path::Path;

use dormouse_config::OnChange;
use dormouse_tests::growth::is_linear;

use super::*;

/// Makes the offer to a kind of clients: tools with long `_meta`, annotations and schemas.
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

/// What was offered over two connections is not what is recorded, and what one has is gone.
#[test]
fn what_connections_are_offered_is_compared_in_linear_time() {
    let offers = |size: usize| {
        [
            offer(2 * size, 3, "roots", "A"),
            offer(size, 3, "roots", "B"),
        ]
    };
    is_linear("offers over connections", 6, offers, |offers| {
        let (_folder, store, of) = fixture();
        let changes = ChangePolicy::from(OnChange::Freeze);
        let [before, known] = offers.each_ref().map(|offered| {
            store.learn(&of, offered.clone(), &changes, None).unwrap();
            store.known(&of).unwrap()
        });
        let all = offers
            .each_ref()
            .map(|offered| Arc::new(ConnectionOffer::of(offered, None)));
        let extended = known.with_offers(Some(&before), &all).unwrap();
        assert_eq!(extended.kept.len(), extended.listing.tools.len());
    });
}

/// Kinds of clients come one after the other, and each is offered something else.
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
                    store.learn(&of, offered.clone(), &changes, None).unwrap();
                }
            }
            assert!(store.known(&of).is_some());
        });
    }
}

/// Records of folders are read, and searched for pending items, in time linear in the number of
/// folders, of which no more than the limit are read.
#[test]
fn folders_are_looked_at_in_linear_time() {
    let changes = ChangePolicy::from(OnChange::Ask);
    let folders = |size: usize| {
        let (folder, store, of) = fixture();
        for number in 0..size {
            let of = of.in_folder(Path::new(&format!("/w/{number}")));
            for text in ["A", "B"] {
                let text = format!("{text}{number}");
                let offered = offered(&[("a", &text)]);
                store.learn(&of, offered, &changes, None).unwrap();
            }
        }
        (folder, store, of)
    };
    let (_folder, store, of) = folders(40);
    assert_eq!(store.folders_of(&of).count(), 40);
    assert_eq!(store.folders_that_wait(&of).len(), 32);
    is_linear("folders", 8, folders, |(_folder, store, of)| {
        std::hint::black_box(store.folders_of(of).count());
        std::hint::black_box(store.folders_that_wait(of));
    });
    // Those that one is compared with, and all that its user has approved in any.
    let tools = |size: usize| {
        let (folder, store, of) = fixture();
        for name in ["/w/one", "/w/two", "/w/three"] {
            let texts: Vec<_> = (0..size).map(|number| format!("t{number}")).collect();
            let tools: Vec<_> = texts.iter().map(|text| (text.as_str(), name)).collect();
            let of = of.in_folder(Path::new(name));
            store.learn(&of, offered(&tools), &changes, None).unwrap();
            approve_all(&store, &of);
        }
        (folder, store, of.in_folder(Path::new("/w/two")))
    };
    is_linear("tools of folders", 50, tools, |(_folder, store, of)| {
        std::hint::black_box(store.known_elsewhere(of).unwrap());
        std::hint::black_box(store.read(of).unwrap().unwrap());
    });
}

/// Approves all pending items of a folder, if there are any.
fn approve_all(store: &Store, of: &Fingerprint) {
    let waiting = store.known(of).unwrap().pending.clone();
    if !waiting.is_empty() {
        let approved = store.approve(of, &waiting.digest(), Selection::default());
        assert_eq!(approved.unwrap().len(), waiting.iter().count());
    }
}

/// Items are compared with what was known by a look-up, not by a search.
#[test]
fn what_is_new_is_found_in_linear_time() {
    let changes = ChangePolicy::from(OnChange::Ask);
    let rules = Rules {
        changes: &changes,
        declared: None,
        asker: Asker::Agent,
    };
    let able = |able: serde_json::Value| Offered {
        able: serde_json::from_value(able).unwrap(),
        ..Offered::default()
    };
    let many = |size: usize, name: &str, text: &str| {
        let names: Vec<_> = (0..size).map(|number| format!("{name}{number}")).collect();
        let items: Vec<_> = names.iter().map(|name| (name.as_str(), text)).collect();
        let Offered { tools, .. } = offered(&items);
        let prompts = names
            .iter()
            .map(|name| json!({ "name": name, "title": text }));
        let templates = names.iter().map(|name| {
            let template = format!("x:{name}/{{a}}");
            json!({ "uriTemplate": template, "name": text })
        });
        Offered {
            tools,
            prompts: prompts.map(|one| to_raw_value(&one).unwrap()).collect(),
            templates: templates.map(|one| to_raw_value(&one).unwrap()).collect(),
            ..able(json!({ "roots": {} }))
        }
    };
    let changed = |size| [many(size, "a", "A"), many(size, "a", "B")];
    let others = |size| [many(size, "a", "A"), many(size, "b", "A")];
    let same_names = |size| {
        let same = |text| Offered {
            tools: offered(&vec![("a", text); size]).tools,
            ..Offered::default()
        };
        [same("A"), same("B")]
    };
    let less = |size| {
        let before = Offered {
            able: able(json!({ "roots": {}, "sampling": {} })).able,
            ..many(size, "a", "A")
        };
        [before, many(size, "b", "A")]
    };
    // What is offered before, and now.
    type Offers<'o> = &'o dyn Fn(usize) -> [Offered; 2];
    let inputs: [(&str, Offers<'_>); 4] = [
        ("changed ones", &changed),
        ("others", &others),
        ("ones of one name", &same_names),
        ("others for a client that can be asked less", &less),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 60, input, |[before, now]| {
            let mut record = Record::new();
            record.update(before.clone(), rules, None);
            let news = record.update(now.clone(), rules, None);
            let pending = record.pending();
            assert_eq!(pending.len(), news.pending.len());
            assert!(record.says_the_same(&record.clone()));
            let text = serde_json::to_string(&record).unwrap();
            let mut read = Record::parse(&text).unwrap();
            assert_eq!(
                read.approve(&pending.digest(), Selection::default())
                    .unwrap()
                    .len(),
                pending.len()
            );
            std::hint::black_box(read.into_known().unwrap());
        });
    }
}
