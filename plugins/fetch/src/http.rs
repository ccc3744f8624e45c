//! HTTP requests of the sandbox: the host sends what is granted, and says why it does not send the
//! rest.

use url::Url;
use wstd::http::body::util::{BodyExt as _, LengthLimitError, Limited};
use wstd::http::error::ErrorCode;
use wstd::http::{Client, Error, Request};
use wstd::runtime::block_on;
use wstd::time::Duration;

use crate::content_coding::{self, decoded};
use crate::response::Response;

/// Longest body of a response, in bytes, compressed and decompressed. Well under the 256 MiB of memory that an instance has by
/// default, because a page exists in several forms while it is worked on.
const MAX_BYTES: usize = 10 << 20;

/// Longest wait for a connection, and for each next part of a response, in seconds.
const TIMEOUT: u64 = 30;

/// Sends one GET request. Redirects are for the caller to follow.
///
/// # Errors
/// The request is not granted, there is no complete answer, or it is longer than [`MAX_BYTES`].
pub(crate) fn get(url: &Url, user_agent: &str) -> Result<Response, String> {
    block_on(send(url, user_agent)).map_err(told)
}

async fn send(url: &Url, user_agent: &str) -> Result<Response, Error> {
    let request = Request::get(url.as_str())
        .header("User-Agent", user_agent)
        .header("Accept", "*/*")
        .header("Accept-Encoding", content_coding::ACCEPTED)
        .body(())?;
    let mut client = Client::new();
    client.set_connect_timeout(Duration::from_secs(TIMEOUT));
    client.set_first_byte_timeout(Duration::from_secs(TIMEOUT));
    client.set_between_bytes_timeout(Duration::from_secs(TIMEOUT));
    let (head, body) = client.send(request).await?.into_parts();
    let header = |name| {
        let value = head.headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let body = Limited::new(body.into_boxed_body(), MAX_BYTES).collect();
    let body = body
        .await
        .map_err(|error| match error.downcast::<LengthLimitError>() {
            Ok(_) => Error::msg(format!("the answer is longer than {MAX_BYTES} bytes")),
            Err(error) => Error::from_boxed(error),
        })?;
    let codings = header("Content-Encoding").unwrap_or_default();
    let body = decoded(body.to_bytes().into(), &codings, MAX_BYTES).map_err(Error::msg)?;
    Ok(Response {
        url: url.clone(),
        status: head.status.as_u16(),
        location: header("Location"),
        content_type: header("Content-Type").unwrap_or_default(),
        body,
    })
}

/// Tells an error. The text of an internal one is the host's: it says what is not granted, and how
/// the user can grant it.
fn told(error: Error) -> String {
    match error.downcast_ref() {
        Some(ErrorCode::InternalError(Some(text))) => text.clone(),
        _ => format!("{error:#}"),
    }
}
