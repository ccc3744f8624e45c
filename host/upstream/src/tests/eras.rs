//! The era of a connection: that of the client for which it is made, wherever its server knows it.

use dormouse_protocol::NEWEST_HANDSHAKE;

use super::*;
use crate::{FirstRequest, MODERN, Reaction};

const TWO: SessionId = SessionId(2);

fn handshake(version: &str) -> ClientEra {
    ClientEra::Handshake(version.to_owned())
}

impl OddServer {
    async fn stats_as(
        &self,
        session: impl Into<Option<SessionId>>,
        listener: &Arc<RecordingListener>,
    ) -> Value {
        let listener: Arc<dyn Listener> = listener.clone();
        let answer = self.call_as(session, listener, "stats", json!({})).await;
        serde_json::from_str(&text(&answer.unwrap())).unwrap()
    }

    async fn pid_as(
        &self,
        session: Option<SessionId>,
        listener: &Arc<RecordingListener>,
    ) -> String {
        let listener: Arc<dyn Listener> = listener.clone();
        let answer = self.call_as(session, listener, "pid", json!({})).await;
        text(&answer.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_begun_with_as_its_client_would() {
    const INITIALIZE: &str = "initialize";
    const DISCOVER: &str = "server/discover";
    let stateless = || ClientEra::Stateless;
    for (odds, era, first) in [
        (&[][..], ClientEra::default(), &[INITIALIZE][..]),
        (&[], stateless(), &[DISCOVER, INITIALIZE]),
        (&["both"], ClientEra::default(), &[INITIALIZE]),
        (&["both"], stateless(), &[DISCOVER]),
        (&["modern"], ClientEra::default(), &[INITIALIZE, DISCOVER]),
        (&["modern"], stateless(), &[DISCOVER]),
        (
            &["picky"],
            handshake("2024-11-05"),
            &[INITIALIZE, INITIALIZE],
        ),
    ] {
        let odd = odd(odds);
        let listener = RecordingListener::of(era.clone(), &[Capability::Roots]);
        let stats = odd.stats_as(ONE, &listener).await;
        assert_eq!(stats["first"], json!(first), "{odds:?} {era:?}");
        // It is asked that once, and behaves so from then on.
        let asked = json!({ "method": "roots/list", "params": {} });
        let answer = odd.call_as(ONE, listener, "ask", asked).await.unwrap();
        assert!(text(&answer).contains("roots/list"), "{odds:?} {era:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_ended_at_a_request_is_not_sent_it_again() {
    for (odds, era, first) in [
        (
            ["dies-of-server/discover", ""],
            ClientEra::Stateless,
            "initialize",
        ),
        (
            ["dies-of-initialize", "modern"],
            ClientEra::default(),
            "server/discover",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("starts");
        let starts = || std::fs::read_to_string(&file).unwrap().lines().count();
        let noting = format!("starts={}", file.display());
        let odd = odd(&[odds[0], odds[1], &noting]);
        let listener = RecordingListener::of(era, &[]);
        for expected in [2, 3, 4] {
            let stats = odd.stats_as(ONE, &listener).await;
            assert_eq!(stats["first"], json!([first]), "{odds:?}");
            assert_eq!(starts(), expected, "{odds:?}");
            odd.upstream.stop();
        }
    }
    // Nobody has to know that one of the other era would.
    let odd = odd(&["dies-of-server/discover"]);
    let stats = odd
        .stats_as(ONE, &RecordingListener::of(ClientEra::default(), &[]))
        .await;
    assert_eq!(stats["first"], json!(["initialize"]));
}

/// A server that is met first without a handshake, and then takes long to answer one, is sent one
/// again the next time, and behaves as its client expects.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_slow_once_is_begun_with_as_its_client_would_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let noting = format!("starts={}", folder.path().join("starts").display());
    let odd = odd(&["both", "slow-in-start=2", &noting]);
    let known = || *odd.policy.reactions.lock();
    for (era, protocol, initialize, overtaken) in [
        (ClientEra::Stateless, MODERN, Reaction::Unknown, None),
        (
            ClientEra::default(),
            MODERN,
            Reaction::Unknown,
            Some(FirstRequest::Initialize),
        ),
        (
            ClientEra::default(),
            NEWEST_HANDSHAKE,
            Reaction::Answers,
            None,
        ),
    ] {
        odd.stats_as(ONE, &RecordingListener::of(era, &[])).await;
        assert_eq!(odd.upstream.status().connections[0].protocol, protocol);
        let expected = Reactions {
            initialize,
            discover: Reaction::Answers,
            overtaken,
        };
        assert_eq!(known(), expected);
        odd.upstream.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_hears_of_its_client_as_it_has_introduced_itself() {
    for version in ["2024-11-05", "2025-06-18", NEWEST_HANDSHAKE] {
        for able in [&[][..], &[Capability::ElicitationForm, Capability::Roots]] {
            let odd = odd(&["both"]);
            let listener = RecordingListener::of(handshake(version), able);
            let stats = odd.stats_as(ONE, &listener).await;
            assert_eq!(stats["version"], version);
            assert_eq!(stats["capabilities"], json!(listener.declared()));
            let status = odd.upstream.status();
            assert_eq!(status.connections[0].protocol, version);
        }
    }
}

/// A server that looks in the handshake for what its client can be asked would otherwise go on
/// without asking, or ask in vain.
#[tokio::test(flavor = "multi_thread")]
async fn only_clients_of_the_same_kind_share_a_connection() {
    let asked = [Capability::ElicitationForm];
    let mute = || RecordingListener::of(ClientEra::default(), &[]);
    let able = || RecordingListener::of(ClientEra::default(), &asked);
    for odds in [&["shared"][..], &["shared", "both"], &["shared", "modern"]] {
        let odd = odd(odds);
        let pids = [
            odd.pid_as(Some(ONE), &mute()).await,
            odd.pid_as(Some(TWO), &mute()).await,
            odd.pid_as(Some(SessionId(3)), &able()).await,
            odd.pid_as(Some(SessionId(4)), &able()).await,
        ];
        let each_says = odds.contains(&"modern");
        assert_eq!(pids[0], pids[1], "{odds:?}");
        assert_eq!(pids[0] == pids[2], each_says, "{odds:?}");
        assert_eq!(pids[2], pids[3], "{odds:?}");
        let of_stateless = [
            odd.pid_as(None, &RecordingListener::of(ClientEra::Stateless, &[]))
                .await,
            odd.pid_as(None, &RecordingListener::of(ClientEra::Stateless, &asked))
                .await,
        ];
        let each_says = odds.len() > 1;
        assert_eq!(of_stateless[0] == of_stateless[1], each_says, "{odds:?}");
        assert!(!pids.contains(&of_stateless[0]), "{odds:?}");
    }
}

/// Whether they can share a connection shows only when it is there.
#[tokio::test(flavor = "multi_thread")]
async fn clients_of_the_stateless_era_that_come_together_share_a_connection() {
    for (odds, shared) in [(&["shared", "both"][..], true), (&["shared"], false)] {
        let odd = odd(odds);
        let mute = RecordingListener::of(ClientEra::Stateless, &[]);
        let able = RecordingListener::of(ClientEra::Stateless, &[Capability::Roots]);
        let pids = futures::join!(odd.pid_as(None, &mute), odd.pid_as(None, &able));
        assert_eq!(pids.0 == pids.1, shared, "{odds:?}");
    }
}
