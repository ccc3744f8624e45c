//! Credentials of a user at an HTTP upstream.

use std::sync::Arc;

use dormouse_launch::Secret;
use futures::future::BoxFuture;

use crate::Lost;
use crate::server_secrets::ServerSecrets;

/// Source of the token that an HTTP upstream wants with every request.
pub(crate) trait Credentials: Send + Sync {
    /// Returns the secrets of the upstream, the token among them as soon as it is given.
    fn secrets(&self) -> Arc<ServerSecrets>;

    /// Returns the token for the next request, without the word `Bearer`; `None` where there is
    /// none (yet). Called before each request, so it should be at hand.
    ///
    /// # Errors
    /// There has been a token, but it cannot be had now.
    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, Lost>>;

    /// Notes that the upstream has refused a request with this `WWW-Authenticate` header. Returns
    /// whether [`Credentials::bearer`] has another token now, with which the request is worth one
    /// more attempt.
    ///
    /// # Errors
    /// Another token should be had, but cannot be.
    fn rejected<'a>(&'a self, challenge: Option<&'a str>) -> BoxFuture<'a, Result<bool, Lost>>;
}
