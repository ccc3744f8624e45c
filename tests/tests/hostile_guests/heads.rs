//! A guest whose requests are answered with heads of informational responses (1xx) without end, and that
//! has them open while none of its calls runs.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dormouse_tests::{Client, Home, artifacts};
use serde_json::json;

use super::{Hostile, WELL, good_host, outcomes};

/// Requests that the guest has open.
const REQUESTS: usize = 16;

/// Calls of another server.
const CALLS: usize = 10;

/// Time that has to do with neither, on a machine that does other things besides.
const OTHER_WORK: Duration = Duration::from_secs(2);

/// A host that answers with such heads.
struct EndlessHeads {
    authority: String,
    /// Connections on which they come.
    open: Arc<AtomicUsize>,
    /// Whether they come: what is opened while they do has to wait for them.
    floods: Arc<AtomicBool>,
}

impl EndlessHeads {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let open = Arc::<AtomicUsize>::default();
        let floods = Arc::<AtomicBool>::default();
        let shared = (Arc::clone(&open), Arc::clone(&floods));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (open, floods) = shared.clone();
                std::thread::spawn(move || flood(stream, &open, &floods));
            }
        });
        Self {
            authority,
            open,
            floods,
        }
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Waits until all requests are there, and begins to answer them.
    fn floods_all(&self) {
        self.has_open(REQUESTS, Duration::from_secs(10));
        self.floods.store(true, Ordering::Release);
    }

    /// Waits until all connections have ended.
    fn has_ended(&self, at_most: Duration) {
        self.has_open(0, at_most);
        self.floods.store(false, Ordering::Release);
    }

    /// Waits until so many connections are there.
    fn has_open(&self, count: usize, at_most: Duration) {
        let begun = Instant::now();
        while self.open() != count {
            assert!(begun.elapsed() < at_most, "{} of {count}", self.open());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Takes what comes on one thread, until one of these connections is shut down: as much work for this
    /// machine as where a host reads it.
    fn read_elsewhere(&self) -> Vec<TcpStream> {
        let connect = |_| {
            let mut stream = TcpStream::connect(&self.authority).unwrap();
            stream
                .write_all(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
                .unwrap();
            stream
        };
        let streams: Vec<_> = (0..REQUESTS).map(connect).collect();
        let mut reading: Vec<_> = streams
            .iter()
            .map(|stream| stream.try_clone().unwrap())
            .collect();
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            while reading
                .iter_mut()
                .all(|stream| stream.read(&mut piece).is_ok_and(|read| read > 0))
            {}
        });
        streams
    }
}

/// Answers a request with heads for as long as they are taken.
fn flood(mut stream: TcpStream, open: &AtomicUsize, floods: &AtomicBool) {
    if stream.read(&mut [0; 4096]).unwrap_or_default() == 0 {
        return;
    }
    open.fetch_add(1, Ordering::AcqRel);
    while !floods.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let heads = b"HTTP/1.1 103 X\r\n\r\n".repeat(4096);
    while stream.write_all(&heads).is_ok() {}
    open.fetch_sub(1, Ordering::AcqRel);
}

/// Returns the time that calls of another server and its client's pings take.
fn time_of_others(client: &mut Client, url: &str) -> Duration {
    let begun = Instant::now();
    for _ in 0..CALLS {
        let said = client.text("other__get", json!({ "url": url })).unwrap();
        assert_eq!(said, WELL);
        client.request("ping", json!({})).unwrap();
    }
    begun.elapsed()
}

#[test]
pub(super) fn endless_heads() {
    let (flooding, good) = (EndlessHeads::start(), good_host("127.0.0.1:0"));
    let home = Home::new().unwrap();
    let component = artifacts::hostile_guest("endless_heads").unwrap();
    let well = good.authority();
    let more = format!(
        "instance = 'per-session'\ngrants.http = ['http://{}', 'http://{well}']\nlimits.timeout = '20s'\n",
        flooding.authority
    );
    home.server_with("guest", &component, &more).unwrap();
    let more = format!("grants.http = ['http://{well}']\n");
    home.server_with("other", &component, &more).unwrap();
    let mut client = home.serve().unwrap();
    let url = format!("http://{well}/well");
    time_of_others(&mut client, &url);
    // As much is to be done on this machine, elsewhere than in the host.
    let taken = flooding.read_elsewhere();
    flooding.floods_all();
    let expected = time_of_others(&mut client, &url);
    for stream in taken {
        stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    flooding.has_ended(Duration::from_secs(10));

    let arguments = json!({ "granted": flooding.authority, "other": "/" });
    let opened = outcomes(&client.call("guest__attempt", arguments).unwrap());
    assert_eq!(opened.len(), REQUESTS);
    assert!(opened.iter().all(|one| one.came.is_ok()));
    flooding.floods_all();
    let flooded = time_of_others(&mut client, &url);
    assert!(
        flooded < 5 * expected + OTHER_WORK,
        "{flooded:?} instead of {expected:?}"
    );
    assert_eq!(flooding.open(), REQUESTS, "they are open all the time");
    // Their call has ended, and nobody waits for them any longer than for a call.
    flooding.has_ended(Duration::from_secs(60));
    Hostile { home, client }.ends_well(&well);
}
