//! What whoever has a host repeat guesses of a secret sees of it.

use dormouse_launch::{OAuth, Secret};
use dormouse_policy::ProviderLogin;

use super::super::super::{LoginFuture, LoginToken};
use super::*;

/// A login that has one token.
struct Login(String);

impl LoginToken for Login {
    fn token(&self) -> LoginFuture<'_, Result<Option<Secret>, String>> {
        Box::pin(async { Ok(Some(Secret::new(&self.0))) })
    }

    fn is_replaced<'a>(&'a self, _: &'a Secret) -> LoginFuture<'a, bool> {
        Box::pin(async { false })
    }

    fn forget_client_secret(&self) {}
}

/// Returns secrets of which the host has been given one with that text.
async fn given(text: &str, placement: SecretPlacement) -> Arc<PluginSecrets> {
    let secrets = not_given(text, placement);
    bring(&secrets).await;
    secrets
}

/// Returns secrets of which the host has been given none, one with that text among them.
pub(super) fn not_given(text: &str, placement: SecretPlacement) -> Arc<PluginSecrets> {
    let login = ProviderLogin {
        provider: "provider".to_owned(),
        oauth: OAuth::default(),
        client_secret: None,
    };
    let secret = HttpSecret {
        name: "token".to_owned(),
        source: SecretSource::Login(Box::new(login)),
        hosts: vec!["a.example".parse().unwrap()],
        placement,
    };
    let login = Arc::new(Login(text.to_owned()));
    let secrets = PluginSecrets::new("web", &[secret])
        .with_logins(|_| Some(Arc::clone(&login) as Arc<dyn LoginToken>));
    Arc::new(secrets)
}

fn placements() -> [SecretPlacement; 3] {
    [
        SecretPlacement::Query("key".to_owned()),
        SecretPlacement::Header {
            name: "authorization".to_owned(),
            value: "Bearer {}".parse().unwrap(),
        },
        SecretPlacement::Placeholder {
            variable: "TOKEN".to_owned(),
            header: "authorization".to_owned(),
        },
    ]
}

/// Moment at which something of a body was given out.
#[derive(Debug, PartialEq)]
struct Seen {
    /// Pieces that had not come by then.
    to_come: usize,
    /// Bytes, or none where the body broke off.
    given_out: Option<usize>,
    at_least_left: u64,
    is_end: bool,
}

/// Returns what is seen of a body that comes in these pieces, and its text.
async fn seen(
    pieces: &[&[u8]],
    breaks_off: bool,
    secrets: &Arc<PluginSecrets>,
) -> (Vec<Seen>, Vec<u8>) {
    let frames = pieces.iter();
    let frames = frames.map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece))));
    let frames = frames.chain(breaks_off.then_some(Err("broken off")));
    let mut body = masked(frames.collect(), secrets);
    let (mut all, mut text) = (Vec::new(), Vec::new());
    while let Some(frame) = body.frame().await {
        let data = frame.ok().map(|frame| frame.into_data().unwrap());
        text.extend_from_slice(data.as_deref().unwrap_or_default());
        all.push(Seen {
            to_come: body.body.0.len(),
            given_out: data.map(|data| data.len()),
            at_least_left: body.size_hint().lower(),
            is_end: body.is_end_stream(),
        });
    }
    assert!(body.is_end_stream());
    (all, text)
}

/// Returns a body cut in several ways.
fn cuts(body: &[u8]) -> Vec<Vec<&[u8]>> {
    let chunks = [1, 2, 3, 7, 64].map(|size| body.chunks(size).collect());
    let places = (0..=body.len()).step_by(1 + body.len() / 40);
    let halves = places.map(|cut| vec![&body[..cut], &body[cut..]]);
    chunks.into_iter().chain(halves).collect()
}

fn in_json(text: &str) -> String {
    let bytes = text.bytes();
    bytes.map(|byte| format!("\\u{byte:04x}")).collect()
}

/// Whoever guesses a secret letter by letter, and has its host repeat the guesses, is told nothing
/// by how many bytes come back, in which pieces and when, also where the body breaks off.
#[tokio::test]
async fn what_is_given_out_and_when_tells_no_beginning_of_a_secret() {
    type Body = fn(&str) -> String;
    let bodies: [Body; 7] = [
        |guess| guess.to_owned(),
        |guess| format!("|{guess}"),
        |guess| format!("data: {guess}\n\ndata: {guess}"),
        |guess| format!(r#"{{"is":"{guess}","more":["{guess}"#),
        |guess| format!("{guess}{guess}=="),
        |guess| format!(r#"{{"is":"{}"}} {}"#, in_json(guess), in_json(guess)),
        |guess| format!(r"{}\u00", in_json(guess)),
    ];
    for secret in ["ghp_k3y-T0ken/+=", "two words, and more"] {
        for placement in placements() {
            let secrets = given(secret, placement).await;
            for body in bodies {
                // From none of its letters to all of them.
                let guesses = (0..=secret.len()).map(|shared| {
                    let rest = secret.bytes().skip(shared).map(|byte| match byte {
                        b' ' | b',' => char::from(byte),
                        _ => '~',
                    });
                    let rest: String = rest.collect();
                    body(&format!("{}{rest}", &secret[..shared]))
                });
                let guesses: Vec<_> = guesses.collect();
                for breaks_off in [false, true] {
                    let of_none = cuts(guesses[0].as_bytes());
                    for (cut, pieces) in of_none.iter().enumerate() {
                        let (expected, _) = seen(pieces, breaks_off, &secrets).await;
                        for guess in &guesses {
                            let pieces = &cuts(guess.as_bytes())[cut];
                            let (found, text) = seen(pieces, breaks_off, &secrets).await;
                            assert_eq!(found, expected, "{secret}: {pieces:?}");
                            let text = String::from_utf8(text).unwrap();
                            assert!(!text.contains(secret), "{text}");
                        }
                    }
                }
            }
        }
    }
}

/// The same of one body and several secrets.
#[tokio::test]
async fn what_is_given_out_and_when_is_the_same_for_secrets_of_like_lengths() {
    let said = "data: ghp_k3y ghp_k3y-T0ken\nghp_k3y-T0ke \"ghp_k3\", ghp_k3y-T0k";
    let secrets = ["ghp_k3y-T0ken", "xxxxxxxxxxxxx", "T0ken-of-another-length"];
    for placement in placements() {
        for pieces in cuts(said.as_bytes()) {
            for breaks_off in [false, true] {
                let mut all = Vec::new();
                for secret in secrets {
                    let secrets = given(secret, placement.clone()).await;
                    all.push(seen(&pieces, breaks_off, &secrets).await.0);
                }
                assert_eq!(all[0], all[1], "{pieces:?}");
                assert_eq!(all[0], all[2], "{pieces:?}");
            }
        }
    }
}

/// Whoever reads a stream of events, or of values, gets each as it comes.
#[tokio::test]
async fn lines_and_values_flow_without_waiting_for_the_end() {
    let long = "x".repeat(300);
    let long_but_the_end = "x".repeat(300 - 64);
    for (secret, pieces) in [
        (
            "s3cret-of-one",
            &[
                ("data: s3cret\n\n", "data: s3cret\n\n"),
                (
                    "data: {\"is\":\"s3cret-o\"}\n",
                    "data: {\"is\":\"s3cret-o\"}\n",
                ),
                ("{\"is\":\"s3c", "{\"is\":\""),
                ("ret\",", "s3cret\","),
                (" \"a few words", " \"a few "),
                (" of s3cret-of-one.", "words of "),
                ("\"}", "*************.\"}"),
                (&long, &long_but_the_end),
            ][..],
        ),
        (
            "of two words",
            &[
                ("data: of two\n\n", "data: of two\n\n"),
                ("data: of two words\ndata: of", "data: ************\n"),
                (" two", ""),
                (" words\n", "data: of two words\n"),
            ],
        ),
    ] {
        let secrets = given(secret, SecretPlacement::Query("key".to_owned())).await;
        let frames = pieces.iter();
        let frames =
            frames.map(|(piece, _)| Ok(Frame::data(Bytes::copy_from_slice(piece.as_bytes()))));
        let mut body = masked(frames.collect(), &secrets);
        let (mut come, mut given_out) = (0, 0);
        for (number, (piece, shown)) in pieces.iter().enumerate() {
            come += piece.len();
            if shown.is_empty() {
                continue;
            }
            let frame = body.frame().await.unwrap().unwrap();
            let data = frame.into_data().unwrap();
            assert_eq!(data, shown.replace(secret, &"*".repeat(secret.len())));
            assert_eq!(body.body.0.len(), pieces.len() - number - 1, "{piece}");
            given_out += data.len();
            let kept = u64::try_from(come - given_out).unwrap();
            assert_eq!(body.size_hint().lower(), kept, "{piece}");
        }
        let last = body
            .frame()
            .await
            .map(|frame| frame.unwrap().into_data().unwrap());
        assert_eq!(last.map_or(0, |last| last.len()), come - given_out);
        assert!(body.frame().await.is_none());
        assert!(body.is_end_stream());
    }
}
