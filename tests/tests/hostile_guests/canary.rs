//! Canaries: hosts that are there to be heard nothing by.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use dormouse_tests::recording_host::{RecordingHost, http};

/// Time that a host may take to see a connection that was made.
const PATIENCE: Duration = Duration::from_secs(20);

/// Hosts at addresses that nobody may reach.
pub(super) struct Canaries(Vec<(SocketAddr, RecordingHost)>);

impl Canaries {
    /// Starts one at each of these addresses, all at one port; with 0, at ports that are free.
    pub(super) fn start(addresses: &[&str], port: u16) -> Self {
        let start = |address: &&str| {
            let address = SocketAddr::new(address.parse().unwrap(), port);
            let answer = http("200 OK", "", "the canary has heard you");
            let host = RecordingHost::start_at(address, move |_| answer.clone());
            let host = host.unwrap_or_else(|error| panic!("no canary at {address}: {error}"));
            let address = SocketAddr::new(address.ip(), host.port());
            (address, host)
        };
        Self(addresses.iter().map(start).collect())
    }

    /// Returns the host and the port of the first one, as a URL has them.
    pub(super) fn authority(&self) -> String {
        self.0[0].0.to_string()
    }

    /// Checks that nobody has connected to any of them but this test, which does so now: what came
    /// before it would have been seen before it.
    pub(super) fn heard_nothing(&self) {
        for (address, host) in &self.0 {
            drop(TcpStream::connect(address).unwrap());
            let start = Instant::now();
            while host.received().is_empty() {
                assert!(
                    start.elapsed() < PATIENCE,
                    "the canary at {address} is deaf"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(host.received(), [""], "the canary at {address}");
        }
    }
}
