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
        let why = broken(channel.sender.send(request(1, method)).await);
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
    let why = broken(channel.sender.send(request(1, "tools/call")).await);
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
    let why = broken(channel.sender.send(request(1, "tools/call")).await);
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
        let sent = channel.sender.send(message);
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
    let (sent, ()) = tokio::join!(channel.sender.send(request(1, "ping")), hang_up);
    let why = broken(sent);
    assert!(
        why.contains("has not answered: client error (SendRequest): connection closed before message completed"),
        "{why}"
    );
    drop(listener);
    let why = broken(channel.sender.send(request(1, "ping")).await);
    assert!(
        why.contains("refused") && why.contains("hint: check the URL"),
        "{why}"
    );
    assert!(!why.contains("secret"), "{why}");
    assert_eq!(channel.sender.end_reason(), why);
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
    let sent = tokio::spawn(channel.sender.send(request(1, "tools/call")));
    let full = async {
        while channel.incoming.len() < 64 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let full = tokio::time::timeout(Duration::from_secs(10), full).await;
    full.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    // All that is kept is what the channel holds.
    assert_eq!(channel.incoming.len(), 64);
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

/// Server whose answers are heads of informational responses without end.
struct EndlessHeads {
    url: reqwest::Url,
    /// Something for each 64 KiB of them that were taken, until a connection ends.
    taken: std::sync::mpsc::Receiver<()>,
}

impl EndlessHeads {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, taken) = std::sync::mpsc::channel();
        // Its own thread: the runtime of the test is what is to be free.
        std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            let head = format!("HTTP/1.1 103 X\r\nx: {}\r\n\r\n", "x".repeat(1000));
            let heads = head.repeat(64);
            while stream.write_all(heads.as_bytes()).is_ok() {
                let _ = sender.send(());
            }
        });
        let url = reqwest::Url::parse(&url).unwrap();
        Self { url, taken }
    }

    /// Checks that what asks it leaves this thread to others, and ends with its asker.
    async fn keeps_nothing_waiting<T: Send + 'static>(
        self,
        asking: impl Future<Output = T> + Send + 'static,
    ) {
        let asking = tokio::spawn(asking);
        // Some thousands of heads have been taken.
        let mut taken = 0;
        while taken < 100 {
            taken += self.taken.try_iter().count();
            tokio::task::yield_now().await;
        }
        // On one thread with the reading, each of these turns would come after some megabytes of
        // heads.
        let turns = async {
            for _ in 0..10_000 {
                tokio::task::yield_now().await;
            }
        };
        let a_minute = Duration::from_secs(60);
        tokio::time::timeout(a_minute, turns).await.unwrap();
        assert!(!asking.is_finished());
        // Who gives up ends the connection.
        asking.abort();
        assert!(asking.await.is_err_and(|error| error.is_cancelled()));
        let ended = async {
            while self.taken.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(a_minute, ended).await.unwrap();
    }
}

/// Heads of informational responses are read without a pause, for as long as they come.
#[tokio::test]
async fn heads_without_end_keep_nothing_else_waiting() {
    let server = EndlessHeads::start();
    let client = dormouse_egress::client(&server.url, dormouse_egress::Reach::Configured).unwrap();
    let request = client.get(server.url.clone()).build().unwrap();
    let asking = async move {
        let sending = client.execute(request);
        dormouse_egress::on_upstream_reading_thread("floods", sending).await
    };
    server.keeps_nothing_waiting(asking).await;
}

/// Whoever wants a login names where it is to be had.
#[tokio::test]
async fn nor_do_those_of_a_server_of_logins() {
    let server = EndlessHeads::start();
    let http = Http {
        url: server.url.to_string(),
        ..Http::default()
    };
    let data = tempfile::tempdir().unwrap();
    let auth = crate::auth::Auth::new("floods", &http, data.path());
    let challenge = format!("Bearer resource_metadata=\"{}\"", server.url);
    let asking = async move { auth.begin(Some(&challenge)).await.is_ok() };
    server.keeps_nothing_waiting(asking).await;
}
