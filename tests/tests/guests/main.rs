//! The guests of `tests/guests`: the host survives each of them, and tells what has happened. After
//! each, a good call to the same host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod adapter;
mod asked_grants;
mod asked_inputs;
mod asked_secrets;
mod asker;
mod bench;
mod blobs;
mod bomb;
mod c_names;
mod confirmed_grants;
mod counter;
mod echo;
mod exit;
mod flood;
mod folders;
mod forge;
mod front;
mod granted_http;
mod http;
mod http_grants;
#[cfg(unix)]
mod http_secrets;
mod huge;
mod keeper;
mod library;
mod long_name;
mod loud;
mod multibyte;
mod odd_code;
mod outside;
mod painter;
mod panics;
mod plugin_inputs;
mod readme;
mod replaced_file;
mod reporter;
mod session_answers;
mod shelf;
mod sleep;
mod spin;
#[cfg(unix)]
mod stored_secrets;
mod taken_away;
#[cfg(unix)]
mod terminal;
mod tidy;
mod trap;

use std::time::{Duration, Instant};

use dormouse_tests::{Client, Home, client, processes};
use serde_json::{Value, json};

/// Host with a guest, and with another one that behaves.
struct Host {
    home: Home,
    client: Client,
}

impl Host {
    fn with(guest: &str) -> Self {
        Self::with_more(guest, "")
    }

    /// Starts a host, with more lines of TOML for the guest.
    fn with_more(guest: &str, more: &str) -> Self {
        let home = Home::new().unwrap();
        home.server_with(
            guest,
            &dormouse_tests::artifacts::guest(guest).unwrap(),
            more,
        )
        .unwrap();
        home.server("good", &dormouse_tests::artifacts::guest("echo").unwrap())
            .unwrap();
        let client = home.serve().unwrap();
        Self { home, client }
    }

    /// Returns the tools of the guest.
    fn tools(&mut self) -> Vec<Value> {
        let mut tools = self.client.tools().unwrap();
        tools.retain(|tool| !tool["name"].as_str().unwrap().starts_with("good__"));
        tools
    }

    /// Checks that the host answers a good call, and ends when it is told to.
    fn stays_well(mut self) {
        assert_eq!(
            self.client
                .text("good__echo", json!({ "text": "well" }))
                .unwrap(),
            "well"
        );
        // Whatever was wrong is not in the way of a tidy end.
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }

    /// Checks that the error of a call names the server, the tool, and the cause.
    fn fails(&mut self, tool: &str, arguments: Value, cause: &str) -> String {
        let error = self.client.error(tool, arguments).unwrap();
        let (server, name) = tool.split_once("__").unwrap();
        for part in [server, name, cause] {
            assert!(error.contains(part), "no `{part}` in `{error}`");
        }
        error
    }
}

/// Tests of the guest `network` are all in there.
use self::outside as network;
/// Guests that both make HTTP requests.
#[allow(unused_imports, reason = "only to see that their tests are there")]
use self::{http as waki, http as wstd};

/// Does not compile while a guest has no module here.
macro_rules! every_guest_has_a_test {
    ($($name:ident,)*) => {
        $(#[allow(unused_imports, reason = "only to see that it is there")]
        use self::$name as _;)*
    };
}
dormouse_guests::foreach_guest!(every_guest_has_a_test);

/// Packs a guest whose world asks for grants, as lines of its documentation, and returns its file.
fn packed_asking(home: &Home, guest: &str, requests: &str, name: &str) -> String {
    let artifacts = dormouse_tests::artifacts::workspace();
    let wit = std::fs::read_to_string(artifacts.join("tests/guests/wit/guests.wit")).unwrap();
    let world = format!("\nworld {guest} {{");
    let asking = wit.replace(&world, &format!("\n{requests}{}", world.trim_start()));
    assert_ne!(asking, wit);
    let file = home.path().join("guests.wit");
    std::fs::write(&file, asking).unwrap();
    let component = dormouse_tests::artifacts::guest(guest).unwrap();
    let packed = home.path().join(format!("plugins/{name}.wasm"));
    let words = [&component, &file, &packed];
    let [component, wit, packed] = words.map(|path| path.to_str().unwrap().to_owned());
    let pack = [
        "pack", &component, "--wit", &wit, "--world", guest, "-o", &packed,
    ];
    let output = home.run(&pack).unwrap();
    assert!(output.status.success(), "{output:?}");
    packed
}

/// Waits until something is so, for as long as a slow machine may need.
fn wait_for(so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < client::PATIENCE, "still not so");
        std::thread::sleep(Duration::from_millis(20));
    }
}
