//! Messages between an upstream and the sessions of its connection, in and outside of calls.

use parking_lot::Mutex;
use serde_json::Map;

use super::*;

const TWO: SessionId = SessionId(2);

impl OddServer {
    /// Makes a session's client reachable between its calls, too.
    fn attended(&self, session: SessionId, able: &[Capability]) -> Arc<RecordingListener> {
        let client = RecordingListener::able(able);
        let mut clients = self.policy.clients.lock();
        clients.insert(session, client.clone());
        client
    }

    async fn wake(&self, session: SessionId) {
        let listener = Arc::new(RecordingListener::default());
        let answer = self.call_as(session, listener, "echo", json!({})).await;
        answer.unwrap();
    }

    async fn stats(&self, session: SessionId) -> Value {
        let listener = Arc::new(RecordingListener::default());
        let answer = self.call_as(session, listener, "stats", json!({})).await;
        serde_json::from_str(&text(&answer.unwrap())).unwrap()
    }
}

/// Waits until something is there.
async fn comes<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let found = tokio::time::timeout(LIMIT, found).await;
    found.unwrap_or_else(|_| panic!("{what} never comes"))
}

fn between(level: &str) -> Value {
    json!({ "level": level, "logger": "odd", "data": "between calls" })
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_logged_between_calls_reaches_all_whose_connection_it_is() {
    for shared in [&[][..], &["shared"]] {
        let odd = odd(shared);
        let clients = [ONE, TWO].map(|session| odd.attended(session, &[]));
        odd.wake(ONE).await;
        odd.wake(TWO).await;
        // Each connection is asked for the resource, and logs twice.
        let _said = odd.upstream.subscribe("odd://said");
        for client in &clients {
            comes("the log", async || {
                (client.heard().len() == 2).then_some(())
            })
            .await;
            assert_eq!(client.heard(), [between("debug"), between("error")]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_part_in_a_connection_hears_nothing_of_it() {
    let odd = odd(&["shared"]);
    let [one, two] = [ONE, TWO].map(|session| odd.attended(session, &[Capability::Roots]));
    let three = odd.attended(SessionId(3), &[Capability::Roots]);
    odd.wake(ONE).await;
    odd.wake(TWO).await;
    odd.upstream.end_session(TWO);
    let _said = odd.upstream.subscribe("odd://said");
    comes("the log", async || (one.heard().len() == 2).then_some(())).await;
    assert_eq!((two.heard(), three.heard()), (vec![], vec![]));
    odd.upstream.roots_changed(SessionId(3));
    // Of those two only the second is a session of the connection.
    odd.upstream.roots_changed(ONE);
    comes("the roots", async || {
        (odd.stats(ONE).await["roots"] == 1).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_between_calls_is_asked_of_the_one_session_that_it_is_for() {
    for (shared, answered) in [(&[][..], true), (&["shared"], false)] {
        let odd = odd(shared);
        for session in [ONE, TWO] {
            odd.attended(session, &[Capability::Roots]);
            odd.wake(session).await;
        }
        let _asked = odd.upstream.subscribe("odd://asked");
        let answer = comes("the answer", async || {
            odd.stats(ONE).await.get("between").cloned()
        })
        .await;
        if answered {
            assert_eq!(answer["to"], "roots/list");
        } else {
            assert_eq!(answer["code"], -32601, "it may be about another agent's");
        }
    }
}

/// In the stateless era nobody can be asked between requests.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_who_is_not_there() {
    let odd = odd(&[]);
    odd.wake(ONE).await;
    let _asked = odd.upstream.subscribe("odd://asked");
    let answer = comes("the refusal", async || {
        odd.stats(ONE).await.get("between").cloned()
    });
    assert_eq!(answer.await["code"], -32601);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_is_told_at_once_and_to_whatever_connects_later() {
    let odd = odd(&[]);
    let client = odd.attended(ONE, &[]);
    // Nobody has said anything, and the upstream is left alone.
    odd.upstream.level_changed(ONE).await;
    assert_eq!(odd.stats(ONE).await["levels"], json!([]));
    for level in ["debug", "error"] {
        *client.level.lock() = Some(level);
        odd.upstream.level_changed(ONE).await;
        odd.upstream.level_changed(ONE).await;
    }
    assert_eq!(odd.stats(ONE).await["levels"], json!(["debug", "error"]));
    odd.upstream.stop();
    assert_eq!(odd.stats(ONE).await["levels"], json!(["error"]));
    // Another session's connection has another level.
    assert_eq!(odd.stats(TWO).await["levels"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn those_who_share_get_what_any_of_them_wants() {
    let odd = odd(&["shared"]);
    let [one, two] = [ONE, TWO].map(|session| odd.attended(session, &[]));
    *one.level.lock() = Some("error");
    assert_eq!(odd.stats(ONE).await["levels"], json!(["error"]));
    *two.level.lock() = Some("notice");
    // It has no part in the connection before it calls.
    odd.upstream.level_changed(TWO).await;
    assert_eq!(odd.stats(TWO).await["levels"], json!(["error", "notice"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_goes_with_what_its_agent_says_of_it() {
    let name = |name: &str| format!("io.modelcontextprotocol/{name}");
    for (era, level) in [
        (&[][..], None),
        (&["modern"], Some("error")),
        (&["modern"], None),
    ] {
        let odd = odd(era);
        let meta = json!({ "com.example/trace": { "id": 7 }, "progressToken": "theirs" });
        let caller = Arc::new(RecordingListener {
            level: Mutex::new(level),
            meta: meta.as_object().unwrap().clone(),
            ..RecordingListener::default()
        });
        let answer = odd.call_as(ONE, caller, "meta", json!({})).await.unwrap();
        let seen: Map<String, Value> = serde_json::from_str(&text(&answer)).unwrap();
        assert_eq!(seen["com.example/trace"], json!({ "id": 7 }));
        // What is the connection's is never an agent's.
        assert!(seen["progressToken"].is_u64(), "{seen:?}");
        assert_eq!(seen.contains_key(&name("clientInfo")), !era.is_empty());
        let said = seen.get(&name("logLevel")).and_then(Value::as_str);
        assert_eq!(said, level, "{seen:?}");
        // Nor does a component say anything else in the agent's place.
        let listener: Arc<dyn Listener> = Arc::new(RecordingListener {
            meta: meta.as_object().unwrap().clone(),
            ..RecordingListener::default()
        });
        let connection = odd.upstream.connect(Some(ONE), &listener).await.unwrap();
        let params =
            r#"{"name":"meta","arguments":{},"_meta":{"com.example/trace":"forged","own/key":1}}"#;
        let request = called(params);
        let asking = odd
            .upstream
            .request(Some(ONE), connection, &request, &listener);
        let answer: Value = serde_json::from_str(&asking.await.unwrap()).unwrap();
        let seen: Map<String, Value> = serde_json::from_str(&text(&answer)).unwrap();
        assert_eq!(seen["com.example/trace"], json!({ "id": 7 }));
        assert_eq!(seen["own/key"], 1);
    }
}
