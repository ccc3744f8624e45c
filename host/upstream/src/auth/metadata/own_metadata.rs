//! Statements of an authorization server on itself.

use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use super::fetch::{NoMetadata, fetch_within};
use crate::auth::reach::LoginReach;

/// Statements of an authorization server on itself.
#[derive(Default)]
pub(super) struct OwnMetadata {
    pub(super) found: Vec<AuthorizationMetadata>,
    /// The reason why there may be more, if there may be.
    pub(super) unknown: Option<String>,
}

/// Fetches what an authorization server says of itself, at each place where it may.
pub(super) async fn of_itself(reach: &LoginReach, issuer: &Url) -> OwnMetadata {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_issuer_says_of_itself_is_looked_for_where_it_says_it() {
        let places = |issuer: &str| -> Vec<String> {
            let issuer = Url::parse(issuer).unwrap();
            places_of_metadata(&issuer).map(Into::into).collect()
        };
        assert_eq!(
            places("https://a.example/t/?x"),
            [
                "https://a.example/.well-known/oauth-authorization-server/t",
                "https://a.example/.well-known/openid-configuration/t",
                "https://a.example/t/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            places("https://a.example")[0],
            "https://a.example/.well-known/oauth-authorization-server"
        );
    }
}
