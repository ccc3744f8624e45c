//! Bearer tokens, as an authorization server gives them.

use oauth2::TokenResponse as _;
use reqwest::header::HeaderValue;
use rmcp::transport::auth::StoredCredentials;

/// Returns the reason for which a token cannot be sent as a bearer token; none where it can.
pub(super) fn unusable(credentials: &StoredCredentials) -> Option<&'static str> {
    let response = credentials.token_response.as_ref()?;
    let token = response.access_token().secret();
    if token.is_empty() {
        return Some("the token in the answer is empty");
    }
    if HeaderValue::from_str(token).is_err() {
        return Some("the token in the answer holds what no header may");
    }
    // What is misnamed otherwise is a bearer token all the same wherever this was seen.
    let kind = response.token_type().as_ref().trim().to_ascii_lowercase();
    ["dpop", "mac", "pop"]
        .contains(&kind.as_str())
        .then_some("the token in the answer is not one for whoever bears it (`Bearer`)")
}
