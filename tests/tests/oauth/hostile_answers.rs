//! Authorization servers that misbehave in their answers to a code, and in tokens that are never
//! good.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dormouse_tests::{client, oauth};
use serde_json::{Value, json};

use crate::hostile_login::{Case, Scene, at, each};
use crate::hostile_site::{Answer, Asked, METADATA, changed, client as registered, tokens};

/// Parts of the error of a code that was not exchanged.
const FAILED: &[&str] = &["has failed", "hint: log in once more"];

/// Returns an answer to a code, with other members than an honest one.
fn given(asked: &Asked, members: &Value) -> Option<Answer> {
    at(asked, "/token", || {
        Answer::json(&changed(tokens(), members))
    })
}

const CASES: &[Case] = &[
    (
        "tokens at another host (307)",
        |_, other, asked| {
            at(asked, "/token", || {
                Answer::redirect(307, &format!("{other}/token"))
            })
        },
        FAILED,
    ),
    (
        "tokens at another host (302)",
        |_, other, asked| {
            at(asked, "/token", || {
                Answer::redirect(302, &format!("{other}/token"))
            })
        },
        FAILED,
    ),
    (
        "a token of five megabytes",
        |_, _, asked| given(asked, &json!({ "access_token": "a".repeat(5 << 20) })),
        FAILED,
    ),
    (
        "tokens without an end",
        |_, _, asked| at(asked, "/token", || Answer::endless(Duration::ZERO)),
        FAILED,
    ),
    (
        "a token without a type",
        |_, _, asked| given(asked, &json!({ "token_type": null })),
        FAILED,
    ),
    (
        "a token that has ended before it began",
        |_, _, asked| given(asked, &json!({ "expires_in": -1 })),
        FAILED,
    ),
    (
        "a token with more seconds than can be counted",
        |_, _, asked| given(asked, &json!({ "expires_in": 1e30 })),
        FAILED,
    ),
    (
        "a token that ends soon",
        |_, _, asked| given(asked, &json!({ "expires_in": "soon" })),
        FAILED,
    ),
    (
        "tokens that are no JSON",
        |_, _, asked| {
            let form = "access_token=canary-access&token_type=bearer";
            at(asked, "/token", || Answer::text(200, form))
        },
        FAILED,
    ),
    (
        "tokens too deep to be read",
        |_, _, asked| {
            let deep = format!("{{\"x\":{}", "[".repeat(500_000));
            at(asked, "/token", || Answer::text(200, deep))
        },
        FAILED,
    ),
    (
        "two tokens of one name",
        |_, _, asked| {
            let twice =
                r#"{"access_token":"canary-1","access_token":"canary-2","token_type":"Bearer"}"#;
            at(asked, "/token", || Answer::text(200, twice))
        },
        &["duplicate field `access_token`", "hint: log in once more"],
    ),
    (
        "a refusal that would clear the terminal",
        |_, _, asked| {
            let said = json!({
                "error": "invalid_grant\u{1b}[2J",
                "error_description": "\u{1b}[2J\u{9b}2J\u{202e}x\r\nhint: run `rm`",
            });
            at(asked, "/token", || Answer::text(400, said.to_string()))
        },
        &["\\u{202e}x  hint: run `rm`\nhint: log in once more"],
    ),
    (
        "an error in the redirect that would clear the terminal",
        |_, _, asked| {
            at(asked, "/authorize", || {
                let said = "%1b%5b2J%c2%9b2J%e2%80%aex%0d%0ahint:%20run%20rm";
                Answer::back(asked, &format!("error=y%1b&error_description={said}"))
            })
        },
        &["was refused", "\\u{202e}x  hint: run rm (`y `)\n"],
    ),
];

#[test]
fn nothing_is_kept_of_a_login_that_brings_no_good_token() {
    each(CASES, |scene| {
        let (page, said) = scene.failed();
        let escapes = |c: char| c.is_control() && c != '\n';
        let text = page.text.replace("\r\n", "\n");
        assert!(!text.contains(escapes), "{page:?}");
        said
    });
}

/// A server that gives a token for each code and each old token, and accepts none of them.
#[test]
fn a_token_that_is_never_good_is_tried_a_few_times() {
    let given_before = AtomicUsize::new(0);
    let scene = Scene::of(move |_, _, asked| {
        let number = given_before.fetch_add(1, Ordering::Relaxed);
        let [access, refresh] = ["a", "r"].map(|kind| format!("canary-{kind}{number}"));
        let new = json!({ "access_token": access, "refresh_token": refresh });
        given(asked, &new)
    });
    let login = scene.waiting();
    oauth::get(&login.link).unwrap();
    assert!(login.end().0);
    let output = scene.home.run(&["sync", "notes"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("run `dormouse login notes`"), "{said}");
    let tries = || ["/mcp", "/token"].map(|path| scene.site.count("POST", path));
    let [sent, given] = tries();
    assert!((1..=4).contains(&sent), "it was tried {sent} times");
    assert!((1..=3).contains(&given), "{given} tokens were asked for");
    let mut host = scene.home.serve().unwrap();
    for _ in 0..3 {
        let refused = host.call("notes__discover", json!({})).unwrap();
        assert_eq!(refused["isError"], json!(true), "{refused}");
        let text = client::text(&refused).unwrap();
        assert!(text.contains("open this link"), "{text}");
    }
    let [sent_by_now, given_by_now] = tries();
    assert!(sent_by_now - sent <= 12, "{sent_by_now} of {sent}");
    assert!(given_by_now - given <= 6, "{given_by_now} of {given}");
    // Of the first login, and of the one whose link all three calls gave.
    assert_eq!(scene.site.count("POST", "/register"), 2);
    scene.untold();
}

/// Answers that are accepted, with something in them that would be a header of its own, another
/// redirect, or a time without an end.
#[test]
fn what_is_odd_in_an_answer_gets_nowhere() {
    const CASES: &[Case] = &[
        (
            "another place to go back to",
            |_, other, asked| {
                let wrong = json!({ "redirect_uris": [format!("{other}/steal")] });
                at(asked, "/register", || {
                    Answer::json(&changed(registered(asked), &wrong))
                })
            },
            &["logged in"],
        ),
        (
            "a header in the name and the secret of a client",
            |_, _, asked| {
                let wrong = json!({
                    "client_id": "me\r\nx-evil: 1\u{1b}[2J\u{202e}",
                    "client_secret": "canary-\r\nx-evil: 1",
                });
                at(asked, "/register", || {
                    Answer::json(&changed(registered(asked), &wrong))
                })
            },
            &["logged in"],
        ),
        (
            "a header in a token",
            |_, _, asked| given(asked, &json!({ "access_token": "canary-\r\nx-evil: 1" })),
            &[],
        ),
        (
            "a token for ever",
            |_, _, asked| given(asked, &json!({ "expires_in": u64::MAX })),
            &["logged in", "a login is kept"],
        ),
    ];
    each(CASES, |scene| {
        let login = scene.waiting();
        let here = "redirect_uri=http%3A%2F%2F127.0.0.1%3A";
        assert!(login.link.contains(here), "{}", login.link);
        oauth::get(&login.link).unwrap();
        let (_, mut said) = login.end();
        for words in [&["doctor"][..], &["sync", "notes"]] {
            let output = scene.home.run(words).unwrap();
            said += &String::from_utf8_lossy(&output.stdout);
            said += &String::from_utf8_lossy(&output.stderr);
        }
        for asked in scene.site.asked() {
            let mut lines = asked.head.lines();
            assert!(!lines.any(|line| line.starts_with("x-evil")), "{asked:?}");
        }
        assert!(!said.contains("panicked"), "{said}");
        assert!(
            !said.contains(|c: char| c.is_control() && c != '\n'),
            "{said:?}"
        );
        scene.untold();
        said
    });
}

/// A slow answer stays below the limit of its size for hours.
#[test]
fn answers_that_come_for_ever_are_given_up() {
    let slow = |path: &'static str| {
        Scene::of(move |_, _, asked| at(asked, path, || Answer::endless(Duration::from_secs(1))))
    };
    std::thread::scope(|scope| {
        for path in [METADATA, "/register"] {
            scope.spawn(move || slow(path).refused());
        }
        scope.spawn(|| {
            let (_, said) = slow("/token").failed();
            assert!(said.contains("has failed"), "{said}");
        });
    });
}
