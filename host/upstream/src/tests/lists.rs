//! Changes of lists and of resources that a server announces.

use std::time::Instant;

use crate::{JudgedItems, UntoldLists};

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_its_tools_is_noticed_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        odd.call("change", json!({ "tool": "new" })).await.unwrap();
        let noticed = async {
            while !odd.policy.told().iter().any(|told| told.ends_with(" new")) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, noticed).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_for_the_resources_that_somebody_wants_to_hear_of() {
    let table = [
        (&[][..], json!(["subscribe odd://x", "unsubscribe odd://x"])),
        (&["modern"], json!(null)),
    ];
    for (era, after) in table {
        let odd = odd(era);
        let heard = async |expected: Value| {
            let heard = async {
                loop {
                    let stats = odd.text("stats").await;
                    let stats: Value = serde_json::from_str(&stats).unwrap();
                    if stats["wanted"] == expected {
                        return;
                    }
                }
            };
            let heard = tokio::time::timeout(LIMIT, heard).await;
            heard.unwrap_or_else(|_| panic!("{expected} {era:?}"));
        };
        let one = odd.upstream.subscribe("odd://x");
        let two = odd.upstream.subscribe("odd://x");
        drop(one);
        let first = if era.is_empty() {
            "subscribe odd://x"
        } else {
            "odd://x"
        };
        heard(json!([first])).await;
        drop(two);
        heard(after).await;
    }
}

/// Some that take subscriptions do not declare it, and those that take none say so.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_declares_no_subscriptions_is_asked_and_its_refusal_told() {
    let odd = odd(&["declares-no-subscribe"]);
    // Nothing is started for a subscription.
    let early = odd.upstream.subscribe("odd://early");
    early.known().await.unwrap();
    odd.good().await;
    early.known().await.unwrap();
    for _ in 0..2 {
        let refused = odd.upstream.subscribe("odd://refused");
        let refusal = refused.known().await.unwrap_err();
        assert_eq!((refusal.code, &*refusal.message), (-32602, "not that one"));
    }
    drop(early);
    odd.upstream.subscribe("odd://x").known().await.unwrap();
    let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
    let wanted: Vec<_> = stats["wanted"].as_array().unwrap().iter().collect();
    assert!(
        wanted.contains(&&json!("subscribe odd://early")),
        "{wanted:?}"
    );
    assert!(
        wanted.contains(&&json!("subscribe odd://refused")),
        "{wanted:?}"
    );
    assert!(
        !wanted.contains(&&json!("unsubscribe odd://refused")),
        "{wanted:?}"
    );
}

/// Each call that is refused for arguments in headers looks at the lists again.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_calls_that_want_lists_again_few_fetch_them() {
    let odd = odd(&["modern"]);
    odd.good().await;
    let calls = (0..20).map(|_| odd.call("refuse", json!({ "code": -32020 })));
    for answer in futures::future::join_all(calls).await {
        let Err(Failure::Refused(refusal)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(refusal.code, -32020);
    }
    let told = odd.policy.told();
    let opened = told.iter().filter(|told| told.starts_with("opened "));
    let opened = opened.count();
    assert!((2..=5).contains(&opened), "{opened}: {told:?}");
}

/// Returns whether it is known that a tool has been added.
fn is_known(odd: &OddServer, tool: &str) -> bool {
    let added = format!(" {tool}");
    odd.policy.told().iter().any(|told| told.ends_with(&added))
}

/// Has all requests judged by a tool of the server, or none.
fn judged(odd: OddServer, by_tool: bool) -> OddServer {
    let tools = by_tool.then(|| "echo".to_owned());
    *odd.policy.judged.lock() = JudgedItems {
        tools: tools.into_iter().collect(),
        ..JudgedItems::default()
    };
    odd
}

/// Another connection may have told something else in between.
#[tokio::test(flavor = "multi_thread")]
async fn what_another_connection_has_told_since_is_asked_again_once() {
    for (overwritten, is_needed, fetches) in
        [(0, true, 1), (1, true, 2), (2, true, 2), (2, false, 1)]
    {
        let odd = judged(odd(&[]), is_needed);
        odd.good().await;
        *odd.policy.overwritten.lock() = overwritten;
        let answer = odd.call("echo", json!({})).await;
        match (is_needed, overwritten, answer) {
            (true, 2, Err(Failure::Barred(why))) => {
                assert!(why.contains("over another connection of it"), "{why}");
            }
            (true, 2, other) => panic!("{other:?}"),
            (_, _, answer) => drop(answer.unwrap()),
        }
        let told = odd.policy.told().into_iter();
        let fetched = told.filter(|told| told.starts_with("opened ")).count();
        assert_eq!(fetched, fetches, "{overwritten} {is_needed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_announced_is_known_before_what_depends_on_it_is_called() {
    for is_needed in [false, true] {
        let odd = judged(odd(&[]), is_needed);
        let change = json!({ "tool": "new", "fetches": [1] });
        odd.call("change", change).await.unwrap();
        odd.good().await;
        assert_eq!(is_known(&odd, "new"), is_needed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_announced_and_not_told_bars_what_depends_on_it_until_it_is() {
    for is_needed in [false, true] {
        let odd = judged(odd(&[]), is_needed);
        let change = json!({ "tool": "new", "fetches": ["refused", "refused"] });
        odd.call("change", change).await.unwrap();
        for _ in 0..2 {
            let answer = odd.call("echo", json!({})).await;
            match (is_needed, answer) {
                (false, answer) => drop(answer.unwrap()),
                (true, Err(Failure::Barred(why))) => {
                    assert!(why.contains("does not tell what it offers now"), "{why}");
                }
                (true, other) => panic!("{other:?}"),
            }
        }
        assert!(!is_known(&odd, "new"));
        odd.good().await;
        // Nobody asks again for those to whom it makes no difference.
        assert_eq!(is_known(&odd, "new"), is_needed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_refused_at_a_later_page_is_not_told() {
    let part = odd(&["refuses-templates"]);
    part.good().await;
    let offered = part.policy.offered.lock().clone().unwrap();
    let templates = UntoldLists {
        templates: true,
        ..UntoldLists::default()
    };
    assert_eq!(offered.untold, templates);
    let lists = [offered.prompts, offered.resources, offered.templates];
    assert_eq!(lists.map(|list| list.len()), [0, 1, 0]);
    let failed = why(odd(&["refuses-page"]).call("echo", json!({})).await);
    assert!(
        failed.contains("it refuses the next page of `tools/list`"),
        "{failed}"
    );
}

fn tools_needed(odd: OddServer) -> OddServer {
    judged(odd, true)
}

/// A server may need its client's roots to know what it offers.
#[tokio::test(flavor = "multi_thread")]
async fn roots_do_not_wait_for_lists_that_wait_for_them() {
    let odd = tools_needed(odd(&["asks-often"]));
    let client = RecordingListener::able(&[Capability::Roots]);
    let call = async |tool, arguments| {
        let answer = odd.call_as(ONE, client.clone(), tool, arguments).await;
        answer.unwrap()
    };
    call("echo", json!({})).await;
    let begun = Instant::now();
    let changing = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        call("change", json!({ "tool": "new" })).await;
        call("echo", json!({})).await;
        assert!(is_known(&odd, "new"));
    };
    // While they are listed, a call runs that depends on them.
    tokio::join!(call("slow", json!({ "seconds": 3 })), changing);
    assert!(begun.elapsed() < LIMIT / 3, "{begun:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_does_not_wait_long_for_lists_that_wait_for_it() {
    let odd = tools_needed(odd(&["one-by-one"]));
    let client = RecordingListener::able(&[Capability::ElicitationForm]);
    let params = json!({
        "mode": "form", "message": "Name?",
        "requestedSchema": { "type": "object", "properties": {} },
    });
    let asks = json!({ "method": "elicitation/create", "params": params });
    let change = json!({ "tool": "new", "asks": asks });
    let begun = Instant::now();
    let answer = odd.call_as(ONE, client, "change", change).await.unwrap();
    assert!(text(&answer).contains("may not go on"), "{answer}");
    assert!(begun.elapsed() < LIMIT / 3, "{begun:?}");
    odd.good().await;
    assert!(is_known(&odd, "new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_does_not_wait_long_for_one_that_does_one_thing_at_a_time() {
    let odd = tools_needed(patient(&["one-by-one"], 10 * LIMIT));
    odd.good().await;
    let slow = odd.call("slow", json!({ "seconds": 25, "changes": true }));
    let waiting = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let begun = Instant::now();
        let answer = odd.call("echo", json!({})).await;
        let Err(Failure::Barred(why)) = answer else {
            panic!("{answer:?}");
        };
        assert!(why.contains("has not told within 20 s how"), "{why}");
        assert!(begun.elapsed() < Duration::from_secs(23), "{begun:?}");
    };
    let (answer, ()) = tokio::join!(slow, waiting);
    answer.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_do_not_wait_until_many_changes_are_gathered() {
    let odd = tools_needed(patient(&["announces-always"], Duration::from_secs(2)));
    for _ in 0..10 {
        odd.good().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_with_the_level_of_logs_is_known_before_a_call() {
    let odd = tools_needed(odd(&["changes-with-level"]));
    odd.good().await;
    let client = RecordingListener::able(&[]);
    *client.level.lock() = Some("debug");
    odd.policy.clients.lock().insert(ONE, client);
    odd.good().await;
    assert!(is_known(&odd, "new"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_fetched_once_changes_are_told_no_more_and_once_they_are_again() {
    let odd = odd(&["modern", "stops-telling"]);
    odd.good().await;
    let opened = || {
        let told = odd.policy.told().into_iter();
        told.filter(|told| told.starts_with("opened ")).count()
    };
    let fetched = async {
        while opened() < 3 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, fetched).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_cursor_is_one_in_the_stateless_era_alone() {
    for (era, is_one) in [
        (&["empty-cursor"][..], false),
        (&["empty-cursor", "modern"], true),
    ] {
        let odd = odd(era);
        odd.good().await;
        assert_eq!(odd.policy.told()[0].ends_with(" last"), is_one, "{era:?}");
    }
}
