//! Requests to a provider, which differ from those to the authorization server of an MCP server: they
//! name no resource (RFC 8707), for which some refuse a login, and have parameters of the user's.

use std::time::Duration;

use dormouse_launch::OAuthProvider;
use reqwest::header::CONTENT_LENGTH;
use reqwest::{Client, Request, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};
use url::form_urlencoded;

/// Parameter by which MCP's clients say what a token is for.
const RESOURCE: &str = "resource";

/// Most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Time that an answer may take.
const TIME: Duration = Duration::from_secs(30);

/// Client that says nothing of a resource. It follows no redirect.
pub(super) struct ProviderClient(pub(super) Client);

/// The answer of a provider is longer than any that is a token.
#[derive(Debug, thiserror::Error)]
#[error("the answer is larger than {} KiB", MAX_ANSWER_BYTES >> 10)]
struct TooLarge;

impl OAuthHttpClient for ProviderClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let (mut parts, body) = request.request.into_parts();
            parts.headers.remove(CONTENT_LENGTH);
            let request = hyper::Request::from_parts(parts, without_resource(&body).into_bytes());
            let mut request = Request::try_from(request)?;
            *request.timeout_mut() = Some(TIME);
            let mut response = self.0.execute(request).await?;
            let mut body = Vec::new();
            while let Some(part) = response.chunk().await? {
                if body.len() + part.len() > MAX_ANSWER_BYTES {
                    return Err(OAuthHttpClientError::from(TooLarge));
                }
                body.extend_from_slice(&part);
            }
            let mut answer = hyper::Response::new(body);
            *answer.status_mut() = response.status();
            *answer.headers_mut() = std::mem::take(response.headers_mut());
            Ok(answer)
        })
    }
}

/// Returns the link of a login without a resource, and with the parameters of its provider.
pub(super) fn link_of_provider(link: &str, provider: &OAuthProvider) -> String {
    let Ok(mut url) = Url::parse(link) else {
        return link.to_owned();
    };
    let query = without_resource(url.query().unwrap_or_default().as_bytes());
    url.set_query(Some(&query));
    for (name, value) in &provider.parameters {
        url.query_pairs_mut().append_pair(name, value);
    }
    url.into()
}

fn without_resource(form: &[u8]) -> String {
    let pairs = form_urlencoded::parse(form).filter(|(name, _)| name != RESOURCE);
    let mut others = form_urlencoded::Serializer::new(String::new());
    others.extend_pairs(pairs).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_name_no_resource_and_have_what_their_user_has_written() {
        let provider = OAuthProvider {
            parameters: [("access_type", "offline"), ("prompt", "a&b")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..OAuthProvider::default()
        };
        let link = "https://a.example/auth?x=1&resource=https%3A%2F%2Fa.example%2F&scope=a+b";
        assert_eq!(
            link_of_provider(link, &provider),
            "https://a.example/auth?x=1&scope=a+b&access_type=offline&prompt=a%26b"
        );
        let body = b"code=a%2Bb&resource=https%3A%2F%2Fa.example&resource=x";
        assert_eq!(without_resource(body), "code=a%2Bb");
    }
}
