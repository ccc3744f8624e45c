//! HTTP requests of the sandbox: the host sends what is granted with the token in it, and says why
//! it does not send the rest.

use std::time::{SystemTime, UNIX_EPOCH};

use dormouse_sdk::settings;
use serde::Serialize;
use serde_json::Value;
use wstd::http::body::util::{BodyExt as _, Limited};
use wstd::http::error::ErrorCode;
use wstd::http::{Client, Error, HeaderMap, Request as HttpRequest, Response as HttpResponse};
use wstd::runtime::block_on;
use wstd::time::Duration;

use crate::request::Request;
use crate::response::Response;

/// Base of the API's URLs, where the setting `api` has no other one.
const API: &str = "https://api.github.com";

/// Longest body of a response, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Longest wait for a connection, and for each next part of a response, in seconds.
const TIMEOUT: u64 = 30;

/// Most redirects to where a repository has moved.
const MAX_REDIRECTS: usize = 5;

/// Sends a request, as [`Request::new`] makes it of these.
///
/// # Errors
/// It is not granted, there is no complete response, or the response is an error.
pub(crate) fn send(
    method: &'static str,
    route: &str,
    arguments: impl Serialize,
) -> Result<Value, String> {
    let request = Request::new(method, route, arguments)?;
    let api: Option<String> = settings::get("api")?;
    let api = api.as_deref().unwrap_or(API).trim_end_matches('/');
    block_on(follow(&request, api)).map_err(told)?.result()
}

/// Sends a request, also to where its answer says that it has moved within the API.
async fn follow(request: &Request, api: &str) -> Result<Response, Error> {
    let mut url = format!("{api}{}", request.path);
    for _ in 0..=MAX_REDIRECTS {
        let found = exchange(request, &url).await?;
        let headers = found.headers();
        match (found.status().as_u16(), header(headers, "location")) {
            (301 | 302 | 307 | 308, Some(target)) => {
                url = match target.starts_with('/') {
                    true => format!("{api}{target}"),
                    false => target.to_owned(),
                }
            }
            (status, _) => {
                let body = serde_json::from_slice(found.body())
                    .unwrap_or_else(|_| String::from_utf8_lossy(found.body()).into());
                let wait = wait(headers);
                return Ok(Response { status, wait, body });
            }
        }
    }
    Err(Error::msg(format!("`{url}` redirects again and again")))
}

async fn exchange(request: &Request, url: &str) -> Result<HttpResponse<Vec<u8>>, Error> {
    let body = request.body.as_ref().map(Value::to_string);
    let http = HttpRequest::builder()
        .method(request.method)
        .uri(url)
        .header("Accept", "application/vnd.github.v3+json")
        .header("Accept-Encoding", "identity")
        .header("Content-Type", "application/json")
        .header(
            "User-Agent",
            concat!("dormouse-plugin-github/", env!("CARGO_PKG_VERSION")),
        )
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
    Ok(HttpResponse::from_parts(head, body.into()))
}

/// Returns in how many seconds more requests are allowed, if a response says that there are none
/// left.
fn wait(headers: &HeaderMap) -> Option<u64> {
    let number = |name| header(headers, name)?.parse::<u64>().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(seconds);
    }
    let reset = number("x-ratelimit-reset")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    (number("x-ratelimit-remaining")? == 0).then_some(reset.saturating_sub(now))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Tells an error. The text of an internal one is the host's: it says what is not granted, and how
/// the user can grant it.
fn told(error: Error) -> String {
    match error.downcast_ref() {
        Some(ErrorCode::InternalError(Some(text))) => text.clone(),
        _ => format!("the API cannot be reached: {error:#}"),
    }
}
