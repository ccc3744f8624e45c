//! The whole way from a call to a server over HTTP.

use std::sync::atomic::{AtomicU32, Ordering};

use dormouse_launch::Launch;
use dormouse_protocol::{Listener, QuestionLimit, SessionId};
use serde_json::{Value, json};

use super::*;
use crate::tests::{OneToolWithheld, RecordingListener, called};
use crate::{Connector, Failure, Setup, Upstream};

const ONE: Option<SessionId> = Some(SessionId(1));

struct Caller {
    upstream: Arc<Upstream>,
    listener: Arc<dyn Listener>,
}

impl Caller {
    fn new(server: &Server) -> Self {
        let setup = Setup {
            limits: dormouse_policy::UpstreamLimits::default(),
            server: "web".to_owned(),
            launch: Launch::Http(server.http()),
            share: false,
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout: Duration::from_secs(10),
            questions: QuestionLimit::new(8),
            policy: Arc::new(OneToolWithheld::default()),
        };
        Self {
            upstream: Upstream::new(Connector::new(None, std::path::Path::new("/none")), setup),
            listener: RecordingListener::able(&[]),
        }
    }

    async fn call(&self) -> Result<String, Failure> {
        let connection = self.upstream.connect(ONE, &self.listener).await?;
        let params = r#"{"name":"echo","arguments":{}}"#;
        self.upstream
            .request(ONE, connection, &called(params), &self.listener)
            .await
    }
}

/// Starts a server of 2025-11-25 whose sessions last for one call each. It says so with 404, or as
/// most servers do that have been copied from an example.
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
                let server_introduction = result(json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}}));
                return with(server_introduction, "mcp-session-id", &format!("s{count}"));
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
    assert!(matches!(answer, Err(Failure::NotLoggedIn(_))), "{answer:?}");
    let challenge = Some(r#"Bearer scope="x""#.to_owned());
    assert_eq!(caller.upstream.status().needs_auth, Some(challenge));
    let seen = server.seen();
    let asked = seen.iter().filter(|one| one.body.contains("jsonrpc"));
    assert_eq!(asked.count(), 1);
}

/// A question on the stream of one call goes to that call's client, whatever other calls are
/// running.
#[tokio::test]
async fn what_is_asked_on_the_stream_of_a_call_is_asked_of_its_caller() {
    type Stream = (Value, mpsc::UnboundedSender<String>);
    // Clients of different kinds have connections of their own, whose requests have the same ids.
    let open: Arc<Mutex<Vec<Stream>>> = Arc::default();
    let server = Server::start(move |seen: Seen| {
        let open = Arc::clone(&open);
        async move {
            if seen.method != Method::POST {
                return status(405);
            }
            let message: Value = serde_json::from_str(&seen.body).unwrap();
            let result =
                |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            match message["method"].as_str() {
                Some("initialize") => json_of(&result(
                    json!({"protocolVersion": LEGACY, "capabilities": {"tools": {}}}),
                )),
                Some("tools/list") => json_of(&result(
                    json!({"tools": [{"name": "echo", "inputSchema": {}}]}),
                )),
                Some("tools/call") => {
                    let (stream, response) = fed();
                    let mut open = open.lock();
                    open.push((message["id"].clone(), stream));
                    // All calls are running when the first is asked something.
                    if open.len() == 3 {
                        for (asked, (id, stream)) in open.iter().enumerate() {
                            let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                                "params": {"level": "info", "data": id}});
                            let ask = json!({"jsonrpc": "2.0", "id": asked, "method": "roots/list",
                                "params": {}});
                            stream
                                .send(format!("data: {log}\n\ndata: {ask}\n\n"))
                                .unwrap();
                        }
                    }
                    response
                }
                // An answer to what was asked is the call's result.
                None => {
                    let open = open.lock();
                    let asked = message["id"].as_u64().unwrap();
                    let (id, stream) = &open[usize::try_from(asked).unwrap()];
                    let answer = json!({"jsonrpc": "2.0", "id": id,
                        "result": {"answer": message["result"], "error": message["error"]}});
                    stream.send(format!("data: {answer}\n\n")).unwrap();
                    status(202)
                }
                _ => status(202),
            }
        }
    })
    .await;
    let setup = Setup {
        limits: dormouse_policy::UpstreamLimits::default(),
        server: "web".to_owned(),
        launch: Launch::Http(server.http()),
        share: true,
        is_to_stay: false,
        sessionless_patience: Duration::from_secs(600),
        start_timeout: Duration::from_secs(10),
        questions: QuestionLimit::new(8),
        policy: Arc::new(OneToolWithheld::default()),
    };
    let upstream = Upstream::new(Connector::new(None, std::path::Path::new("/none")), setup);
    let [able, other] =
        [(), ()].map(|()| RecordingListener::able(&[dormouse_protocol::Capability::Roots]));
    let unable = RecordingListener::able(&[]);
    let call = async |session, listener: &Arc<RecordingListener>| {
        let session = Some(SessionId(session));
        let listener: Arc<dyn Listener> = listener.clone();
        let connection = upstream.connect(session, &listener).await.unwrap();
        let params = r#"{"name":"echo","arguments":{}}"#;
        let request = called(params);
        let asking = upstream.request(session, connection, &request, &listener);
        let told = tokio::time::timeout(Duration::from_secs(10), asking).await;
        serde_json::from_str::<Value>(&told.unwrap().unwrap()).unwrap()
    };
    let (one, two, three) = tokio::join!(call(1, &able), call(2, &unable), call(3, &other));
    for answer in [one, three] {
        assert_eq!(answer["answer"]["to"], "roots/list", "{answer}");
    }
    assert_eq!(two["error"]["code"], -32601, "{two}");
    for (listener, asked) in [(able, 1), (unable, 0), (other, 1)] {
        assert_eq!(listener.asked(), asked);
        assert_eq!(listener.heard().len(), 1, "{:?}", listener.heard());
    }
}

/// A server of 2025-11-25 that takes each call with 202, and answers on the stream of messages that
/// it sends by itself, if it has one.
#[tokio::test]
async fn an_answer_may_come_on_the_stream_of_what_is_said_between_calls() {
    for (has_stream, ends) in [(true, false), (true, true), (false, false)] {
        let stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
        let server = Server::start(move |seen: Seen| {
            let stream = Arc::clone(&stream);
            async move {
                if seen.method == Method::GET && has_stream {
                    let mut stream = stream.lock();
                    // It is had once.
                    if ends && stream.is_some() {
                        return status(405);
                    }
                    let (sender, response) = fed();
                    *stream = Some(sender);
                    return response;
                }
                if seen.method != Method::POST {
                    return status(405);
                }
                let message: Value = serde_json::from_str(&seen.body).unwrap_or_default();
                let answer = |result: Value| {
                    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
                };
                match message["method"].as_str().unwrap_or_default() {
                    "initialize" => json_of(&answer(json!({
                        "protocolVersion": LEGACY, "capabilities": {"tools": {}}
                    }))),
                    "tools/list" => json_of(&answer(json!({
                        "tools": [{"name": "echo", "inputSchema": {}}]
                    }))),
                    "tools/call" if has_stream => {
                        let answer = answer(json!({"content": [], "late": true}));
                        tokio::spawn(async move {
                            tokio::time::sleep(Duration::from_millis(300)).await;
                            let mut stream = stream.lock();
                            match ends {
                                // Its stream ends without the answer.
                                true => *stream = Some(mpsc::unbounded_channel().0),
                                false => {
                                    let stream = stream.as_mut().unwrap();
                                    stream.send(format!("data: {answer}\n\n")).unwrap();
                                }
                            }
                        });
                        status(202)
                    }
                    _ => status(202),
                }
            }
        })
        .await;
        let caller = Caller::new(&server);
        let called = tokio::time::timeout(Duration::from_secs(10), caller.call());
        let called = called.await.unwrap();
        if has_stream && !ends {
            assert!(called.unwrap().contains("late"));
            continue;
        }
        let why = called.unwrap_err();
        let Failure::Lost(Lost::Broken(why)) = why else {
            panic!("{why:?}");
        };
        assert!(why.contains("it may have been done"), "{why}");
        assert!(!why.contains("`dormouse restart"), "{why}");
        let calls = server.seen().into_iter();
        assert_eq!(
            calls.filter(|one| one.body.contains("tools/call")).count(),
            1
        );
    }
}

/// A stateless server whose tool wants an argument in a header since its list was last read, or
/// something that no client can know.
#[tokio::test]
async fn a_list_that_names_other_headers_is_read_again_once() {
    for known in [true, false] {
        let lists = Arc::new(AtomicU32::new(0));
        let server = Server::start(move |seen: Seen| {
            let lists = Arc::clone(&lists);
            async move {
                let message: Value = serde_json::from_str(&seen.body).unwrap_or_default();
                let result = |mut result: Value| {
                    result["resultType"] = json!("complete");
                    json_of(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                };
                match message["method"].as_str().unwrap_or_default() {
                    "server/discover" => result(json!({
                        "supportedVersions": [MODERN], "capabilities": {"tools": {}}
                    })),
                    "tools/list" => {
                        let again = lists.fetch_add(1, Ordering::Relaxed) > 0;
                        let region = match again && known {
                            true => json!({"type": "string", "x-mcp-header": "Region"}),
                            false => json!({"type": "string"}),
                        };
                        result(json!({"tools": [{"name": "echo",
                            "inputSchema": {"type": "object", "properties": {"region": region}}}]}))
                    }
                    "tools/call" if seen.header("mcp-param-region") == Some("west") => {
                        result(json!({"content": []}))
                    }
                    _ => {
                        let error = json!({"code": -32020, "message": "Header mismatch"});
                        let refused =
                            json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
                        text(400, "application/json", &refused.to_string())
                    }
                }
            }
        })
        .await;
        let caller = Caller::new(&server);
        let upstream = &caller.upstream;
        let connection = upstream.connect(ONE, &caller.listener).await.unwrap();
        let params = r#"{"name":"echo","arguments":{"region":"west"}}"#;
        let request = called(params);
        let asking = upstream.request(ONE, connection, &request, &caller.listener);
        let answer = asking.await;
        match known {
            true => assert!(answer.is_ok(), "{answer:?}"),
            false => assert!(
                matches!(&answer, Err(Failure::Refused(refusal)) if refusal.code == -32020),
                "{answer:?}"
            ),
        }
        let seen = server.seen();
        let count = |method: &str| {
            let named = |one: &&Seen| one.header("mcp-method") == Some(method);
            seen.iter().filter(named).count()
        };
        assert_eq!(
            (count("tools/list"), count("tools/call")),
            (2, 2),
            "{known}"
        );
    }
}

fn json_of(message: &Value) -> Response<Body> {
    super::json(&message.to_string())
}
