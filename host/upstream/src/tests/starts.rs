//! Starts of servers, and what is said of those that fail.

use std::path::Path;

use dormouse_launch::{Launch, Stdio};

use super::*;
use crate::Connector;

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_answers_is_given_up() {
    let odd = patient(&["silent"], Duration::from_secs(1));
    let why = why(odd.call("echo", json!({})).await);
    assert!(why.contains("did not answer within 1 s"), "{why}");
    assert!(why.contains("odd server starting"), "{why}");
    assert!(why.contains("it was still running, and is ended"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_whose_answers_are_no_messages_is_told_what_it_prints() {
    let odd = patient(&["silent", "pretty"], Duration::from_secs(1));
    let why = why(odd.call("echo", json!({})).await);
    assert!(why.contains("did not answer within 1 s"), "{why}");
    assert!(why.contains("it printed what is no message: `{`"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_is_told_to_all_with_its_reason_and_not_repeated_at_once() {
    let odd = odd(&["dies-on-start"]);
    let calls = (0..20).map(|_| odd.call("echo", json!({})));
    for result in futures::future::join_all(calls).await {
        let why = why(result);
        assert!(why.contains("exit code 3"), "{why}");
        assert!(why.contains("no API key"), "{why}");
    }
    let again = why(odd.call("echo", json!({})).await);
    assert!(again.contains("no API key"), "{again}");
    assert!(again.contains("tried again in"), "{again}");
    let status = odd.upstream.status();
    assert!(status.error.unwrap().contains("no API key"));
    assert!(status.connections.is_empty());
    odd.upstream.stop();
    let stopped = why(odd.call("echo", json!({})).await);
    assert!(!stopped.contains("tried again"), "{stopped}");
}

#[tokio::test]
async fn what_cannot_be_started_says_what_to_do() {
    let connector = Connector::new(None, Path::new("/none"));
    let start = async |stdio| {
        let found = discover(
            &connector,
            "odd",
            &Launch::Stdio(stdio),
            CAPS,
            LIMIT,
            Reactions::default(),
        )
        .await;
        found.unwrap_err().to_string()
    };
    let none = Stdio {
        command: "no-such-program".into(),
        ..Stdio::default()
    };
    let why = start(none).await;
    assert!(why.contains("`no-such-program`"), "{why}");
    assert!(why.contains("hint: install it"), "{why}");
    let nowhere = Stdio {
        command: "python3".into(),
        cwd: Some("/no/such".into()),
        ..Stdio::default()
    };
    assert!(start(nowhere).await.contains("`/no/such` is no folder"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_first_calls_make_one_process() {
    let odd = odd(&[]);
    let calls = (0..100).map(|_| odd.pid());
    let pids = futures::future::join_all(calls).await;
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let opened = odd.policy.told();
    let opened = opened.iter().filter(|told| told.starts_with("opened"));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_caller_who_gives_up_strands_nobody() {
    let odd = odd(&["ignores-server/discover"]);
    let listener: Arc<dyn Listener> = RecordingListener::of(ClientEra::Stateless, &[]);
    {
        let first = odd.upstream.connect(Some(ONE), &listener);
        let soon = tokio::time::timeout(Duration::from_millis(200), first);
        assert!(soon.await.is_err());
    }
    odd.upstream.connect(Some(ONE), &listener).await.unwrap();
    let opened = odd.policy.told();
    let opened = opened.iter().filter(|told| told.starts_with("opened"));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_can_be_asked_what_it_offers_and_nothing_else() {
    let connector = Connector::new(None, Path::new("/none"));
    for (era, version) in [(&[][..], "1"), (&["modern"], "2")] {
        let launch = launch(era);
        let offered = discover(
            &connector,
            "odd",
            &launch,
            CAPS,
            LIMIT,
            Reactions::default(),
        )
        .await;
        let offered = offered.unwrap();
        assert_eq!(offered.tools.len(), 11, "{era:?}");
        assert_eq!(offered.server_info["version"], version);
        assert!(offered.tools[0].get().contains(r#""x-rate": 1.5"#));
    }
}
