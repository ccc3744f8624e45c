//! Servers and authorization servers that misbehave before there is a link that a user could
//! follow: there is no link, and the error is plain.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dormouse_tests::client;
use serde_json::json;

use crate::hostile_login::{Case, Scene, at, each};
use crate::hostile_site::{
    Answer, METADATA, RESOURCE, Site, changed, client as registered, metadata, resource,
};

/// Parts of the errors where the way to log in cannot be found out, and where no client is
/// accepted.
const UNKNOWN: &str = "cannot be found out";
const UNTAKEN: &str = "does not take Dormouse as a client";

const CASES: &[Case] = &[
    (
        "the issuer of another in the metadata",
        |own, other, asked| {
            let wrong = json!({ "issuer": other });
            at(asked, METADATA, || {
                Answer::json(&changed(metadata(own), &wrong))
            })
        },
        &[UNKNOWN, "issuer mismatch"],
    ),
    (
        "no issuer in the metadata",
        |own, _, asked| {
            let wrong = json!({ "issuer": null });
            at(asked, METADATA, || {
                Answer::json(&changed(metadata(own), &wrong))
            })
        },
        &[UNKNOWN, "missing required issuer"],
    ),
    (
        "the resource of another",
        |own, other, asked| {
            let wrong = json!({ "resource": format!("{other}/mcp") });
            at(asked, RESOURCE, || {
                Answer::json(&changed(resource(own), &wrong))
            })
        },
        &[UNKNOWN, "resource mismatch"],
    ),
    (
        "metadata that are at another host",
        |_, other, asked| {
            at(asked, METADATA, || {
                Answer::redirect(302, &format!("{other}{METADATA}"))
            })
        },
        &[UNKNOWN, "redirect to non-same-origin URL rejected"],
    ),
    (
        "a resource that is described at another host",
        |_, other, asked| {
            at(asked, RESOURCE, || {
                Answer::redirect(307, &format!("{other}{RESOURCE}"))
            })
        },
        &[UNKNOWN, "redirect to non-same-origin URL rejected"],
    ),
    (
        "metadata that lead to themselves",
        |_, _, asked| at(asked, METADATA, || Answer::redirect(302, METADATA)),
        &[UNKNOWN, "exceeded 10 redirects"],
    ),
    (
        "metadata without an end",
        |_, _, asked| at(asked, METADATA, || Answer::endless(Duration::ZERO)),
        &[UNKNOWN, "body exceeds 1048576 bytes"],
    ),
    (
        "a challenge that names another host's description",
        |_, other, asked| {
            at(asked, "/mcp", || {
                Answer::challenge(&format!("{other}{RESOURCE}"))
            })
        },
        &[UNKNOWN, "resource mismatch"],
    ),
    (
        "a challenge that names a file, and nothing else",
        |_, _, asked| {
            Some(match asked.path.as_str() {
                "/mcp" => Answer::challenge("file:///etc/passwd"),
                _ => Answer::text(404, ""),
            })
        },
        &["does not say how to log in", "hint: "],
    ),
    (
        "a challenge of a megabyte",
        |own, _, asked| {
            at(asked, "/mcp", || {
                Answer::challenge(&format!("{own}/{}", "a".repeat(1 << 20)))
            })
        },
        &[UNKNOWN, "message head is too large"],
    ),
    (
        "a challenge of 100 KiB",
        |own, _, asked| {
            at(asked, "/mcp", || {
                Answer::challenge(&format!("{own}/{}", "a".repeat(100 << 10)))
            })
        },
        &[UNKNOWN],
    ),
    (
        "no S256",
        |own, _, asked| {
            let wrong = json!({ "code_challenge_methods_supported": ["plain"] });
            at(asked, METADATA, || {
                Answer::json(&changed(metadata(own), &wrong))
            })
        },
        &["PKCE code challenge method (S256)"],
    ),
    (
        "a registration at another host",
        |_, other, asked| {
            at(asked, "/register", || {
                Answer::redirect(307, &format!("{other}/register"))
            })
        },
        &[UNTAKEN, "HTTP 307", "hint: "],
    ),
    (
        "a client's id of five megabytes",
        |_, _, asked| {
            let wrong = json!({ "client_id": "a".repeat(5 << 20) });
            at(asked, "/register", || {
                Answer::json(&changed(registered(asked), &wrong))
            })
        },
        &[UNTAKEN, "body exceeds 1048576 bytes", "hint: "],
    ),
    (
        "a client's id that makes a link of 100 KiB",
        |_, _, asked| {
            let wrong = json!({ "client_id": "a".repeat(100 << 10) });
            at(asked, "/register", || {
                Answer::json(&changed(registered(asked), &wrong))
            })
        },
        &["is no page that a browser may be sent to"],
    ),
    (
        "a refusal that would clear the terminal",
        |_, _, asked| {
            at(asked, "/register", || {
                Answer::text(400, "\u{1b}[2J\u{9b}2J\u{202e}x\r\nhint: run `rm`")
            })
        },
        &[UNTAKEN, "\\u{202e}x  hint: run `rm`)\nhint: register"],
    ),
];

#[test]
fn nobody_is_sent_to_log_in_by_whoever_misbehaves_before() {
    each(CASES, Scene::refused);
}

/// The same holds for a call, whose refusal begins a login.
#[test]
fn no_call_gives_a_link_of_whoever_misbehaves() {
    let called = |scene: &Scene| {
        let mut host = scene.home.serve().unwrap();
        let refused = host.call("notes__discover", json!({})).unwrap();
        assert_eq!(refused["isError"], json!(true), "{refused}");
        let text = client::text(&refused).unwrap().to_owned();
        assert!(!text.contains("open this link"), "{text}");
        assert!(!text.lines().any(|line| line.starts_with("http")), "{text}");
        assert!(text.contains("notes"), "{text}");
        assert!(text.len() < 2000, "{} bytes are said", text.len());
        assert_eq!(scene.site.count("POST", "/token"), 0);
        scene.untold();
        text
    };
    let without_words: Vec<Case> = CASES
        .iter()
        .map(|&(wrong, says, _)| (wrong, says, &[][..]))
        .collect();
    each(&without_words, called);
}

/// Whoever logs in at a page is known there, and what they are given must not go elsewhere: also
/// where that host says what it is below a realm of its own alone.
#[test]
fn nobody_logs_in_at_a_page_of_another_for_whoever_names_it() {
    let elsewhere = "which has its tokens elsewhere";
    let unknown = "it cannot be found out";
    for (realm, moved, answers, says) in [
        ("", "", "", elsewhere),
        ("/realms/x", "", "", elsewhere),
        ("/realms/x", "/moved", "", elsewhere),
        ("", "", "unavailable", unknown),
        ("", "", "odd", unknown),
    ] {
        let at_realm = match realm {
            "" => METADATA.to_owned(),
            realm => format!("{realm}/.well-known/openid-configuration"),
        };
        let stranger = Site::serve(move |own, asked| {
            let of_realm = metadata(&format!("{own}{realm}"));
            let is_there = format!("{moved}{at_realm}");
            let answered = at(asked, &is_there, || match answers {
                "unavailable" => Answer::text(503, ""),
                "odd" => Answer::json(&changed(of_realm.clone(), &json!({ "jwks_uri": 5 }))),
                _ => Answer::json(&of_realm),
            });
            let leads_there = || Answer::redirect(301, &format!("{own}{is_there}"));
            let answered = answered.or_else(|| at(asked, &at_realm, leads_there));
            answered.or_else(|| at(asked, METADATA, || Answer::text(404, "")))
        });
        let page = format!("{}{realm}/protocol/auth", stranger.base);
        let scene = Scene::with_stranger(stranger, move |own, _, asked| {
            let wrong = json!({ "authorization_endpoint": page });
            at(asked, METADATA, || {
                Answer::json(&changed(metadata(own), &wrong))
            })
        });
        let said = scene.refused();
        assert!(said.contains(says), "{said}");
        assert_eq!(scene.site.count("POST", "/register"), 0);
    }
}

/// An authorization server is asked for its metadata twice where these name another host: if the
/// second ones differ, the first may have been somebody else's.
#[test]
fn hosts_that_an_authorization_server_does_not_name_again_are_sent_nothing() {
    for endpoint in [
        "token_endpoint",
        "registration_endpoint",
        "revocation_endpoint",
    ] {
        let asked_before = AtomicUsize::new(0);
        let scene = Scene::of(move |own, other, asked| {
            at(asked, METADATA, || {
                let elsewhere = json!({ endpoint: format!("{other}/token") });
                Answer::json(&match asked_before.fetch_add(1, Ordering::Relaxed) {
                    0 => changed(metadata(own), &elsewhere),
                    _ => metadata(own),
                })
            })
        });
        let said = scene.refused();
        let words = "which does not say the same of itself";
        assert!(said.contains(words), "{endpoint}: {said}");
        assert_eq!(scene.site.count("POST", "/register"), 0);
        assert_eq!(scene.stranger.asked().len(), 0);
    }
}
