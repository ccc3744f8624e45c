//! Guests that are after the text of a secret, their own or that of another plugin.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Home, artifacts};
use serde_json::json;

use super::{Hostile, Outcome, WELL, outcomes};

/// Text of the secret, in two parts, so that it is nowhere by itself.
pub(super) const CANARY: (&str, &str) = ("c4nary-", "secret-of-a-hostile-guest");

pub(super) fn canary() -> String {
    format!("{}{}", CANARY.0, CANARY.1)
}

/// Starts a host that says back all that it is sent, but a good request.
pub(super) fn repeating() -> RecordingHost {
    RecordingHost::start(|request| match request.starts_with("GET /well") {
        true => http("200 OK", "", WELL),
        false => {
            let header = request
                .lines()
                .find(|line| line.starts_with("authorization: "));
            let header = header
                .map(|line| format!("x-{line}\r\n"))
                .unwrap_or_default();
            http("200 OK", &header, request)
        }
    })
    .unwrap()
}

/// Lines of TOML that grant requests to both hosts, with a secret for the first.
fn with_secret(own: &RecordingHost, other: &RecordingHost) -> String {
    let (own, other) = (own.authority(), other.authority());
    format!(
        "grants.http = ['http://{own}', 'http://{other}']\n\
         secrets.token = {{ command = ['printf', '%s%s', '{}', '{}'], hosts = ['http://{own}'], placeholder = 'TOKEN' }}\n",
        CANARY.0, CANARY.1
    )
}

/// Lets a guest with a placeholder try its requests. Returns what its secret's host and another one
/// have received.
fn tried(guest: &str) -> (Vec<String>, Vec<String>) {
    let (own, other) = (repeating(), repeating());
    let mut guest = Hostile::start(guest, &with_secret(&own, &other));
    let said = guest.attempt(&own.authority(), &other.authority());
    assert!(!said.is_empty());
    for Outcome { tried, came } in &said {
        let said = came.as_ref().unwrap_or_else(|error| error);
        assert!(!said.contains(&canary()), "{tried}: {said}");
    }
    let received = (own.received(), other.received());
    guest.ends_well(&own.authority());
    received
}

/// Checks that a host has received requests, none with the secret, and as many with a placeholder.
fn have_placeholders(received: &[String]) {
    assert!(!received.is_empty());
    for request in received {
        assert!(!request.contains(&canary()), "{request}");
        assert!(request.contains("dormouse-placeholder-"), "{request}");
    }
}

#[test]
pub(super) fn placeholder_to_another_host() {
    let (own, other) = tried("placeholder_to_another_host");
    assert_eq!(own, [""; 0]);
    have_placeholders(&other);
}

#[test]
pub(super) fn placeholder_in_body() {
    let (own, _) = tried("placeholder_in_body");
    assert_eq!(own.len(), 3);
    have_placeholders(&own);
}

#[test]
pub(super) fn placeholder_in_path() {
    let (own, _) = tried("placeholder_in_path");
    assert_eq!(own.len(), 4);
    have_placeholders(&own);
}

#[test]
pub(super) fn placeholder_in_another_header() {
    let (own, _) = tried("placeholder_in_another_header");
    have_placeholders(&own);
}

#[test]
pub(super) fn placeholder_split() {
    let (own, _) = tried("placeholder_split");
    assert!(own.len() >= 5, "{own:?}");
    for request in own {
        assert!(!request.contains(&canary()), "{request}");
    }
}

#[test]
pub(super) fn other_plugins_secret() {
    let (own, other) = (repeating(), repeating());
    let mut guest = Hostile::start(
        "other_plugins_secret",
        "grants.http = ['http://127.0.0.1:1']",
    );
    drop(guest.attempt("127.0.0.1:1", ""));
    let Hostile { home, client } = guest;
    drop(client);
    // One with a secret, and one that knows the placeholder of that.
    let component = |name: &str| artifacts::hostile_guest(name).unwrap();
    let grants = format!("grants.http = ['http://{}']", own.authority());
    home.server_with(
        "owner",
        &component("placeholder_in_body"),
        &with_secret(&own, &other),
    )
    .unwrap();
    home.server_with("thief", &component("other_plugins_secret"), &grants)
        .unwrap();
    let mut client = home.serve().unwrap();
    let arguments = json!({ "granted": own.authority(), "other": "" });
    client.call("owner__attempt", arguments).unwrap();
    let sent = own.received().concat();
    let (_, rest) = sent.split_once("dormouse-placeholder-").unwrap();
    let placeholder = format!("dormouse-placeholder-{}", &rest[..32]);
    let before = own.received().len();
    let arguments = json!({ "granted": own.authority(), "other": placeholder });
    let result = client.call("thief__attempt", arguments).unwrap();
    for Outcome { tried, came } in outcomes(&result) {
        let said = came.unwrap();
        assert!(!said.contains(&canary()), "{tried}: {said}");
        assert!(tried != "variables" || said == "[]", "{said}");
    }
    let received = own.received();
    assert_eq!(received.len(), before + 2);
    for request in &received[before..] {
        assert!(!request.contains(&canary()), "{request}");
    }
    assert!(received[before].contains(&placeholder));
    let guest = Hostile { home, client };
    well_of(guest, "owner", &own.authority());
}

/// Checks that a good request of a server goes through, and that the host ends as it should.
fn well_of(mut guest: Hostile, server: &str, granted: &str) {
    let url = json!({ "url": format!("http://{granted}/well") });
    let said = guest.client.text(&format!("{server}__get"), url);
    assert_eq!(said.unwrap(), WELL);
    assert!(
        guest
            .client
            .close(Duration::from_secs(6))
            .unwrap()
            .success()
    );
}

/// Requests, each with the number of the connection that it came on.
type Heard = Arc<Mutex<Vec<(usize, String)>>>;

/// A host that keeps its connections, and says on which one it has heard what.
fn keeping() -> (String, Heard) {
    use std::io::{Read as _, Write as _};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let authority = listener.local_addr().unwrap().to_string();
    let heard = Heard::default();
    let all = heard.clone();
    std::thread::spawn(move || {
        for (number, mut stream) in listener.incoming().flatten().enumerate() {
            let all = all.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut buffer) {
                    let request = String::from_utf8_lossy(&buffer[..read]).into_owned();
                    all.lock().unwrap().push((number, request));
                    let length = WELL.len();
                    let answer =
                        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{WELL}");
                    let _ = stream.write_all(answer.as_bytes());
                }
            });
        }
    });
    (authority, heard)
}

#[test]
pub(super) fn other_plugins_connections() {
    let (granted, heard) = keeping();
    let home = Home::new().unwrap();
    let component = artifacts::hostile_guest("other_plugins_connections").unwrap();
    for server in ["one", "two"] {
        let header = format!(
            "grants.http = ['http://{granted}']\n\
             secrets.of = {{ command = ['printf', 'of-{server}-'], hosts = ['http://{granted}'], header = 'X-Of', value = '{{}}' }}\n"
        );
        home.server_with(server, &component, &header).unwrap();
    }
    let mut client = home.serve().unwrap();
    for server in ["one", "two", "one", "two"] {
        let arguments = json!({ "granted": granted, "other": "" });
        let result = client
            .call(&format!("{server}__attempt"), arguments)
            .unwrap();
        for Outcome { tried, came } in outcomes(&result) {
            assert!(came.is_ok(), "{tried}: {came:?}");
        }
    }
    let of = |server: &str| -> BTreeSet<usize> {
        let mark = format!("of-{server}-");
        let heard = heard.lock().unwrap();
        let own = heard.iter().filter(|(_, request)| request.contains(&mark));
        own.map(|(connection, _)| *connection).collect()
    };
    let (one, two) = (of("one"), of("two"));
    assert!(!one.is_empty() && !two.is_empty());
    assert!(one.is_disjoint(&two), "{one:?} {two:?}");
    // Connections are kept, so that there were some to be had.
    assert!(one.len() < 6, "{one:?}");
    well_of(Hostile { home, client }, "one", &granted);
}
