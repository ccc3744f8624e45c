//! Metadata of authorization servers.

use std::iter;
use std::time::Duration;

use dormouse_launch::Http;
use futures::future::join_all;
use reqwest::header::{CONTENT_ENCODING, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
};

use super::reach::LoginReach;
use super::server::causes;
use dormouse_egress::{AddressKind, Reach, client};

/// Time that the metadata of an authorization server may take to come.
const FETCH: Duration = Duration::from_secs(30);

/// Time that all requests before a login may take together. An upstream names the servers to ask,
/// and may name thousands.
const DISCOVERY: Duration = Duration::from_secs(60);

/// Most issuers that the page of a login may be of, where it is at another host than its tokens.
const MAX_ISSUERS: usize = 8;

/// Most bytes of that metadata.
const LARGEST: usize = 1 << 20;

/// Most redirects that are followed to what a server says of itself.
const MAX_REDIRECTS: usize = 3;

/// Reason why there is no metadata.
#[derive(Debug, thiserror::Error)]
enum NoMetadata {
    /// There is none at that URL.
    #[error("{0}")]
    None(String),
    /// There may be some, which cannot be read now.
    #[error("{0}")]
    Unknown(String),
}

/// Returns the metadata of the authorization server: what the user has configured, else what it and
/// the upstream say. True where nobody has said anything, so that it is a guess (MCP of
/// 2025-03-26). The error is for people.
pub(super) async fn metadata(
    manager: &AuthorizationManager,
    http: &Http,
    reach: &LoginReach,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let found = found(manager, http, reach, challenge);
    let found = tokio::time::timeout(DISCOVERY, found).await;
    let (metadata, is_guessed) = found.map_err(|_| {
        let seconds = DISCOVERY.as_secs();
        format!("it was not found within {seconds} s where to log in")
    })??;
    reach.check(&metadata)?;
    Ok((metadata, is_guessed))
}

/// Checks that nothing of a login at a server that is reached over TLS goes where everybody could
/// read along. The error is for people.
fn check_secure(http: &Http, metadata: &AuthorizationMetadata) -> Result<(), String> {
    if !Url::parse(&http.url).is_ok_and(|url| url.scheme() == "https") {
        return Ok(());
    }
    let page = Some(metadata.authorization_endpoint.as_str());
    let page = ("authorization_endpoint", page);
    let issuer = ("issuer", metadata.issuer.as_deref());
    for (name, url) in [issuer, page].into_iter().chain(endpoints(metadata)) {
        let url = url.and_then(|url| Url::parse(url).ok());
        let is_open =
            |url: &Url| url.scheme() == "http" && AddressKind::of_url(url) != AddressKind::Loopback;
        if let Some(url) = url.filter(is_open) {
            return Err(format!(
                "its `{name}` is at `http://{}`, where everybody could read along, and the server \
                 itself is reached over `https`",
                url.host_str().unwrap_or_default()
            ));
        }
    }
    Ok(())
}

async fn found(
    manager: &AuthorizationManager,
    http: &Http,
    reach: &LoginReach,
    challenge: Option<&str>,
) -> Result<(AuthorizationMetadata, bool), String> {
    let oauth = &http.oauth;
    if let (Some(authorization), Some(token)) = (&oauth.authorization_url, &oauth.token_url) {
        let mut metadata = AuthorizationMetadata::default();
        metadata.authorization_endpoint.clone_from(authorization);
        metadata.token_endpoint.clone_from(token);
        return Ok((metadata, false));
    }
    if let Some(url) = &oauth.metadata_url {
        let metadata = fetch_configured(url).await;
        let metadata = metadata.map_err(|why| format!("`{url}` (`metadata_url`): {why}"))?;
        return Ok((metadata, false));
    }
    let resolution = manager
        .resolve_metadata_from_challenge(challenge)
        .await
        .map_err(|error| causes(&error))?;
    let guessed = resolution.source == AuthorizationMetadataSource::LegacyEndpointFallback;
    check_secure(http, &resolution.metadata)?;
    confirm(reach, &resolution.metadata).await?;
    Ok((resolution.metadata, guessed))
}

/// Checks that metadata that an upstream has led to are those of the server that they name: anybody
/// whom an upstream names may have written them, with the issuer or page of another server beside
/// their own endpoints. The error is for people.
async fn confirm(reach: &LoginReach, metadata: &AuthorizationMetadata) -> Result<(), String> {
    let page = Url::parse(&metadata.authorization_endpoint)
        .map_err(|_| "its `authorization_endpoint` is no URL".to_owned())?;
    let is_elsewhere = |from: &Url| {
        let endpoints = endpoints(metadata).into_iter();
        let mut urls = endpoints.filter_map(|(_, endpoint)| Url::parse(endpoint?).ok());
        urls.any(|endpoint| endpoint.origin() != from.origin())
    };
    let Some(issuer) = &metadata.issuer else {
        return match is_elsewhere(&page) {
            false => Ok(()),
            true => Err(
                "it does not say who the authorization server is (`issuer`), whose page is at \
                 another host than what it gives goes to"
                    .to_owned(),
            ),
        };
    };
    let issuer_url = Url::parse(issuer).map_err(|_| format!("its issuer `{issuer}` is no URL"))?;
    if is_elsewhere(&issuer_url) {
        let is_same = |own: &AuthorizationMetadata| {
            let is_issuer = own.issuer.as_deref().map(without_slash) == Some(without_slash(issuer));
            is_issuer && endpoints(own) == endpoints(metadata)
        };
        if !of_itself(reach, &issuer_url)
            .await
            .found
            .iter()
            .any(is_same)
        {
            return Err(format!(
                "it names the authorization server `{issuer}`, which does not say the same of \
                 itself, so nothing is sent to the hosts that it names"
            ));
        }
    }
    if page.origin() == issuer_url.origin() || !is_elsewhere(&page) {
        return Ok(());
    }
    // What is none is refused where it would be opened.
    if !matches!(page.scheme(), "http" | "https") {
        return Ok(());
    }
    // Whoever logs in at that page is known there, and what they are given would go elsewhere.
    let host = page.host_str().unwrap_or_default();
    if is_written_oddly(&page) {
        return Err(format!(
            "it has people log in at a page of `{host}` whose path is written so that nobody finds out \
             whose that is"
        ));
    }
    let issuers: Vec<_> = issuers_of_page(&page).take(MAX_ISSUERS + 1).collect();
    if issuers.len() > MAX_ISSUERS {
        return Err(format!(
            "it has people log in at a page of `{host}` that is more than {MAX_ISSUERS} levels deep, \
             and nobody finds out whose that is"
        ));
    }
    let own = join_all(issuers.iter().map(|issuer| of_itself(reach, issuer))).await;
    let token = |metadata: &AuthorizationMetadata| {
        Url::parse(&metadata.token_endpoint).map(|url| url.origin())
    };
    let mut found = own.iter().flat_map(|own| &own.found).peekable();
    let has_none = found.peek().is_none();
    if found.any(|own| token(own) == token(metadata)) {
        return Ok(());
    }
    if !has_none {
        let origin = page.join("/").unwrap_or(page);
        return Err(format!(
            "it has people log in at `{origin}`, which has its tokens elsewhere by what it says of \
             itself, so nothing is sent to the hosts that are named"
        ));
    }
    match own.iter().find_map(|own| own.unknown.as_ref()) {
        None => Ok(()),
        Some(why) => Err(format!(
            "it has people log in at `{host}`, and it cannot be found out whether that has its tokens \
             elsewhere: {why}"
        )),
    }
}

/// Whether servers may take the path of a page for another one: as they read an encoded slash, or
/// what is behind a semicolon.
fn is_written_oddly(page: &Url) -> bool {
    let path = page.path().to_ascii_lowercase();
    let odd = ["%2f", "%5c", "%25", "%00", "%3b", ";", "\\"];
    odd.iter().any(|odd| path.contains(odd))
}

/// Statements of an authorization server on itself.
#[derive(Default)]
struct OwnMetadata {
    found: Vec<AuthorizationMetadata>,
    /// The reason why there may be more, if there may be.
    unknown: Option<String>,
}

/// Fetches what an authorization server says of itself, at each place where it may.
async fn of_itself(reach: &LoginReach, issuer: &Url) -> OwnMetadata {
    let mut own = OwnMetadata::default();
    let client = match reach.client() {
        Ok(client) => client,
        Err(lost) => {
            own.unknown = Some(lost.to_string());
            return own;
        }
    };
    for url in places_of_metadata(issuer) {
        match fetch_within(reach, &client, url).await {
            Ok(found) => own.found.push(found),
            Err(NoMetadata::None(_)) => {}
            Err(NoMetadata::Unknown(why)) => own.unknown = Some(why),
        }
    }
    own
}

/// Fetches metadata where a login may reach it, and where it is redirected to.
async fn fetch_within(
    reach: &LoginReach,
    client: &Client,
    mut url: Url,
) -> Result<AuthorizationMetadata, NoMetadata> {
    for _ in 0..=MAX_REDIRECTS {
        if !reach.allows_url(&url) {
            let host = url.host_str().unwrap_or_default();
            let kind = AddressKind::of_url(&url);
            return Err(NoMetadata::Unknown(format!("`{host}` is {kind}")));
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
    let why = format!("`{url}` comes after more than {MAX_REDIRECTS} redirects");
    Err(NoMetadata::Unknown(why))
}

/// Returns the URLs that secrets are sent to, by metadata, each with its name there.
pub(super) fn endpoints(metadata: &AuthorizationMetadata) -> [(&'static str, Option<&str>); 3] {
    let revocation = metadata.additional_fields.get("revocation_endpoint");
    [
        ("token_endpoint", Some(metadata.token_endpoint.as_str())),
        (
            "registration_endpoint",
            metadata.registration_endpoint.as_deref(),
        ),
        (
            "revocation_endpoint",
            revocation.and_then(serde_json::Value::as_str),
        ),
    ]
}

/// Returns the issuers that a page may be of: its host, and what is above it there, as the realms
/// that some hosts have.
fn issuers_of_page(page: &Url) -> impl Iterator<Item = Url> {
    // Most servers take several slashes for one.
    let segments = page.path_segments().into_iter().flatten();
    let mut above = segments.filter(|segment| !segment.is_empty());
    // The page itself.
    above.next_back();
    let mut path = String::new();
    let paths = above.map(move |segment| {
        path.push('/');
        path.push_str(segment);
        path.clone()
    });
    let page = page.clone();
    iter::once(String::new()).chain(paths).map(move |path| {
        let mut issuer = page.clone();
        issuer.set_path(&path);
        issuer
    })
}

fn without_slash(issuer: &str) -> &str {
    issuer.strip_suffix('/').unwrap_or(issuer)
}

/// Returns the URLs at which an authorization server says what it is (RFC 8414, OpenID Connect
/// Discovery).
fn places_of_metadata(issuer: &Url) -> impl Iterator<Item = Url> {
    let path = issuer.path().trim_matches('/');
    let behind = if path.is_empty() { "" } else { "/" };
    let places = [
        format!("/.well-known/oauth-authorization-server{behind}{path}"),
        format!("/.well-known/openid-configuration{behind}{path}"),
        format!("{behind}{path}/.well-known/openid-configuration"),
    ];
    let issuer = issuer.clone();
    places.into_iter().map(move |path| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        url
    })
}

/// Fetches the metadata at a URL that the user has named. Redirects are not followed: the user has
/// not named where they lead.
async fn fetch_configured(url: &str) -> Result<AuthorizationMetadata, String> {
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

/// Returns the host that the code of a login goes to, where its user logs in at another one.
pub(super) fn host_elsewhere(metadata: &AuthorizationMetadata) -> Option<String> {
    let page = Url::parse(&metadata.authorization_endpoint).ok()?;
    let token = Url::parse(&metadata.token_endpoint).ok()?;
    (page.host() != token.host()).then(|| token.host_str().unwrap_or_default().to_owned())
}

/// Returns the URL at which tokens are revoked: only one at the origin that they have come from,
/// whoever has written the metadata.
pub(super) fn revocation(metadata: &AuthorizationMetadata) -> Option<Url> {
    let endpoint = metadata.additional_fields.get("revocation_endpoint")?;
    let endpoint = Url::parse(endpoint.as_str()?).ok()?;
    let token = Url::parse(&metadata.token_endpoint).ok()?;
    (endpoint.origin() == token.origin()).then_some(endpoint)
}

#[cfg(test)]
mod tests;
