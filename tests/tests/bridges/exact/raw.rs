//! Lines to and from a server or a host, as they are.

use dormouse_tests::Home;
use dormouse_tests::wire::{self, Wire};
use serde_json::json;

use crate::exact::{able, member, request, response};

/// Lines to and from a server or a host, as they are.
pub(super) struct Raw {
    pub(super) wire: Wire,
    pub(super) next: u64,
    /// Result for all requests of the server.
    pub(super) answer: &'static str,
    /// Last request of the server.
    pub(super) asked: String,
}

impl Raw {
    pub(super) fn start(command: &mut std::process::Command) -> Self {
        let mut wire = Wire::spawn(command).unwrap();
        let hello = wire::initialize(able());
        wire.request(0, "initialize", hello).unwrap();
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        wire.send(&ready).unwrap();
        Self::of(wire)
    }

    /// Starts a host without a handshake.
    pub(super) fn stateless(home: &Home) -> Self {
        Self::of(Wire::spawn(&mut home.command(&["serve"])).unwrap())
    }

    pub(super) fn of(wire: Wire) -> Self {
        Self {
            wire,
            next: 1,
            answer: "{}",
            asked: String::new(),
        }
    }

    pub(super) fn say(&mut self, line: &str) {
        self.wire.send_raw(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request, and returns the message that answers it.
    pub(super) fn ask(&mut self, method: &str, params: &str) -> String {
        let id = self.next;
        self.next += 1;
        self.say(&request(id, method, params));
        loop {
            let message = String::from_utf8(self.wire.receive_raw().unwrap()).unwrap();
            match (member(&message, "id"), member(&message, "method")) {
                (Some(answered), None) if answered == id.to_string() => return message,
                (Some(asked), Some(_)) => {
                    self.say(&response(&asked, self.answer));
                    self.asked = message;
                }
                _ => {}
            }
        }
    }
}
