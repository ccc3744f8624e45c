use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_policy::{HttpSecret, SecretPlacement, SecretSource};
use http_body_util::BodyExt as _;
use url::Url;

use super::super::PluginSecrets;
use super::*;

mod oracle;

/// A variable that whoever runs the tests has, and that is long enough to be hidden.
const VARIABLE: &str = "CARGO_MANIFEST_DIR";
const TEXT: &str = env!("CARGO_MANIFEST_DIR");

/// A body of pieces, with trailers at its end.
struct Pieces(VecDeque<Result<Frame<Bytes>, &'static str>>);

impl Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        Poll::Ready(self.0.pop_front())
    }
}

fn secrets() -> Arc<PluginSecrets> {
    let secret = HttpSecret {
        name: "token".to_owned(),
        source: SecretSource::Variable(VARIABLE.to_owned()),
        hosts: vec!["a.example".parse().unwrap()],
        placement: SecretPlacement::Query("key".to_owned()),
    };
    Arc::new(PluginSecrets::new("web", &[secret]))
}

fn url() -> Url {
    Url::parse("https://a.example/").unwrap()
}

/// Returns what a server had before it was given these secrets.
fn without_secrets(secrets: &PluginSecrets) -> Arc<PluginSecrets> {
    let before = PluginSecrets::new("web", &[]);
    Arc::new(before.with_sent(Arc::clone(&secrets.sent)))
}

/// Has a request bring the secret to its host.
async fn bring(secrets: &PluginSecrets) {
    let put = secrets.put_into(&mut url(), &mut HeaderMap::new()).await;
    put.unwrap();
}

fn body(pieces: &[&str], secrets: &Arc<PluginSecrets>) -> MaskedBody<Pieces> {
    let pieces = pieces.iter();
    let pieces = pieces.map(|piece| Frame::data(Bytes::copy_from_slice(piece.as_bytes())));
    let mut trailers = HeaderMap::new();
    trailers.insert("x-key", TEXT.parse().unwrap());
    let pieces = pieces.chain([Frame::trailers(trailers)]).map(Ok);
    masked(pieces.collect(), secrets)
}

fn masked(
    pieces: VecDeque<Result<Frame<Bytes>, &'static str>>,
    secrets: &Arc<PluginSecrets>,
) -> MaskedBody<Pieces> {
    MaskedBody::new(
        Pieces(pieces),
        ResponseMask::new(secrets, &url()),
        FoundTexts::All,
    )
}

#[tokio::test]
async fn a_body_has_no_secret_and_its_length() {
    let secrets = secrets();
    bring(&secrets).await;
    let (head, tail) = TEXT.split_at(5);
    let (most, last) = TEXT.split_at(TEXT.len() - 1);
    let hidden = "*".repeat(TEXT.len());
    for (pieces, shown) in [
        (vec!["it is ", TEXT, "."], format!("it is {hidden}.")),
        (vec!["it is ", head, tail, ""], format!("it is {hidden}")),
        (vec![most, last, head], format!("{hidden}{head}")),
        (vec!["it is ", most], format!("it is {most}")),
        (vec![], String::new()),
    ] {
        let read = body(&pieces, &secrets).collect().await.unwrap();
        assert_eq!(read.trailers().unwrap()["x-key"], hidden);
        assert_eq!(read.to_bytes(), shown, "{pieces:?}");
        let plain = body(&pieces, &Arc::default()).collect().await.unwrap();
        assert_eq!(plain.trailers().unwrap()["x-key"], TEXT);
        assert_eq!(plain.to_bytes(), pieces.concat());
    }
}

/// A host may answer one request with what another has brought it.
#[tokio::test]
async fn an_open_response_has_no_secret_that_a_later_request_has_brought() {
    for is_new in [false, true] {
        let secrets = secrets();
        let begun_with = match is_new {
            true => without_secrets(&secrets),
            false => Arc::clone(&secrets),
        };
        let mut body = body(&["it is ", TEXT, " and ", TEXT], &begun_with);
        let mut next = async || {
            let frame = body.frame().await.unwrap().unwrap();
            frame.into_data().unwrap()
        };
        assert_eq!(next().await, "it is ");
        bring(&secrets).await;
        let hidden = "*".repeat(TEXT.len());
        for shown in [format!("{hidden} and "), hidden.clone()] {
            assert_eq!(next().await, shown);
        }
        let trailers = body.frame().await.unwrap().unwrap().into_trailers();
        assert_eq!(trailers.unwrap()["x-key"], hidden);
        assert!(body.frame().await.is_none() && body.is_end_stream());
    }
}

/// As one that is compressed, which its plugin may have asked for.
#[tokio::test]
async fn an_open_response_in_which_nothing_is_found_ends_with_the_first_secret() {
    for found in [FoundTexts::Nothing, FoundTexts::Ascii] {
        ends_with_the_first_secret(found).await;
    }
}

async fn ends_with_the_first_secret(found: FoundTexts) {
    let secrets = match found {
        FoundTexts::Nothing => secrets(),
        _ => {
            let placement = SecretPlacement::Query("key".to_owned());
            oracle::not_given("Grüße-canary", placement)
        }
    };
    let pieces = ["a", "b", "c"].map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))));
    let mask = ResponseMask::new(&without_secrets(&secrets), &url());
    let mut body = MaskedBody::new(Pieces(pieces.into()), mask, found);
    let first = body.frame().await.unwrap().unwrap();
    assert_eq!(first.into_data().unwrap(), "a");
    bring(&secrets).await;
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(matches!(error, MaskedBodyError::Unreadable), "{error:?}");
    assert!(body.frame().await.is_none() && body.is_end_stream());
}

/// Of a body that is as long as it says, also what is kept back is still to come.
#[tokio::test]
async fn a_body_that_says_its_length_is_no_longer_than_that() {
    let secrets = secrets();
    bring(&secrets).await;
    let written = format!("text {}", TEXT.get(..TEXT.len() - 1).unwrap());
    let mask = ResponseMask::new(&secrets, &url());
    let whole = http_body_util::Full::<Bytes>::from(written.clone());
    let mut body = MaskedBody::new(whole, mask, FoundTexts::All);
    let mut left = written.len() as u64;
    assert_eq!(body.size_hint().exact(), Some(left));
    while let Some(frame) = body.frame().await {
        left -= frame.unwrap().into_data().unwrap().len() as u64;
        assert_eq!(body.size_hint().exact(), Some(left));
    }
    assert_eq!(left, 0);
}
