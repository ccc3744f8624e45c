use dormouse_egress::PluginSecrets;
use dormouse_policy::Grants;
use dormouse_tests::logged::logged;

use super::*;
use crate::sandbox::GivenSecrets;

fn gate() -> NetworkGate {
    let limits = Limits {
        http_requests: 2,
        http_bytes: 10,
        ..Limits::default()
    };
    let granted = ["GET https://granted.example".parse().unwrap()];
    let http = Arc::new(GrantedHttp::new(&granted, PluginSecrets::default()));
    let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
    let output = InstanceOutput::new("net", 1000, secrets);
    NetworkGate::new("net", output, http, &limits)
}

/// Judges a request that is denied, and refuses it.
fn refused(gate: &NetworkGate, method: &str, url: &str) -> String {
    let denied = gate.judge(method, url).err().unwrap();
    gate.refuse_request(&denied)
}

#[test]
fn a_refusal_names_what_was_to_be_reached_and_nothing_secret_of_it() {
    let long = "x".repeat(10_000);
    for (destination, expected) in [
        (
            Destination::Name("a.example"),
            "a lookup of the name `a.example` was refused: ",
        ),
        (Destination::Tcp, "a TCP socket was refused: "),
        (Destination::Udp, "a UDP socket was refused: "),
    ] {
        let gate = gate();
        let reason = gate.refuse(destination);
        assert!(reason.starts_with(expected), "{reason}");
        assert!(reason.contains("plugins have no sockets"), "{reason}");
        assert_eq!(gate.refused(), Some(reason));
        gate.begin();
        assert_eq!(gate.refused(), None);
    }
    assert!(gate().refuse(Destination::Name(&long)).len() < 600);
    for (url, expected) in [
        (
            "https://a.example:8080/x?key=secret",
            "an HTTP request to `https://a.example:8080` was refused: server `net`: it is not \
                 granted\n\
                 hint: `dormouse grant net --grant-http https://a.example:8080` allows it",
        ),
        (
            "https://me:secret@a.example",
            "an HTTP request to `https://a.example` was refused: its URL has a user name",
        ),
        (
            "https://a\u{1b}[1m",
            r"an HTTP request to `https://a\u{1b}[1m` was refused: its URL is none",
        ),
        (
            "http://granted.example/",
            "an HTTP request to `http://granted.example` was refused: server `net`: it is not",
        ),
    ] {
        let gate = gate();
        let reason = refused(&gate, "GET", url);
        assert!(reason.starts_with(expected), "{reason}");
        assert!(!reason.contains("secret"), "{reason}");
        assert_eq!(gate.refused(), Some(reason));
    }
    let long = format!("https://granted.example/{}", "x".repeat(MAX_URL_BYTES));
    assert!(gate().judge("GET", &long).is_err());
    assert!(gate().judge("POST", "https://granted.example/").is_err());
    assert!(gate().judge("GET", "https://granted.example/").is_ok());
}

#[test]
fn methods_that_tunnel_or_are_huge_are_refused_however_they_are_written() {
    let limits = Limits::default();
    let granted = ["https://granted.example".parse().unwrap()];
    let http = Arc::new(GrantedHttp::new(&granted, PluginSecrets::default()));
    let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
    let output = InstanceOutput::new("net", 1000, secrets);
    let gate = NetworkGate::new("net", output, http, &limits);
    let url = "https://granted.example/";
    for (method, expected) in [
        ("CONNECT", "no plugin sends a request of that method"),
        ("connect", "no plugin sends a request of that method"),
        ("Trace", "no plugin sends a request of that method"),
        (&"X".repeat(65), "its method has more than 64 bytes"),
    ] {
        let reason = refused(&gate, method, url);
        assert!(reason.contains(expected), "{method}: {reason}");
    }
    for method in ["GET", "UPDATEREDIRECTREF", &"X".repeat(64)] {
        assert!(gate.judge(method, url).is_ok(), "{method}");
    }
}

#[test]
fn a_call_sends_and_reads_so_much_and_no_more() {
    let gate = gate();
    for _ in 0..2 {
        assert_eq!([(); 2].map(|()| gate.take_request()), [Ok(()), Ok(())]);
        let refused = gate.take_request().unwrap_err();
        assert!(refused.contains("more than 2 HTTP requests"), "{refused}");
        assert_eq!(gate.take_bytes(10), Ok(()));
        let refused = gate.take_bytes(1).unwrap_err();
        assert!(
            refused.contains("`http_bytes` in `[servers.net.limits]`"),
            "{refused}"
        );
        assert_eq!(gate.refused(), Some(refused));
        gate.begin();
    }
}

#[test]
fn each_destination_is_logged_once_and_only_so_many() {
    let (lines, _guard) = logged();
    let gate = gate();
    for _ in 0..100 {
        gate.refuse(Destination::Tcp);
    }
    assert_eq!(lines.lines().len(), 1, "{:?}", lines.lines());
    for number in 0..100 {
        refused(&gate, "GET", &format!("https://host{number}.example"));
    }
    assert_eq!(lines.lines().len(), MAX_LOGGED_DESTINATIONS);
    let expected = "server `net`: an HTTP request to `https://host0.example`";
    assert!(lines.lines()[1].contains(expected));
}

/// What is granted for longer is no reason to end an instance.
#[test]
fn what_is_granted_for_one_call_is_granted_for_no_other() {
    let gate = gate();
    let is_granted = |method| gate.judge(method, "https://granted.example/").is_ok();
    assert!(is_granted("GET") && !gate.has_granted_once());
    gate.grant_once("https://granted.example".parse().unwrap());
    assert!(is_granted("POST") && gate.has_granted_once());
    gate.begin();
    assert!(!is_granted("POST") && is_granted("GET") && !gate.has_granted_once());
}
