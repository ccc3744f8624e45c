//! Questions that an upstream asks its client while it is started: for roots, above all.

use std::time::Instant;

use super::*;
use crate::Lost;

const ERAS: fn() -> [ClientEra; 2] = || [ClientEra::default(), ClientEra::Stateless];

fn listener(era: ClientEra, thinks: Duration) -> Arc<RecordingListener> {
    Arc::new(RecordingListener {
        able: vec![Capability::Roots],
        era,
        thinks,
        ..RecordingListener::default()
    })
}

impl OddServer {
    /// Returns the number of roots that the server has been named when a call reaches it.
    async fn named(&self, listener: &Arc<RecordingListener>) -> usize {
        let listener: Arc<dyn Listener> = listener.clone();
        let answer = self
            .call_as(ONE, listener, "stats", json!({}))
            .await
            .unwrap();
        let stats: Value = serde_json::from_str(&text(&answer)).unwrap();
        stats["named"].as_array().unwrap().len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_call_comes_after_the_answer_to_what_was_asked_before_it() {
    for era in ERAS() {
        for thinks in [0, 20, 500].map(Duration::from_millis) {
            let odd = odd(&["asks-early"]);
            let listener = listener(era.clone(), thinks);
            assert_eq!(odd.named(&listener).await, 1, "{era:?} {thinks:?}");
            assert_eq!(listener.asked(), 1, "{era:?} {thinks:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_ever_for_a_client_that_does_not_answer() {
    let odd = odd(&["asks-early"]);
    let listener = listener(ClientEra::default(), 10 * LIMIT);
    let named = tokio::time::timeout(LIMIT / 2, odd.named(&listener)).await;
    assert_eq!(named, Ok(0));
    let begun = Instant::now();
    assert_eq!(odd.named(&listener).await, 0);
    assert!(begun.elapsed() < Duration::from_secs(1), "{begun:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_often_has_its_client_asked_once() {
    for era in ERAS() {
        let odd = odd(&["asks-often"]);
        let client = listener(era.clone(), Duration::ZERO);
        let asks = || client.asked();
        // Two pages of tools are listed.
        assert_eq!(odd.named(&client).await, 34, "{era:?}");
        assert_eq!(asks(), 1, "{era:?}");
        let asked = json!({ "method": "roots/list", "params": {} });
        let ask = async || {
            let listener: Arc<dyn Listener> = listener(era.clone(), Duration::ZERO);
            let answer = odd.call_as(ONE, listener, "ask", asked.clone()).await;
            assert!(text(&answer.unwrap()).contains("roots/list"));
        };
        ask().await;
        // A stateless client does not tell when its roots change.
        let listener: Arc<dyn Listener> = client.clone();
        odd.upstream.roots_changed(ONE);
        let answer = odd.call_as(ONE, listener, "ask", asked.clone()).await;
        assert!(text(&answer.unwrap()).contains("roots/list"));
        assert_eq!(asks(), 2, "{era:?}");
    }
}

/// A stateless client does not tell that it will not call again with its answers.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_call_leaves_unanswered_the_next_one_is_asked() {
    let odd = odd(&["asks-often"]);
    let silent = listener(ClientEra::Stateless, 10 * LIMIT);
    let next = listener(ClientEra::Stateless, Duration::ZERO);
    let answers = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        odd.named(&next).await
    };
    let begun = Instant::now();
    let named = tokio::select! {
        named = answers => named,
        named = odd.named(&silent) => named,
    };
    assert_eq!(named, 34);
    assert!(begun.elapsed() < LIMIT / 2, "{begun:?}");
    // Once for what the other one has left, and once for what is asked since it calls.
    assert!(next.asked() <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_waits_for_its_client_says_so() {
    let odd = patient(&["asks-often"], Duration::from_secs(2));
    let silent: Arc<dyn Listener> = listener(ClientEra::Stateless, 10 * LIMIT);
    let why = why(odd.call_as(ONE, silent, "stats", json!({})).await);
    assert!(why.contains("it asked its client `roots/list`"), "{why}");
    assert!(why.contains("`input_required`"), "{why}");
}

/// An error that comes from the end of the host says nothing of the server.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_the_host_breaks_off_is_no_failure_of_the_server() {
    let odd = odd(&["starts-slowly"]);
    let launch = launch(&["starts-slowly"]);
    let looking = discover(
        &odd.connector,
        "odd",
        &launch,
        CAPS,
        LIMIT,
        Reactions::default(),
    );
    let calling = odd.call("echo", json!({}));
    let closing = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        odd.connector.close().await;
    };
    let (looked, called, ()) = futures::join!(looking, calling, closing);
    assert_eq!(looked.err(), Some(Lost::HostEnds));
    assert!(called.is_err());
    assert_eq!(odd.policy.told(), [""; 0]);
}
