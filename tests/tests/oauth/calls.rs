//! Calls of servers that want a login.

use std::process::Stdio;

use dormouse_tests::oauth::{self, Server};
use dormouse_tests::{artifacts, client, kept_login};
use serde_json::json;

use crate::{Waiting, home, logins, run};

#[test]
fn a_call_that_needs_more_than_was_allowed() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    assert!(login.end().0);
    assert!(home.run(&["sync", "notes"]).unwrap().status.success());

    let mut host = home.serve().unwrap();
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    let refused = host.call("notes__admin", json!({})).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let text = client::text(&refused).unwrap();
    let link = text.lines().find(|line| line.starts_with("http")).unwrap();
    // What there was is asked for again: the new token takes the old one's place.
    assert!(link.contains("scope=notes+admin"), "{link}");
    // What there was is still good, until the user has decided.
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    oauth::get(link).unwrap();
    let answer = host.call("notes__admin", json!({})).unwrap();
    assert_eq!(
        answer["structuredContent"]["scopes"],
        json!(["notes", "admin"])
    );
    assert_eq!(server.count("authorizations").unwrap(), 2);
}

#[test]
fn a_call_that_needs_a_login() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let output = home.run(&["sync", "notes"]).unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success());
    assert!(told.contains("`dormouse login notes`"), "{told}");
    // Whoever looks later is sent to the same command.
    for command in ["list", "status", "doctor"] {
        let (_, told) = run(&home, &[command]);
        assert!(told.contains("`dormouse login notes`"), "{command}: {told}");
        assert!(!told.contains("never asked"), "{command}: {told}");
        assert!(!told.contains("`dormouse sync notes`"), "{command}: {told}");
    }
    // Nobody has begun anything: that is for a call, or for the user.
    assert_eq!(server.count("registrations").unwrap(), 0);

    // A link of a command that has ended leads back to nobody.
    let is_sent_to_login = |tool: &str| {
        let output = home.run(&["call", "notes", tool]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let words = "`dormouse login notes` gives a link and waits";
        assert!(said.contains(words), "{said}");
        assert!(
            !said.contains("redirect_uri") && !said.contains("open this link"),
            "{said}"
        );
    };
    is_sent_to_login("discover");
    assert_eq!(server.count("registrations").unwrap(), 0);

    let mut host = home.serve().unwrap();
    assert_eq!(server.count("registrations").unwrap(), 0);
    let refused = host.call("notes__discover", json!({})).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let text = client::text(&refused).unwrap();
    let link = text.lines().find(|line| line.starts_with("http")).unwrap();
    oauth::get(link).unwrap();
    let found = host.call("notes__discover", json!({})).unwrap();
    assert_ne!(found["isError"], json!(true), "{found}");
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    drop(host);
    assert!(home.run(&["logout", "notes"]).unwrap().status.success());
    is_sent_to_login("whoami");
}

#[test]
fn a_component_is_not_given_the_link_of_its_upstreams_login() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let front = artifacts::guest("front").unwrap();
    let config = std::fs::read_to_string(home.config()).unwrap();
    let config = format!("{config}component = '{}'\n", front.display());
    std::fs::write(home.config(), config).unwrap();
    let mut host = home.serve().unwrap();
    let params = json!({ "name": "whoami", "arguments": {} }).to_string();
    let asked = json!({ "method": "tools/call", "params": params });
    let told = host.text("notes__tell", asked.clone()).unwrap();
    assert!(told.contains("`dormouse login notes`"), "{told}");
    assert!(!told.contains("state=") && !told.contains("http"), "{told}");
    // The user of the call is, where it has failed for want of that.
    let text = host.error("notes__hand_on", asked.clone()).unwrap();
    let link = text.lines().find(|line| line.starts_with("http")).unwrap();
    oauth::get(link).unwrap();
    let told = host.text("notes__tell", asked).unwrap();
    assert!(told.contains(r#""scopes":["notes"]"#), "{told}");
}

#[test]
fn two_hosts_at_once_renew_a_token_once() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    assert!(login.end().0);
    assert!(home.run(&["sync", "notes"]).unwrap().status.success());

    let file = &logins(&home)[0];
    let mut kept = kept_login::read(file).unwrap();
    kept["credentials"]["token_received_at"] = json!(0);
    kept_login::write(file, &kept).unwrap();
    let calls = [0, 1, 2].map(|_| {
        let mut call = home.command(&["call", "notes", "whoami"]);
        call.stdout(Stdio::piped()).stderr(Stdio::piped());
        call.spawn().unwrap()
    });
    for call in calls {
        let output = call.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(server.count("refreshes").unwrap(), 1);
    assert_eq!(server.count("refused refreshes").unwrap(), 0);
}
