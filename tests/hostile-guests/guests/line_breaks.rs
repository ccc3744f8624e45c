//! Writes line ends, and a second request behind them, into each part of a request.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::Request;

dormouse_hostile_guests::guest!(attempt);

fn attempt(granted: &str, _: &str) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for end in [
        "\r\n",
        "\n",
        "\r",
        "\0",
        "\u{2028}",
        "\u{85}",
        "\u{10d}\u{10a}",
        " ",
    ] {
        let second = format!("{end}{end}GET /smuggled HTTP/1.1{end}x: y");
        let in_path = format!("/ HTTP/1.1{second}");
        let in_method = format!("GET / HTTP/1.1{second}");
        let in_authority = format!("{granted}{second}");
        let in_name = format!("x{second}");
        let in_value = format!("x{second}");
        for (part, request) in [
            ("path", Request::get(granted, &in_path)),
            ("query", Request::get(granted, &format!("/?{second}"))),
            (
                "method",
                Request::get(granted, "/").with_body(&in_method, &[]),
            ),
            ("authority", Request::get(&in_authority, "/")),
            ("name", Request::get(granted, "/").header(&in_name, b"x")),
            (
                "value",
                Request::get(granted, "/").header("x", in_value.as_bytes()),
            ),
        ] {
            outcomes.push(request.outcome(&format!("{part} {end:?}")));
        }
    }
    outcomes
}
