//! Says something in the names that it has looked up.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::net::ToSocketAddrs as _;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::{Request, outcome, told};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;

dormouse_hostile_guests::guest!(attempt);

/// `other` is a domain whose server of names listens.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let name = |way: &str| format!("what-it-knows.{way}.{other}");
    let raw = resolve_addresses(&instance_network(), &name("raw"));
    let raw = raw.map(|_| "it is looked up".to_owned()).map_err(told);
    let by_library = (name("library").as_str(), 80).to_socket_addrs();
    let by_library = by_library.map(|_| "it is looked up".to_owned());
    let path = format!("http://{}/", name("path"));
    vec![
        outcome("a lookup", raw),
        outcome("a lookup by the library", by_library.map_err(told)),
        Request::get(&name("http"), "/").outcome("a request"),
        Request {
            scheme: "https",
            ..Request::get(&name("https"), "/")
        }
        .outcome("a request over TLS"),
        Request::get(&format!("{granted}.{}", name("below")), "/").outcome("a name behind a name"),
        Request::get(granted, &path).outcome("a name in a path"),
        Request::get(granted, "/")
            .header("host", name("host").as_bytes())
            .outcome("a name in a header"),
    ]
}
