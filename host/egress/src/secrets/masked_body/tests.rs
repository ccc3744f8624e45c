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

/// Has a request bring the secret to its host.
async fn bring(secrets: &PluginSecrets) {
    let put = secrets.put_into(&mut url(), &mut HeaderMap::new()).await;
    put.unwrap();
}

fn body(pieces: &[&str], secrets: Option<&Arc<PluginSecrets>>) -> MaskedBody<Pieces> {
    let pieces = pieces.iter();
    let pieces = pieces.map(|piece| Frame::data(Bytes::copy_from_slice(piece.as_bytes())));
    let mut trailers = HeaderMap::new();
    trailers.insert("x-key", TEXT.parse().unwrap());
    let pieces = pieces.chain([Frame::trailers(trailers)]).map(Ok);
    masked(pieces.collect(), secrets)
}

fn masked(
    pieces: VecDeque<Result<Frame<Bytes>, &'static str>>,
    secrets: Option<&Arc<PluginSecrets>>,
) -> MaskedBody<Pieces> {
    let mask = secrets.and_then(|secrets| ResponseMask::new(secrets, &url()));
    MaskedBody::new(Pieces(pieces), mask)
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
        let read = body(&pieces, Some(&secrets)).collect().await.unwrap();
        assert_eq!(read.trailers().unwrap()["x-key"], hidden);
        assert_eq!(read.to_bytes(), shown, "{pieces:?}");
        let plain = body(&pieces, None).collect().await.unwrap();
        assert_eq!(plain.trailers().unwrap()["x-key"], TEXT);
        assert_eq!(plain.to_bytes(), pieces.concat());
    }
}

/// A host may answer one request with what another has brought it.
#[tokio::test]
async fn an_open_response_has_no_secret_that_a_later_request_has_brought() {
    let secrets = secrets();
    let mut body = body(&["it is ", TEXT, " and ", TEXT], Some(&secrets));
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
}
