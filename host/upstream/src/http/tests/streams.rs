//! Streams that last: messages that a server sends by itself, and answers over several connections.

use super::*;

#[tokio::test]
async fn what_a_server_says_by_itself_is_heard_over_several_streams() {
    let server = Server::start(async |seen| {
        if seen.method == Method::POST {
            return match seen.body.contains("initialize\"") {
                true => with(json(&answer(1)), "mcp-session-id", "s1"),
                false => status(202),
            };
        }
        match seen.header("last-event-id") {
            None => sse(&["id: a\nretry: 60\ndata: {\"method\":\"one\"}\n\n"]),
            Some("a") => sse(&["data: {\"method\":\"two\"}\n\nid: b\ndata: \n\ndata: {\"cut\":"]),
            Some(_) => {
                let (sender, stream) = fed();
                sender
                    .send("data: {\"method\":\"three\"}\n\n".to_owned())
                    .unwrap();
                tokio::spawn(async move { sender.closed().await });
                stream
            }
        }
    })
    .await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "initialize")).await.unwrap();
    next(&mut channel).await;
    channel
        .sender
        .send(notification("notifications/initialized"))
        .await
        .unwrap();
    for method in ["one", "two", "three"] {
        assert_eq!(
            next(&mut channel).await,
            format!(r#"{{"method":"{method}"}}"#)
        );
    }
    let gets: Vec<_> = server
        .seen()
        .into_iter()
        .filter(|seen| seen.method == Method::GET)
        .collect();
    assert_eq!(gets.len(), 3);
    assert_eq!(gets[2].header("last-event-id"), Some("b"));
    assert_eq!(gets[0].header("accept"), Some("text/event-stream"));
    assert_eq!(gets[0].header("mcp-session-id"), Some("s1"));
    assert_eq!(gets[0].header("mcp-protocol-version"), Some(LEGACY));
    // The end of the connection is the end of the stream.
    channel.sender.close().await;
    assert!(channel.incoming.recv().await.is_none());
}

#[tokio::test]
async fn a_server_may_have_nothing_to_say_by_itself() {
    for code in [405, 404, 400] {
        let server = Server::start(move |seen: Seen| async move {
            match seen.method {
                Method::GET => status(code),
                _ if seen.body.contains("\"id\"") => json(&answer(1)),
                _ => status(202),
            }
        })
        .await;
        let mut channel = server.connect().await;
        channel.sender.send(request(1, "initialize")).await.unwrap();
        next(&mut channel).await;
        channel
            .sender
            .send(notification("notifications/initialized"))
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        channel.sender.send(request(1, "tools/list")).await.unwrap();
        assert_eq!(next(&mut channel).await, answer(1));
        let gets = server
            .seen()
            .iter()
            .filter(|seen| seen.method == Method::GET)
            .count();
        assert_eq!(gets, 1, "{code}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_is_taken_up_where_it_broke() {
    let tries = Arc::new(Mutex::new(0));
    let server = Server::start(move |seen: Seen| {
        let tries = Arc::clone(&tries);
        async move {
            if seen.method == Method::POST {
                return broken_off("id: p1\nretry: 50\ndata: {\"method\":\"a\"}\n\ndata: {\"jso");
            }
            let tries = {
                let mut tries = tries.lock();
                *tries += 1;
                *tries
            };
            match (seen.header("last-event-id"), tries) {
                // Out of order for a moment.
                (Some("p1"), 1) => status(503),
                // An orderly end without an answer: the server wants to be polled.
                (Some("p1"), 2) => sse(&["id: p2\ndata: {\"method\":\"b\"}\n\n"]),
                (Some("p2"), 3) => sse(&["retry: 10\n\n"]),
                (Some("p2"), 4) => sse(&[&format!("data: {}\n\n", answer(1))]),
                _ => status(400),
            }
        }
    })
    .await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "tools/call")).await.unwrap();
    for expected in [r#"{"method":"a"}"#, r#"{"method":"b"}"#, &answer(1)] {
        assert_eq!(next(&mut channel).await, expected);
    }
    assert_eq!(server.seen().len(), 5);
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_is_lost() {
    let server = Server::start(async |seen| match seen.method {
        Method::GET => status(405),
        _ if seen.body.contains("no-id") => broken_off("data: {\"method\":\"a\"}\n\n"),
        _ if seen.body.contains("orderly") => sse(&["data: {\"method\":\"a\"}\n\n"]),
        _ => broken_off("id: p1\nretry: 10\ndata: {\"method\":\"a\"}\n\n"),
    })
    .await;
    let mut channel = server.connect().await;
    for (message, gets) in [
        (request(1, "no-id"), 0),
        (request(1, "orderly"), 0),
        (modern(request(1, "resumable before")), 0),
        (request(1, "resumable"), 1),
    ] {
        let why = broken(channel.sender.send(message).await);
        assert!(why.contains("has not finished its answer"), "{why}");
        assert_eq!(next(&mut channel).await, r#"{"method":"a"}"#);
        let seen = server.seen();
        assert_eq!(
            seen.iter()
                .filter(|seen| seen.method == Method::GET)
                .count(),
            gets
        );
    }
}

#[tokio::test]
async fn a_stream_may_be_silent_for_longer_than_anything_else() {
    let server = Server::start(async |_| {
        let (sender, stream) = fed();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(2500)).await;
            sender.send(format!("data: {}\n\n", answer(1))).unwrap();
        });
        stream
    })
    .await;
    let mut channel = server.connect().await;
    channel.sender.send(request(1, "tools/call")).await.unwrap();
    assert_eq!(next(&mut channel).await, answer(1));
}

/// Makes a stream that breaks after this text.
fn broken_off(text: &str) -> Response<Body> {
    let pieces = [
        Ok(Bytes::from(text.to_owned())),
        Err(std::io::Error::other("broken")),
    ];
    // The pieces go out one by one: the second would take the first with it.
    let pieces = futures::stream::iter(pieces).then(async |piece| {
        tokio::time::sleep(Duration::from_millis(50)).await;
        piece
    });
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(super::body(pieces))
        .unwrap()
}
