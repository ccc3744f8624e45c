//! One POST and its answer.

use super::*;

/// A server that opens a session and answers in JSON.
async fn plain() -> Server {
    Server::start(async |seen| {
        if seen.method != Method::POST {
            return status(405);
        }
        let id = if seen.body.contains(r#""id":1"#) {
            1
        } else {
            2
        };
        if seen.body.contains("initialize\"") {
            return with(json(&answer(id)), "mcp-session-id", "s1");
        }
        if seen.body.contains("notifications/") {
            return text(202, "text/plain", "");
        }
        json(&answer(id))
    })
    .await
}

#[tokio::test]
async fn nothing_is_dialled_before_the_first_message() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http {
        url: format!("http://{}/", listener.local_addr().unwrap()),
        ..Http::default()
    };
    let _channel = connect_to(&http).await.unwrap();
    let accepted = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
    assert!(accepted.is_err());
}

#[tokio::test]
async fn a_session_is_kept_and_ended() {
    let server = plain().await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "initialize")).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(1));
    channel
        .sender
        .send(notification("notifications/roots"))
        .await
        .unwrap();
    channel.sender.send(request(2, "tools/list")).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(2));
    channel.sender.close().await;
    channel.sender.close().await;
    assert!(channel.incoming.recv().await.is_none());
    assert!(channel.sender.end_reason().contains("closed"));
    broken(channel.sender.send(request(3, "ping")).await);

    let seen = server.seen();
    let methods: Vec<_> = seen.iter().map(|seen| seen.method.as_str()).collect();
    assert_eq!(methods, ["POST", "POST", "POST", "DELETE"]);
    let first = &seen[0];
    assert_eq!(
        first.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.body, request(1, "initialize").text);
    assert!(first.header("user-agent").unwrap().starts_with("dormouse/"));
    for name in ["mcp-session-id", "mcp-protocol-version", "mcp-method"] {
        assert_eq!(first.header(name), None);
    }
    for later in &seen[1..] {
        assert_eq!(later.header("mcp-session-id"), Some("s1"));
        assert_eq!(later.header("mcp-protocol-version"), Some(LEGACY));
    }
}

#[tokio::test]
async fn the_newest_era_has_its_headers_and_no_session() {
    let server = plain().await;
    let mut channel = server.connect().await;
    let mut call = modern(request(1, "tools/call"));
    call.name = Some("weather".to_owned());
    channel.sender.send(call).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(1));
    // Over HTTP there is no such message any more: to drop the request is enough.
    channel
        .sender
        .send(modern(notification("notifications/cancelled")))
        .await
        .unwrap();
    channel.sender.close().await;
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("mcp-method"), Some("tools/call"));
    assert_eq!(seen[0].header("mcp-name"), Some("weather"));
    assert_eq!(seen[0].header("mcp-protocol-version"), Some(MODERN));
}

#[tokio::test]
async fn arguments_go_into_headers_where_the_tool_wants_them_there() {
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"run","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}}"#;
    let server = Server::start(move |seen: Seen| async move {
        if seen.body.contains("tools/list") {
            json(list)
        } else {
            json(&answer(2))
        }
    })
    .await;
    let mut channel = server.connect().await;
    channel
        .sender
        .send(modern(request(1, "tools/list")))
        .await
        .unwrap();
    assert_eq!(next(&mut channel).await, list);
    let mut call = modern(request(2, "tools/call"));
    call.name = Some("run".to_owned());
    call.text = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"region":"eu"}}}"#.to_owned();
    channel.sender.send(call).await.unwrap();
    assert_eq!(server.seen()[1].header("mcp-param-region"), Some("eu"));
}

#[tokio::test]
async fn a_stream_brings_what_comes_before_the_answer_too() {
    let server = Server::start(async |_| {
        sse(&[
            "id: 1\ndata:\n\n: hello\n\nevent: message\nda",
            "ta: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n",
            "event: other\ndata: {}\n\nodd line\ndata: not json\n\n",
            "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n",
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/late\"}\n\n",
        ])
    })
    .await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "tools/call")).await.unwrap();
    assert!(next(&mut channel).await.contains("progress"));
    assert_eq!(
        next(&mut channel).await,
        "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"
    );
    assert!(next(&mut channel).await.contains("late"));
}

#[tokio::test]
async fn a_batch_is_taken_apart() {
    let server =
        Server::start(async |_| json(&format!(r#"[{{"method":"x"}},{}]"#, answer(1)))).await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "tools/call")).await.unwrap();
    assert_eq!(next(&mut channel).await, r#"{"method":"x"}"#);
    assert_eq!(next(&mut channel).await, answer(1));
}

#[tokio::test]
async fn no_request_waits_for_another() {
    let server = Server::start(async |seen| {
        if seen.body.contains("slow") {
            tokio::time::sleep(Duration::from_millis(2500)).await;
            return json(&answer(1));
        }
        json(&answer(2))
    })
    .await;
    let mut channel = server.connect().await;
    // Longer than what needs no work may take: a call may.
    let slow = tokio::spawn(channel.sender.send(request(1, "slow")));
    channel.sender.send(request(2, "quick")).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(2));
    assert!(!slow.is_finished());
    slow.await.unwrap().unwrap();
    assert_eq!(next(&mut channel).await, answer(1));
}

#[tokio::test]
async fn connections_are_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http {
        url: format!("http://{}/", listener.local_addr().unwrap()),
        ..Http::default()
    };
    let accepted = Arc::new(Mutex::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            *count.lock() += 1;
            let service = service_fn(async |request: hyper::Request<hyper::body::Incoming>| {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let body = String::from_utf8_lossy(&body).into_owned();
                let all = [format!("data: {}\n\n", answer(1))];
                Ok::<_, Infallible>(match body.contains("stream") {
                    true => sse(&[all[0].as_str()]),
                    false => json(&answer(1)),
                })
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    let channel = connect_to(&http).await.unwrap();
    for _ in 0..5 {
        for method in ["stream", "plain"] {
            channel.sender.send(request(1, method)).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    // One would do; a busy machine may need another before the first is free again.
    let accepted = *accepted.lock();
    assert!(accepted < 4, "{accepted}");
}

#[tokio::test]
async fn to_drop_a_request_ends_its_post() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http {
        url: format!("http://{}/", listener.local_addr().unwrap()),
        ..Http::default()
    };
    for headers in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hi\n\n",
    ] {
        let channel = connect_to(&http).await.unwrap();
        let sent = tokio::spawn(channel.sender.send(modern(request(1, "tools/call"))));
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = [0; 4096];
        assert!(stream.read(&mut read).await.unwrap() > 0);
        stream.write_all(headers.as_bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!sent.is_finished());
        sent.abort();
        let rest = async { while stream.read(&mut read).await.is_ok_and(|read| read > 0) {} };
        tokio::time::timeout(Duration::from_secs(5), rest)
            .await
            .unwrap();
    }
}
