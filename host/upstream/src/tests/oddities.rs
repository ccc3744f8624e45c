//! Servers that keep to no rule, and are put up with.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn oddities_are_put_up_with() {
    for odds in [
        &["junk"][..],
        &["twice"],
        &["batch"],
        &["floods"],
        &["dies-of-server/discover"],
        &["dies-of-initialize", "modern"],
        &["picky"],
        &["junk", "twice", "batch", "modern"],
    ] {
        let odd = odd(odds);
        odd.good().await;
        odd.good().await;
        assert!(odd.upstream.status().error.is_none(), "{odds:?}");
    }
}

/// An answer that comes late is no fault of the server's, and nothing that a user is to read.
#[tokio::test]
async fn one_that_ignores_what_it_does_not_know_is_asked_in_the_other_way() {
    let (logged, _guard) = dormouse_tests::logged::logged();
    let cases = [
        (ClientEra::Stateless, &["ignores-server/discover"][..]),
        (ClientEra::Stateless, &["late-server/discover"]),
        (ClientEra::default(), &["ignores-initialize", "modern"]),
        (ClientEra::default(), &["late-initialize", "modern"]),
    ];
    let calls = cases.map(async |(era, odds)| {
        let odd = odd(odds);
        let listener = RecordingListener::of(era, &[]);
        let answer = odd.call_as(ONE, listener, "echo", json!({})).await;
        assert!(answer.is_ok(), "{odds:?} {answer:?}");
    });
    futures::future::join_all(calls).await;
    let lines = logged.lines();
    assert!(!lines.is_empty(), "nothing is logged");
    assert!(
        !lines.iter().any(|line| line.contains("WARN")),
        "{lines:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_odd_tool_loses_no_other_and_a_list_without_end_ends() {
    let odd_tools = odd(&["odd-tools"]);
    odd_tools.good().await;
    let all = "opened echo slow hang die change tell ask refuse pid meta stats";
    assert_eq!(odd_tools.policy.told()[0], all);
    let endless = odd(&["endless"]);
    endless.good().await;
}
