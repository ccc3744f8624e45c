//! Tokens of logins, which stand for the texts of secrets and change as they are renewed.

use std::pin::Pin;

use dormouse_launch::Secret;

/// Answer of a login, which may take requests.
pub type LoginFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Access token of a login at a provider.
pub trait LoginToken: Send + Sync {
    /// Returns the token for the next request, renewed before it ends; none where only a new login
    /// brings one. Called before each request.
    ///
    /// # Errors
    /// It cannot be had now; with the reason.
    fn token(&self) -> LoginFuture<'_, Result<Option<Secret>, String>>;

    /// Notes that a host has refused this token. Returns whether there is another one now.
    fn is_replaced<'a>(&'a self, token: &'a Secret) -> LoginFuture<'a, bool>;

    /// Forgets the secret with which the login is renewed: it may be another one now.
    fn forget_client_secret(&self);
}
