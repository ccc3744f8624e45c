//! The guests of `tests/hostile-guests`: each tries to reach what it is not granted, canaries receive
//! nothing, and a good request goes through afterwards. A test has the name of its guest.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod addresses;
mod canary;
mod heads;
mod memory;
mod own_network;
mod questions;
mod requests;
mod secrets;

use std::time::Duration;

use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

use addresses::*;
use heads::*;
use memory::*;
use questions::*;
use requests::*;
use secrets::*;

/// Does not compile while a guest has no test of its name.
macro_rules! every_guest_has_a_test {
    ($($name:ident,)*) => {
        const _: &[fn()] = &[$($name),*];
    };
}
dormouse_hostile_guests::foreach_hostile_guest!(every_guest_has_a_test);

/// What a host answers to a good request.
const WELL: &str = "it is well";

/// A try of a guest, and what came of it.
struct Outcome {
    tried: String,
    came: Result<String, String>,
}

/// A host with one guest, whose server is called `guest`.
struct Hostile {
    home: Home,
    client: Client,
}

impl Hostile {
    /// Starts a host with a guest, and these lines of TOML in its server's table.
    fn start(guest: &str, more: &str) -> Self {
        let home = Home::new().unwrap();
        let component = artifacts::hostile_guest(guest).unwrap();
        home.server_with("guest", &component, more).unwrap();
        let client = home.serve().unwrap();
        Self { home, client }
    }

    /// Starts a host whose guest is granted requests to these hosts.
    fn granted(guest: &str, grants: &[&str]) -> Self {
        Self::start(guest, &format!("grants.http = {}", json!(grants)))
    }

    /// Lets the guest try all that it is there for.
    fn attempt(&mut self, granted: &str, other: &str) -> Vec<Outcome> {
        let arguments = json!({ "granted": granted, "other": other });
        let result = self.client.call("guest__attempt", arguments).unwrap();
        outcomes(&result)
    }

    /// Checks that a good request of the guest goes through, and that the host ends as it should.
    fn ends_well(mut self, granted: &str) {
        let url = format!("http://{granted}/well");
        let said = self.client.text("guest__get", json!({ "url": url }));
        assert_eq!(said.unwrap(), WELL);
        assert!(self.client.close(Duration::from_secs(6)).unwrap().success());
    }
}

/// Reads what a guest says.
fn outcomes(result: &Value) -> Vec<Outcome> {
    assert_ne!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let read: Value = serde_json::from_str(text).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let list = read.get("result").unwrap_or(&read).as_array().unwrap();
    let outcome = |one: &Value| Outcome {
        tried: text(&one["tried"]),
        came: match one["came"].get("ok") {
            Some(ok) => Ok(text(ok)),
            None => Err(text(&one["came"]["err"])),
        },
    };
    list.iter().map(outcome).collect()
}

/// Checks that each try was refused in words, or that no request could be made of it.
fn all_refused(outcomes: &[Outcome]) {
    assert!(!outcomes.is_empty());
    for Outcome { tried, came } in outcomes {
        let Err(error) = came else {
            panic!("`{tried}` was answered: {came:?}");
        };
        let is_none = error.starts_with("no ");
        assert!(
            is_none || error.contains("was refused: "),
            "{tried}: {error}"
        );
    }
}

/// Starts a host that answers all requests well.
fn good_host(address: &str) -> RecordingHost {
    RecordingHost::start_at(address, |_| http("200 OK", "", WELL)).unwrap()
}
