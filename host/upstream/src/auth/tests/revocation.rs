//! Tokens that are given back.

use rmcp::transport::auth::AuthorizationMetadata;

use super::*;
use crate::auth::metadata::revocation;

/// Metadata that an upstream has led to may name another host for the tokens that are revoked.
#[tokio::test]
async fn tokens_are_given_back_only_to_the_host_that_gave_them() {
    let metadata = |revocation: &str| -> AuthorizationMetadata {
        let metadata = json!({
            "authorization_endpoint": "https://honest.example/authorize",
            "token_endpoint": "https://honest.example/token",
            "revocation_endpoint": revocation
        });
        serde_json::from_value(metadata).unwrap()
    };
    for (endpoint, counts) in [
        ("https://honest.example/revoke", true),
        ("https://evil.example/revoke", false),
        ("https://honest.example:8443/revoke", false),
        ("http://honest.example/revoke", false),
    ] {
        let found = revocation(&metadata(endpoint));
        assert_eq!(found.is_some(), counts, "{endpoint}");
    }
    // Nor are those of a login that an earlier version has kept with whatever was named.
    for token_endpoint in [Some("https://gave.example/token"), None] {
        let user = User::of(&[]);
        let auth = user.logged_in().await;
        user.edit(|login| {
            login.token_endpoint = token_endpoint.map(str::to_owned);
            assert!(login.revocation.as_ref().unwrap().ends_with("/revoke"));
        });
        assert!(auth.logout().await.unwrap());
        assert_eq!(user.count("revocations"), 0);
    }
}

#[tokio::test]
async fn a_logout_gives_the_tokens_back() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    let login = user.store().read().unwrap().unwrap();
    assert!(auth.logout().await.unwrap());
    assert!(!auth.logout().await.unwrap());
    assert_eq!(user.count("revocations"), 1);
    challenge(&auth).await;
    // Whoever has a copy has nothing.
    user.store().write(&login).unwrap();
    challenge(&auth).await;
}
