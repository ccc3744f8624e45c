//! The whole way from a call to a server over HTTP.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::runtime::{Listener, SessionId};
use crate::upstream::tests::{Door, Ear};
use crate::upstream::{Failure, Hub, Launch, Setup, Upstream};

const ONE: SessionId = SessionId(1);

struct Caller {
    upstream: Arc<Upstream>,
    ear: Arc<dyn Listener>,
}

impl Caller {
    fn new(server: &Server) -> Self {
        let setup = Setup {
            server: "web".to_owned(),
            launch: Launch::Http(server.http()),
            share: false,
            start_timeout: Duration::from_secs(10),
            gate: Arc::new(Door::default()),
        };
        Self {
            upstream: Upstream::new(Hub::new(None, std::path::Path::new("/none")), setup),
            ear: Ear::able(&[]),
        }
    }

    async fn call(&self) -> Result<String, Failure> {
        let connection = self.upstream.connect(ONE, &self.ear).await?;
        let call = ("tools/call", r#"{"name":"echo","arguments":{}}"#);
        self.upstream
            .request((ONE, connection), call, &self.ear)
            .await
    }
}

/// A server of 2025-11-25 whose sessions last for one call each. It says so with
/// 404, or as most of those do that have been copied from an example.
async fn forgetful(by_the_book: bool) -> Server {
    let sessions = Arc::new(AtomicU32::new(0));
    let calls = Arc::new(AtomicU32::new(0));
    Server::start(move |seen: Seen| {
        let (sessions, calls) = (Arc::clone(&sessions), Arc::clone(&calls));
        async move {
            let message: Value = serde_json::from_str(&seen.body).unwrap_or_default();
            let result = |result: Value| {
                let message = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                json(&message.to_string())
            };
            let method = message["method"].as_str().unwrap_or_default();
            if seen.method != Method::POST {
                return status(405);
            }
            if method == "initialize" {
                let count = sessions.fetch_add(1, Ordering::Relaxed) + 1;
                let hello = result(json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}}));
                return with(hello, "mcp-session-id", &format!("s{count}"));
            }
            let newest = format!("s{}", sessions.load(Ordering::Relaxed));
            let lost = seen.header("mcp-session-id") != Some(&newest);
            if lost || (method == "tools/call" && calls.fetch_add(1, Ordering::Relaxed) % 2 == 1) {
                return match by_the_book {
                    true => status(404),
                    false => text(
                        400,
                        "application/json",
                        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#,
                    ),
                };
            }
            match method {
                "tools/list" => result(json!({"tools": [{"name": "echo", "inputSchema": {}}]})),
                "tools/call" => result(json!({"content": [], "session": newest})),
                _ => status(202),
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_lost_session_is_begun_anew_without_the_caller_noticing() {
    for by_the_book in [true, false] {
        let caller = Caller::new(&forgetful(by_the_book).await);
        for session in ["s1", "s2"] {
            let answer = caller.call().await.unwrap();
            assert_eq!(answer, format!(r#"{{"content":[],"session":"{session}"}}"#));
        }
    }
}

#[tokio::test]
async fn a_server_that_wants_a_login_is_not_asked_again_in_another_way() {
    let server =
        Server::start(async |_| with(status(401), "www-authenticate", r#"Bearer scope="x""#)).await;
    let caller = Caller::new(&server);
    let answer = caller.call().await;
    // How to log in is asked elsewhere, and this server does not tell.
    assert!(matches!(answer, Err(Failure::Barred(_))), "{answer:?}");
    let challenge = Some(r#"Bearer scope="x""#.to_owned());
    assert_eq!(caller.upstream.status().needs_auth, Some(challenge));
    let seen = server.seen();
    let asked = seen.iter().filter(|one| one.body.contains("jsonrpc"));
    assert_eq!(asked.count(), 1);
}
