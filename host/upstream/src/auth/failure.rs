//! Failures of logins.

use std::path::PathBuf;

use dormouse_launch::OAuthMistake;
use dormouse_text::visible::visible_path;

/// Reason for which there is no login, for the user who wants it. Never says a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum LoginFailure {
    /// The file with the login is out of reach.
    #[error(
        "the login in `{}` cannot be {what}: {why}\nhint: see to the file's permissions; if it is damaged, remove it and log in again",
        visible_path(file)
    )]
    Store {
        file: PathBuf,
        /// Operation that failed, as a participle (`read`).
        what: &'static str,
        why: String,
    },
    /// The upstream says nothing of how to log in.
    #[error(
        "`{url}` wants to know its user, and does not say how to log in ({why})\nhint: if it takes a key, put it into `headers` of the server; if it takes OAuth, say as whom and where under `oauth` (`client_id`, `metadata_url`)"
    )]
    NoOAuth { url: String, why: String },
    /// The upstream has refused the header that is configured.
    #[error(
        "`{url}` refuses the `Authorization` header that is configured for it\nhint: correct it in `headers` of the server, or remove it to log in with OAuth"
    )]
    Header { url: String },
    /// The user has turned logins at the upstream off.
    #[error(
        "`{url}` wants a login, which is off for it (`oauth = false`)\nhint: put its key into `headers` of the server, or remove `oauth`"
    )]
    Off { url: String },
    /// No login can be begun with what is configured.
    #[error("`oauth.{}` {}\nhint: correct it under `oauth` of the server", .0.key, .0.why)]
    Configured(#[from] OAuthMistake),
    /// The secret of the client that is configured has no text.
    #[error("the `client_secret` of the login at `{url}` {why}")]
    ClientSecret { url: String, why: String },
    /// The upstream's words on how to log in are of no use.
    #[error("how to log in at `{url}` cannot be found out: {why}")]
    Discovery { url: String, why: String },
    /// The authorization server knows no client, and takes no new ones.
    #[error(
        "the authorization server of `{url}` does not take Dormouse as a client ({why})\nhint: register a client there by hand, with the redirect URI `http://127.0.0.1/callback` and any port (or with one, and set `redirect_uri`); then set its `client_id`, and its `client_secret` if it has one, under `oauth` of the server"
    )]
    Unregistered { url: String, why: String },
    /// The port that the login has to come back to cannot be opened.
    #[error(
        "port {port} of this machine, which the login has to come back to, cannot be opened: {why}\nhint: end what listens there (another login may wait there), or set another one under `oauth` of the server, if the client is registered for it"
    )]
    Port { port: u16, why: String },
    /// No port can be opened for the answer.
    #[error("no port of this machine can be opened for the answer of the login: {0}")]
    Listen(String),
    /// The user, or the authorization server, has refused the login.
    #[error("the login at `{url}` was refused: {why}")]
    Denied { url: String, why: String },
    /// The user does not want to be asked now.
    #[error("you have declined to log in at `{url}`")]
    Declined { url: String },
    /// The code of the redirect has brought no token.
    #[error("the login at `{url}` has failed: {why}\nhint: log in once more")]
    Exchange { url: String, why: String },
    /// No new token could be had, for now.
    #[error(
        "the login at `{url}` cannot be renewed: {why}\nhint: try again later, or log in once more"
    )]
    Refresh { url: String, why: String },
    /// The link was not followed in time.
    #[error("nobody has logged in at `{url}` within {minutes} minutes")]
    Late { url: String, minutes: u64 },
}
