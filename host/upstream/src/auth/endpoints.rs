//! Endpoints that secrets of a login are sent to.

use rmcp::transport::auth::AuthorizationMetadata;

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
