//! Servers that want too much.

use super::*;

#[tokio::test]
async fn a_body_of_a_hundred_megabytes_is_refused() {
    let piece = Bytes::from(vec![b' '; 1024 * 1024]);
    let server = Server::start(move |seen: Seen| {
        let piece = piece.clone();
        async move {
            // Announced, and not.
            let announced = seen.body.contains("announced");
            let pieces = futures::stream::repeat(piece).take(100).map(Ok);
            let response = Response::builder().header("content-type", "application/json");
            let response = match announced {
                true => response.header("content-length", 100 * 1024 * 1024),
                false => response,
            };
            response.body(super::body(pieces)).unwrap()
        }
    })
    .await;
    let channel = server.connect().await;
    for method in ["announced", "other"] {
        let why = broken(channel.outlet.send(request(1, method)).await);
        assert!(why.contains("answered with more than 64 MiB"), "{why}");
    }
}

#[tokio::test]
async fn an_endless_event_is_refused_and_not_asked_for_again() {
    let piece = Bytes::from(vec![b'x'; 1024 * 1024]);
    let server = Server::start(move |_| {
        let piece = piece.clone();
        async move {
            let first = Bytes::from_static(b"id: 1\ndata: {\"method\":\"a\"}\n\ndata: ");
            stream(futures::stream::iter([first]).chain(futures::stream::repeat(piece)))
        }
    })
    .await;
    let channel = server.connect().await;
    let why = broken(channel.outlet.send(request(1, "tools/call")).await);
    assert!(why.contains("an event has more than 64 MiB"), "{why}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn the_body_of_an_error_need_not_end() {
    let server = Server::start(async |_| {
        let piece = Bytes::from_static(b"so sorry ");
        let pieces = futures::stream::repeat(piece).map(Ok);
        Response::builder()
            .status(500)
            .body(super::body(pieces))
            .unwrap()
    })
    .await;
    let channel = server.connect().await;
    let why = broken(channel.outlet.send(request(1, "tools/call")).await);
    assert!(
        why.contains("500") && why.contains("so sorry so sorry") && why.len() < 500,
        "{why}"
    );
}

#[tokio::test]
async fn who_never_begins_to_answer_is_given_up_where_nothing_takes_long() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http {
        url: format!("http://{}/", listener.local_addr().unwrap()),
        ..Http::default()
    };
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut read = [0; 4096];
                assert!(stream.read(&mut read).await.unwrap() > 0);
                // One byte of the headers at a time.
                for byte in b"HTTP/1.1 200 OK\r\nx-slow: "
                    .iter()
                    .chain(std::iter::repeat(&b'x'))
                {
                    if stream.write_all(&[*byte]).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            });
        }
    });
    let channel = connect_to(&http).await.unwrap();
    for message in [
        request(1, "initialize"),
        notification("notifications/initialized"),
    ] {
        let sent = channel.outlet.send(message);
        let sent = tokio::time::timeout(Duration::from_secs(10), sent)
            .await
            .unwrap();
        let why = broken(sent);
        assert!(why.contains("has not answered within 2 s"), "{why}");
    }
}

#[tokio::test]
async fn who_is_not_there_or_hangs_up_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http {
        url: format!("http://{}/mcp?key=secret", listener.local_addr().unwrap()),
        ..Http::default()
    };
    let channel = connect_to(&http).await.unwrap();
    let hang_up = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = [0; 4096];
        assert!(stream.read(&mut read).await.unwrap() > 0);
    };
    let (sent, ()) = tokio::join!(channel.outlet.send(request(1, "ping")), hang_up);
    let why = broken(sent);
    assert!(
        why.contains("has not answered: client error (SendRequest): connection closed before message completed"),
        "{why}"
    );
    drop(listener);
    let why = broken(channel.outlet.send(request(1, "ping")).await);
    assert!(
        why.contains("refused") && why.contains("hint: check the URL"),
        "{why}"
    );
    assert!(!why.contains("secret"), "{why}");
    assert_eq!(channel.outlet.epitaph(), why);
}

#[tokio::test]
async fn a_peer_that_does_not_read_holds_the_server_back() {
    let server = Server::start(async |_| {
        let pieces =
            futures::stream::repeat(Bytes::from_static(b"data: {\"method\":\"flood\"}\n\n"));
        stream(pieces)
    })
    .await;
    let mut channel = server.connect().await;
    let sent = tokio::spawn(channel.outlet.send(request(1, "tools/call")));
    let full = async {
        while channel.inlet.len() < 64 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let full = tokio::time::timeout(Duration::from_secs(10), full).await;
    full.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    // All that is kept is what the channel holds.
    assert_eq!(channel.inlet.len(), 64);
    assert!(!sent.is_finished());
    assert!(next(&mut channel).await.contains("flood"));
    drop(channel);
    let why = broken(
        tokio::time::timeout(Duration::from_secs(5), sent)
            .await
            .unwrap()
            .unwrap(),
    );
    assert!(why.contains("closed"), "{why}");
}
