//! Hosts whose answers are heads of informational responses without end.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use futures::FutureExt as _;

use super::*;

/// Time that what has to come may take.
const A_MINUTE: Duration = Duration::from_secs(60);

/// Starts such a host of one request. Returns its origin, and what gets something for each 64 KiB of them
/// that were taken, until the connection ends.
fn endless_host() -> (String, mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let (sender, taken) = mpsc::channel();
    // The runtime of the test is what is to be free.
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        let head = format!("HTTP/1.1 103 X\r\nx: {}\r\n\r\n", "x".repeat(1000));
        let heads = head.repeat(64);
        while stream.write_all(heads.as_bytes()).is_ok() {
            let _ = sender.send(());
        }
    });
    (origin, taken)
}

/// They are read without a pause, for as long as they come.
#[tokio::test]
async fn heads_without_end_keep_nothing_else_waiting() {
    let (origin, taken) = endless_host();
    let grants = [origin.parse().unwrap()];
    let http = GrantedHttp::new(&grants, PluginSecrets::default());
    let http = http.in_room(RequestRoom::new("endless-heads"));
    let url = Url::parse(&origin).unwrap();
    let reach = http.reach("GET", &url, &[]).unwrap();
    let request = PluginHttpRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: http_body_util::Empty::new(),
        open: http.open().await.unwrap(),
    };
    let asking = tokio::spawn(async move { http.send(request, reach, || false).await.is_ok() });
    // Some thousands of heads have been taken.
    let mut count = 0;
    while count < 100 {
        count += taken.try_iter().count();
        tokio::task::yield_now().await;
    }
    // On one thread with the reading, each of these turns would come after some megabytes of heads.
    let turns = async {
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(A_MINUTE, turns).await.unwrap();
    assert!(!asking.is_finished());
    // Who gives up ends the connection.
    asking.abort();
    assert!(asking.await.is_err_and(|error| error.is_cancelled()));
    let ended = async {
        while taken.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(A_MINUTE, ended).await.unwrap();
}

/// The thread on which a connection is read is not the one on which its response is used.
#[tokio::test]
async fn a_response_is_read_where_its_plugin_is() {
    use http_body_util::BodyExt as _;

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let pieces = 1000;
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head).unwrap();
        for _ in 0..pieces {
            stream.write_all(b"3\r\nyes\r\n").unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
    });
    let http = granted(&[&origin]).in_room(RequestRoom::new("bodies"));
    let url = Url::parse(&origin).unwrap();
    let reach = http.reach("POST", &url, &[]).unwrap();
    let request = PluginHttpRequest {
        method: Method::POST,
        url,
        headers: HeaderMap::new(),
        body: http_body_util::Full::new(Bytes::from_static(b"x")),
        open: http.open().await.unwrap(),
    };
    let response = http.send(request, reach, || false).await.unwrap();
    let reading = tokio::time::timeout(A_MINUTE, response.into_body().collect());
    let body = reading.await.unwrap().unwrap().to_bytes();
    assert_eq!(body, "yes".repeat(pieces));
}

/// The thread that carries it out has much else to do, and until then it takes memory.
#[tokio::test]
async fn a_request_that_nobody_waits_for_has_its_room_until_it_has_ended() {
    let http = granted(&["http://localhost:1"]).in_room(RequestRoom::new("dropped"));
    let (free, busy) = mpsc::channel::<()>();
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let keeping_busy = on_plugin_reading_thread("dropped", async move {
        begun.send(()).unwrap();
        busy.recv()
    });
    let keeping_busy = tokio::spawn(keeping_busy);
    has_begun.await.unwrap();
    let mut rest = Vec::new();
    let open = http.open().await.unwrap();
    while let Some(one) = tokio::task::unconstrained(http.open()).now_or_never() {
        rest.push(one);
    }
    let url = Url::parse("http://localhost:1/").unwrap();
    let reach = http.reach("GET", &url, &[]).unwrap();
    let request = PluginHttpRequest {
        method: Method::GET,
        url,
        headers: HeaderMap::new(),
        body: http_body_util::Empty::new(),
        open,
    };
    let mut asking = Box::pin(http.send(request, reach, || false));
    assert!(futures::poll!(&mut asking).is_pending());
    drop(asking);
    tokio::task::yield_now().await;
    assert!(
        tokio::task::unconstrained(http.open())
            .now_or_never()
            .is_none()
    );
    drop(free);
    let room = tokio::time::timeout(A_MINUTE, http.open()).await;
    assert!(room.unwrap().is_some());
    assert!(keeping_busy.await.unwrap().is_err());
}
