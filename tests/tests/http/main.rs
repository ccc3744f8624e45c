//! MCP over HTTP, byte by byte: both eras side by side, authorization, refusals, and the end of a
//! host.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod answers;
mod cancelled;
mod profiles;
mod refused;
mod sessions;
mod stopped;
mod tokens;

use std::time::{Duration, Instant};

use dormouse_tests::Home;
use dormouse_tests::http::{Request, Server};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

fn home(guests: &[&str]) -> Home {
    let home = Home::new().unwrap();
    home.guests(guests).unwrap();
    home
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Returns the status of the answer, and the code of the JSON-RPC error that it is.
fn refusal(server: &Server, request: &Request) -> (u16, Value) {
    let mut answer = server.ask(request).unwrap();
    let status = answer.status;
    let messages = answer.messages().unwrap();
    (status, messages.last().unwrap()["error"]["code"].clone())
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < 20 * SECOND, "{what}: it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn running(home: &Home, server: &str) -> u64 {
    let status = home.server_status(server).unwrap();
    status["running"].as_u64().unwrap()
}
