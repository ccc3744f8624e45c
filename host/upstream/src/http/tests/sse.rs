//! The transport of 2024-11-05.

use std::sync::OnceLock;

use super::*;

/// A server of that time: `GET /mcp` is the stream, whose first event leads to `endpoint`.
async fn old(
    endpoint: &'static str,
) -> (Server, Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>) {
    let stream = Arc::new(Mutex::new(None));
    let feed = Arc::clone(&stream);
    let server = Server::start(move |seen: Seen| {
        let feed = Arc::clone(&feed);
        async move {
            match (seen.method, seen.path.as_str()) {
                (Method::GET, "/mcp") => {
                    let (sender, stream) = fed();
                    sender
                        .send(format!(": hello\n\nevent: endpoint\ndata: {endpoint}\n\n"))
                        .unwrap();
                    *feed.lock() = Some(sender);
                    stream
                }
                (Method::POST, "/messages?session=1") => {
                    if let Some(feed) = &*feed.lock() {
                        let id = if seen.body.contains(r#""id":1"#) {
                            1
                        } else {
                            2
                        };
                        feed.send(format!("event: message\ndata: {}\n\n", answer(id)))
                            .unwrap();
                    }
                    text(202, "text/plain", "Accepted")
                }
                (Method::POST, "/mcp") => text(404, "text/html", "Cannot POST /mcp"),
                _ => status(404),
            }
        }
    })
    .await;
    (server, stream)
}

#[tokio::test]
async fn is_found_where_the_newer_one_is_not() {
    for endpoint in ["/messages?session=1", "messages?session=1"] {
        let (server, feed) = old(endpoint).await;
        let mut channel = server.connect().await;
        // Asked for the newest era, it does not even know the transport.
        channel
            .sender
            .send(modern(request(1, "server/discover")))
            .await
            .unwrap();
        assert!(next(&mut channel).await.contains("-32601"));
        channel.sender.send(request(1, "initialize")).await.unwrap();
        assert_eq!(next(&mut channel).await, answer(1));
        channel.sender.send(request(2, "tools/list")).await.unwrap();
        assert_eq!(next(&mut channel).await, answer(2));
        // What it says by itself.
        let sender = feed.lock().clone().unwrap();
        sender
            .send("data: junk\n\ndata: {\"method\":\"x\"}\n\n".to_owned())
            .unwrap();
        assert_eq!(next(&mut channel).await, r#"{"method":"x"}"#);
        let paths: Vec<_> = server
            .seen()
            .into_iter()
            .map(|seen| (seen.method, seen.path))
            .collect();
        let expected = [
            (Method::POST, "/mcp"),
            (Method::POST, "/mcp"),
            (Method::GET, "/mcp"),
            (Method::POST, "/messages?session=1"),
            (Method::POST, "/messages?session=1"),
        ];
        assert_eq!(
            paths,
            expected.map(|(method, path)| (method, path.to_owned()))
        );
    }
}

#[tokio::test]
async fn its_end_is_the_end_of_the_connection() {
    let (server, feed) = old("/messages?session=1").await;
    let http = Http {
        transport: HttpTransport::Sse,
        ..server.http()
    };
    let mut channel = connect_to(&http).await.unwrap();
    channel.sender.send(request(1, "initialize")).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(1));
    *feed.lock() = None;
    let end = tokio::time::timeout(Duration::from_secs(5), channel.incoming.recv()).await;
    assert!(end.unwrap().is_none());
    let end_reason = channel.sender.end_reason();
    assert!(
        end_reason.contains("the server has closed it") && end_reason.contains(&server.origin),
        "{end_reason}"
    );
    assert_eq!(
        broken(channel.sender.send(request(2, "ping")).await),
        end_reason
    );
}

#[tokio::test]
async fn the_connection_ends_with_the_channel() {
    let (server, feed) = old("/messages?session=1").await;
    let http = Http {
        transport: HttpTransport::Sse,
        ..server.http()
    };
    let channel = connect_to(&http).await.unwrap();
    let sender = feed.lock().clone().unwrap();
    drop(channel);
    tokio::time::timeout(Duration::from_secs(5), sender.closed())
        .await
        .unwrap();
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    for endpoint in [
        "http://127.0.0.1:9/messages",
        "//example.com/messages",
        "https://127.0.0.1/",
        "file:///etc/passwd",
    ] {
        let (server, _feed) = old(endpoint).await;
        let http = Http {
            transport: HttpTransport::Sse,
            ..server.http()
        };
        let Err(Lost::Broken(why)) = connect_to(&http).await else {
            panic!("{endpoint}");
        };
        assert!(
            why.contains(&format!("`{endpoint}`")) && why.contains("hint:"),
            "{why}"
        );
    }
}

/// Who is redirected to does not say where messages are posted, with the secrets of the configured
/// origin: neither by its own stream, nor by one that it redirects to.
#[tokio::test]
async fn a_stream_by_way_of_another_origin_names_no_endpoint() {
    for (leads_back, is_to_other) in [(false, true), (true, true), (false, false)] {
        let configured = Arc::new(OnceLock::<String>::new());
        let back = Arc::clone(&configured);
        let other = Server::start(move |_: Seen| {
            let back = back.get().cloned().unwrap_or_default();
            async move {
                match leads_back {
                    true => with(status(307), "location", &format!("{back}/stream")),
                    false => sse(&[&format!("event: endpoint\ndata: {back}/chosen\n\n")]),
                }
            }
        })
        .await;
        let to = match is_to_other {
            true => format!("{}/stream", other.origin),
            false => "/stream".to_owned(),
        };
        let server = Server::start(move |seen: Seen| {
            let to = to.clone();
            async move {
                match seen.path.as_str() {
                    "/mcp" => with(status(307), "location", &to),
                    _ => sse(&["event: endpoint\ndata: /chosen\n\n"]),
                }
            }
        })
        .await;
        configured.set(server.origin.clone()).unwrap();
        let http = Http {
            transport: HttpTransport::Sse,
            ..server.http()
        };
        match connect_to(&http).await {
            // The control: a redirect within the origin is followed.
            Ok(_) => assert!(!is_to_other, "{leads_back}"),
            Err(Lost::Broken(why)) => assert!(
                is_to_other
                    && why.contains("redirects over another origin")
                    && why.contains("hint:"),
                "{leads_back}: {why}"
            ),
            Err(lost) => panic!("{leads_back}: {lost:?}"),
        }
    }
}

#[tokio::test]
async fn where_there_is_neither_both_are_named() {
    let server = Server::start(async |seen| match seen.method {
        Method::GET => text(200, "text/html", "<h1>Welcome</h1>"),
        _ => text(405, "text/plain", "no"),
    })
    .await;
    let channel = server.connect().await;
    let why = broken(channel.sender.send(request(1, "initialize")).await);
    assert!(why.contains("405 Method Not Allowed: `no`"), "{why}");
    assert!(why.contains("<h1>Welcome</h1>"), "{why}");
    // Where only the newer one is wanted, the older one is not looked for.
    let http = Http {
        transport: HttpTransport::Streamable,
        ..server.http()
    };
    let channel = connect_to(&http).await.unwrap();
    broken(channel.sender.send(request(1, "initialize")).await);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_stream_that_never_begins_is_given_up() {
    let server = Server::start(async |_| {
        let (sender, stream) = fed();
        sender
            .send(": ping\n\nevent: other\ndata: x\n\n".to_owned())
            .unwrap();
        tokio::spawn(async move { sender.closed().await });
        stream
    })
    .await;
    let http = Http {
        transport: HttpTransport::Sse,
        ..server.http()
    };
    let Err(Lost::Broken(why)) = connect_to(&http).await else {
        panic!();
    };
    assert!(why.contains("within 2 s"), "{why}");
}

#[tokio::test]
async fn an_endpoint_that_is_gone_is_a_lost_session() {
    let (server, _feed) = old("/gone").await;
    let http = Http {
        transport: HttpTransport::Sse,
        ..server.http()
    };
    let channel = connect_to(&http).await.unwrap();
    assert_eq!(
        channel.sender.send(request(1, "initialize")).await,
        Err(Lost::Session)
    );
}
