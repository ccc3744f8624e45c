//! HTTP requests of the sandbox: the host sends what is granted with the token in it, and says why
//! it does not send the rest.

use dormouse_sdk::settings;
use serde_json::Value;
use wstd::http::body::util::{BodyExt as _, Limited};
use wstd::http::error::ErrorCode;
use wstd::http::{Client, Error, Request as HttpRequest};
use wstd::runtime::block_on;
use wstd::time::Duration;

use crate::request::Request;

/// Base of the API's URLs, where the setting `api` has no other one.
const API: &str = "https://www.googleapis.com/calendar/v3";

/// Longest body of a response, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Longest wait for a connection, and for each next part of a response, in seconds.
const TIMEOUT: u64 = 30;

/// Sends a request. Returns the answer, which is JSON.
///
/// # Errors
/// It is not granted, nobody is logged in, there is no complete response, or the response is an error.
pub(crate) fn send(request: &Request) -> Result<String, String> {
    let api: Option<String> = settings::get("api")?;
    let api = api.as_deref().unwrap_or(API).trim_end_matches('/');
    let (status, text) =
        block_on(exchange(request, &format!("{api}{}", request.target))).map_err(told)?;
    match status {
        // Nothing is left of what was deleted.
        204 => Ok(r#"{"success":true}"#.to_owned()),
        200..=299 => Ok(text),
        _ => Err(format!("Google Calendar says {status}: {}", message(&text))),
    }
}

async fn exchange(request: &Request, url: &str) -> Result<(u16, String), Error> {
    let body = request.body.as_ref().map(Value::to_string);
    let http = HttpRequest::builder()
        .method(request.method)
        .uri(url)
        .header("Accept", "application/json")
        .header("Accept-Encoding", "identity")
        .header("Content-Type", "application/json")
        .body(body.unwrap_or_default())?;
    let mut client = Client::new();
    client.set_connect_timeout(Duration::from_secs(TIMEOUT));
    client.set_first_byte_timeout(Duration::from_secs(TIMEOUT));
    client.set_between_bytes_timeout(Duration::from_secs(TIMEOUT));
    let (head, body) = client.send(http).await?.into_parts();
    let body = Limited::new(body.into_boxed_body(), MAX_BYTES)
        .collect()
        .await;
    let body = body.map_err(Error::from_boxed)?.to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok((head.status.as_u16(), text))
}

/// Returns the API's own words for an error.
fn message(body: &str) -> String {
    let json: Option<Value> = serde_json::from_str(body).ok();
    let message = json
        .as_ref()
        .and_then(|json| json.pointer("/error/message"));
    let message = message.and_then(Value::as_str);
    message.unwrap_or(body.trim()).to_owned()
}

/// Tells an error. The text of an internal one is the host's: it says what is not granted, and how
/// the user can grant it or log in.
fn told(error: Error) -> String {
    match error.downcast_ref() {
        Some(ErrorCode::InternalError(Some(text))) => text.clone(),
        _ => format!("the API cannot be reached: {error:#}"),
    }
}
