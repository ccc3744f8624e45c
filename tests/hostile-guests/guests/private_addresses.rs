//! Sends a request to each form of an address that is not one of the internet's.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

/// Hosts as a URL may have them, in all forms that some reader takes for an address.
const HOSTS: [&str; 43] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0X7F.1",
    "017700000001",
    "0177.0.0.01",
    "127.0.0x0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "0x",
    "localhost",
    "LOCALHOST.",
    "x.localhost",
    "10.0.0.1",
    "0xa000001",
    "172.16.0.1",
    "192.168.0.1",
    "0300.0250.1",
    "100.64.0.1",
    "169.254.169.254",
    "0xa9fea9fe",
    "198.18.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[fd00::1]",
    "[fe80::1]",
    // One of the internet, which this machine has itself.
    "93.184.0.66",
    "[::ffff:93.184.0.66]",
];

fn attempt(_: &str, other: &str) -> Vec<Outcome> {
    let port = other.rsplit(':').next().unwrap_or_default();
    let to = |host: &&str| Request::get(&format!("{host}:{port}"), "/").outcome(host);
    HOSTS.iter().map(to).collect()
}
