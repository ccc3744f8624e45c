//! Guests that reach for hosts at addresses and under names that they are not granted.

use std::net::{IpAddr, UdpSocket};

use dormouse_tests::name_server::NameServer;
use dormouse_tests::recording_host::{RecordingHost, http};

use super::canary::Canaries;
use super::own_network::in_own_network;
use super::{Hostile, Outcome, WELL, all_refused, good_host};

/// Addresses that the network of a test has, and that are none of the internet's.
const PRIVATE: [&str; 16] = [
    "127.0.0.1",
    "127.255.255.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "198.18.0.1",
    "::1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "fd00::1",
    "127.0.0.2",
    "10.1.2.3",
    "192.168.255.254",
];

/// Host of the internet, as far as anybody in the network can tell; for whoever has a pattern granted
/// it is this machine.
const GOOD: &str = "93.184.0.34";

/// Another one.
const EVIL: &str = "93.184.0.66";

fn ip(address: &str) -> IpAddr {
    address.parse().unwrap()
}

#[test]
pub(super) fn private_addresses() {
    in_own_network(|| {
        let good = good_host("93.184.0.34:8080");
        let canaries = Canaries::start(&[&PRIVATE[..], &[EVIL]].concat(), 8080);
        let grants = ["http://*:8080", "http://93.184.0.34:8080"];
        let mut guest = Hostile::granted("private_addresses", &grants);
        let outcomes = guest.attempt(&good.authority(), "canary:8080");
        all_refused(&outcomes);
        canaries.heard_nothing();
        guest.ends_well(&good.authority());
    });
}

#[test]
pub(super) fn names_of_private_addresses() {
    in_own_network(|| {
        let _names = NameServer::start(|name, _| match name {
            "good.example" => vec![ip(GOOD)],
            "mapped.example" => vec![ip("::ffff:127.0.0.1")],
            "compatible.example" => vec![ip("::127.0.0.1")],
            "unspecified.example" => vec![ip("0.0.0.0"), ip("::")],
            "own.example" => vec![ip(EVIL)],
            _ => {
                let number = name
                    .strip_prefix("n")
                    .and_then(|rest| rest.split('.').next());
                let number = number.and_then(|number| number.parse::<usize>().ok());
                number
                    .map(|number| ip(PRIVATE[number]))
                    .into_iter()
                    .collect()
            }
        })
        .unwrap();
        let good = good_host("93.184.0.34:8080");
        let canaries = Canaries::start(&[&PRIVATE[..], &[EVIL]].concat(), 8080);
        let numbered = (0..PRIVATE.len()).map(|number| format!("n{number}.example:8080"));
        let special = ["mapped", "compatible", "unspecified"];
        let special = special.map(|name| format!("{name}.example:8080"));
        let hosts: Vec<_> = numbered.chain(special).collect();
        // What is granted exactly may be this machine by an address of the internet.
        let own = ["own.example:8080".to_owned()];
        let by_pattern = [&hosts[..], &own].concat();
        // By a pattern, and each of them exactly.
        let exact: Vec<_> = hosts.iter().map(|host| format!("http://{host}")).collect();
        let pattern = ["http://*:8080".to_owned()];
        for (grants, hosts) in [(&pattern[..], &by_pattern), (&exact, &hosts)] {
            let mut grants: Vec<&str> = grants.iter().map(String::as_str).collect();
            grants.push("http://good.example:8080");
            let mut guest = Hostile::granted("names_of_private_addresses", &grants);
            let outcomes = guest.attempt(&good.authority(), &hosts.join(","));
            all_refused(&outcomes);
            guest.ends_well("good.example:8080");
        }
        canaries.heard_nothing();
    });
}

#[test]
pub(super) fn rebinding() {
    in_own_network(|| {
        let names = NameServer::start(|name, before| match (name, before) {
            ("rebinds.example", 0 | 2) | ("good.example", _) => vec![ip(GOOD)],
            ("rebinds.example", 1) => vec![ip("127.0.0.1")],
            ("rebinds.example", 3) => vec![ip("127.0.0.1"), ip(GOOD), ip("::1")],
            ("rebinds.example", _) => vec![ip("10.0.0.1"), ip("fd00::1")],
            _ => Vec::new(),
        })
        .unwrap();
        let good = good_host("93.184.0.34:8080");
        let canaries = Canaries::start(&PRIVATE, 8080);
        let grants = ["http://rebinds.example:8080", "http://good.example:8080"];
        let mut guest = Hostile::granted("rebinding", &grants);
        let outcomes = guest.attempt("rebinds.example:8080", "");
        let reached: Vec<_> = outcomes.iter().map(|one| one.came.is_ok()).collect();
        assert_eq!(reached, [true, false, true, true, false, false]);
        for Outcome { tried, came } in outcomes {
            let Err(error) = came else { continue };
            assert!(
                error.contains("which its grant does not allow"),
                "{tried}: {error}"
            );
        }
        assert_eq!(good.received().len(), 3);
        assert!(names.asked()["rebinds.example"] >= 6, "{:?}", names.asked());
        canaries.heard_nothing();
        guest.ends_well("good.example:8080");
    });
}

#[test]
pub(super) fn redirects() {
    in_own_network(|| {
        let _names = NameServer::start(|name, _| match name {
            "good.example" => vec![ip(GOOD)],
            "inner.example" => vec![ip("10.0.0.1")],
            _ => vec![ip(EVIL)],
        })
        .unwrap();
        let good = RecordingHost::start_at((GOOD, 8080), |request| {
            match request.strip_prefix("GET /away?to=") {
                Some(rest) => {
                    let to = rest.split(' ').next().unwrap_or_default();
                    http("302 Found", &format!("location: {to}\r\n"), "")
                }
                None => http("200 OK", "", WELL),
            }
        })
        .unwrap();
        let canaries = Canaries::start(&[&PRIVATE[..], &[EVIL]].concat(), 8080);
        let locations = [
            "http://127.0.0.1:8080/",
            "http://169.254.169.254:8080/latest/meta-data",
            "http://[::1]:8080/",
            "http://inner.example:8080/",
            "http://evil.example:8080/",
            "http://good.example.evil.example:8080/",
            "http://good.example@93.184.0.66:8080/",
            "http://93.184.0.66:8080/",
            "https://good.example:8080/",
            "ftp://good.example:8080/",
            "file://good.example/etc/passwd",
        ];
        let mut guest = Hostile::granted("redirects", &["http://good.example:8080"]);
        all_refused(&guest.attempt("good.example:8080", &locations.join(",")));
        // The host itself follows none of them: each was asked for once, and nothing else was.
        assert_eq!(good.received().len(), locations.len());
        assert!(!good.received().concat().contains("of-the-first-host"));
        canaries.heard_nothing();
        guest.ends_well("good.example:8080");
    });
}

#[test]
pub(super) fn lookalike_hosts() {
    in_own_network(|| {
        let names = NameServer::start(|name, _| match name {
            "api.example" => vec![ip(GOOD)],
            _ => vec![ip(EVIL)],
        })
        .unwrap();
        let good = good_host("93.184.0.34:80");
        let canaries = Canaries::start(&[EVIL], 80);
        let grants = ["http://api.example", "http://*.good.example"];
        let mut guest = Hostile::granted("lookalike_hosts", &grants);
        all_refused(&guest.attempt("api.example", ""));
        // Their names are not even looked up.
        assert!(names.asked().is_empty(), "{:?}", names.asked());
        assert!(good.received().is_empty());
        canaries.heard_nothing();
        guest.ends_well("api.example");
    });
}

#[test]
pub(super) fn dns_channel() {
    in_own_network(|| {
        let names = NameServer::start(|name, _| match name {
            "good.example" => vec![ip(GOOD)],
            _ => vec![ip(EVIL)],
        })
        .unwrap();
        let good = good_host("93.184.0.34:80");
        let canaries = Canaries::start(&[EVIL], 80);
        let mut guest = Hostile::granted("dns_channel", &["http://good.example"]);
        for Outcome { tried, came } in guest.attempt("good.example", "evil.example") {
            assert!(came.is_err(), "{tried}: {came:?}");
        }
        assert!(names.asked().is_empty(), "{:?}", names.asked());
        assert!(good.received().is_empty());
        canaries.heard_nothing();
        guest.ends_well("good.example");
    });
}

#[test]
pub(super) fn raw_sockets() {
    in_own_network(|| {
        let good = good_host("93.184.0.34:8080");
        let canaries = Canaries::start(&["127.0.0.1", EVIL], 8080);
        let udp = UdpSocket::bind("127.0.0.1:8080").unwrap();
        udp.set_nonblocking(true).unwrap();
        let mut guest = Hostile::granted("raw_sockets", &["http://93.184.0.34:8080"]);
        for other in ["127.0.0.1:8080", "93.184.0.66:8080"] {
            for Outcome { tried, came } in guest.attempt(&good.authority(), other) {
                assert!(came.is_err(), "{tried}: {came:?}");
            }
        }
        assert!(good.received().is_empty());
        assert!(
            udp.recv(&mut [0; 8]).is_err(),
            "somebody has sent a datagram"
        );
        canaries.heard_nothing();
        guest.ends_well(&good.authority());
    });
}
