//! Metadata as they are fetched and read.

use std::time::Duration;

use dormouse_egress::{AddressKind, Reach, client, shown_url};
use reqwest::header::{CONTENT_ENCODING, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::transport::auth::AuthorizationMetadata;

use crate::auth::error_text::causes;
use crate::auth::reach::LoginReach;

/// Time that the metadata of an authorization server may take to come.
const FETCH: Duration = Duration::from_secs(30);

/// Most bytes of that metadata.
const LARGEST: usize = 1 << 20;

/// Most redirects that are followed to what a server says of itself.
const MAX_REDIRECTS: usize = 3;

/// Reason why there is no metadata.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoMetadata {
    /// There is none at that URL.
    #[error("{0}")]
    None(String),
    /// There may be some, which cannot be read now.
    #[error("{0}")]
    Unknown(String),
}

/// Fetches metadata where a login may reach it, and where it is redirected to.
pub(super) async fn fetch_within(
    reach: &LoginReach,
    client: &Client,
    mut url: Url,
) -> Result<AuthorizationMetadata, NoMetadata> {
    for _ in 0..=MAX_REDIRECTS {
        if !reach.allows_url(&url) {
            let kind = AddressKind::of_url(&url);
            return Err(NoMetadata::Unknown(format!(
                "`{}` is {kind}",
                shown_url(&url)
            )));
        }
        let response = get(client, url.clone()).await?;
        if !response.status().is_redirection() {
            return read(response).await;
        }
        let location = response.headers().get(LOCATION);
        let location = location.and_then(|location| location.to_str().ok());
        let next = location.and_then(|location| url.join(location).ok());
        url = next.ok_or_else(|| NoMetadata::None("it is redirected to nowhere".to_owned()))?;
    }
    let why = format!(
        "`{}` comes after more than {MAX_REDIRECTS} redirects",
        shown_url(&url)
    );
    Err(NoMetadata::Unknown(why))
}

/// Fetches the metadata at a URL that the user has named. Redirects are not followed: the user has
/// not named where they lead.
pub(super) async fn fetch_configured(url: &str) -> Result<AuthorizationMetadata, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    // Its user has named it.
    let client = client(&url, Reach::Configured).map_err(|lost| lost.to_string())?;
    let response = get(&client, url).await.map_err(|no| no.to_string())?;
    read(response).await.map_err(|no| no.to_string())
}

async fn get(client: &Client, url: Url) -> Result<Response, NoMetadata> {
    let unknown = |error: reqwest::Error| NoMetadata::Unknown(causes(&error));
    let request = client
        .get(url)
        .header("accept", "application/json")
        .timeout(FETCH);
    let request = request.build().map_err(unknown)?;
    client.execute(request).await.map_err(unknown)
}

/// Reads metadata out of an answer.
async fn read(mut response: Response) -> Result<AuthorizationMetadata, NoMetadata> {
    let status = response.status();
    if status != StatusCode::OK {
        let why = format!("the answer is HTTP {status}");
        let may_come_later = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
        return Err(
            match status.is_server_error() || may_come_later.contains(&status) {
                true => NoMetadata::Unknown(why),
                false => NoMetadata::None(why),
            },
        );
    }
    let mut body = Vec::new();
    let unknown = |error: reqwest::Error| NoMetadata::Unknown(causes(&error));
    while let Some(part) = response.chunk().await.map_err(unknown)? {
        if body.len() + part.len() > LARGEST {
            let why = format!("the answer is larger than {} KiB", LARGEST >> 10);
            return Err(NoMetadata::Unknown(why));
        }
        body.extend_from_slice(&part);
    }
    let is_encoded = response.headers().contains_key(CONTENT_ENCODING);
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&body);
    serde_json::from_slice(body).map_err(|error| {
        let why = format!("this is no metadata of an authorization server: {error}");
        match is_encoded || may_be_metadata(body) {
            true => NoMetadata::Unknown(why),
            false => NoMetadata::None(why),
        }
    })
}

/// Byte order mark, which some put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a text may be meant as metadata, and cannot be read as such: one member of another form is
/// enough for that.
fn may_be_metadata(text: &[u8]) -> bool {
    let members = ["issuer", "authorization_endpoint", "token_endpoint"];
    let has = |name: &str| {
        let name = format!("\"{name}\"");
        text.windows(name.len())
            .any(|window| window == name.as_bytes())
    };
    members.into_iter().any(has)
}
