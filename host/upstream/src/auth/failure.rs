//! Why nobody could be logged in.

use std::path::PathBuf;

use dormouse_launch::Wrong;

/// Why there is no login, for the one who wants it. Never says a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The file with the login is out of reach.
    #[error(
        "the login in `{}` cannot be {what}: {why}\nhint: see to the file's permissions; if it is damaged, remove it and log in again",
        file.display()
    )]
    Store {
        /// The file.
        file: PathBuf,
        /// What should have been done to it.
        what: &'static str,
        /// What the system says.
        why: String,
    },
    /// The upstream says nothing of how to log in.
    #[error(
        "`{url}` wants to know its user, and does not say how to log in ({why})\nhint: if it takes a key, put it into `headers` of the server; if it takes OAuth, say as whom and where under `oauth` (`client_id`, `metadata_url`)"
    )]
    NoOAuth {
        /// The upstream.
        url: String,
        /// What was tried last.
        why: String,
    },
    /// The upstream has refused what is configured.
    #[error(
        "`{url}` refuses the `Authorization` header that is configured for it\nhint: correct it in `headers` of the server, or remove it to log in with OAuth"
    )]
    Header {
        /// The upstream.
        url: String,
    },
    /// Its user has said that nobody logs in there.
    #[error(
        "`{url}` wants a login, which is off for it (`oauth = false`)\nhint: put its key into `headers` of the server, or remove `oauth`"
    )]
    Off {
        /// The upstream.
        url: String,
    },
    /// No login can be begun with what is configured.
    #[error("`oauth.{}` {}\nhint: correct it under `oauth` of the server", .0.key, .0.why)]
    Configured(#[from] Wrong),
    /// What the upstream says of how to log in is of no use.
    #[error("how to log in at `{url}` cannot be found out: {why}")]
    Discovery {
        /// The upstream.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// The authorization server knows no client, and takes no new ones.
    #[error(
        "the authorization server of `{url}` does not take Dormouse as a client ({why})\nhint: register a client there by hand, with the redirect URI `http://127.0.0.1/callback` and any port (or with one, and set `redirect_uri`); then set its `client_id`, and its `client_secret` if it has one, under `oauth` of the server"
    )]
    Unregistered {
        /// The upstream.
        url: String,
        /// What the authorization server says.
        why: String,
    },
    /// The port that the login has to come back to cannot be had.
    #[error(
        "port {port} of this machine, which the login has to come back to, cannot be opened: {why}\nhint: end what listens there (another login may wait there), or set another one under `oauth` of the server, if the client is registered for it"
    )]
    Port {
        /// The port.
        port: u16,
        /// What the system says.
        why: String,
    },
    /// Nothing can be listened to for the answer.
    #[error("no port of this machine can be opened for the answer of the login: {0}")]
    Listen(String),
    /// The user, or the authorization server, has said no.
    #[error("the login at `{url}` was refused: {why}")]
    Denied {
        /// The upstream.
        url: String,
        /// What the authorization server says.
        why: String,
    },
    /// The user does not want to be asked now.
    #[error("you have declined to log in at `{url}`")]
    Declined {
        /// The upstream.
        url: String,
    },
    /// The code of the redirect was no good.
    #[error("the login at `{url}` has failed: {why}\nhint: log in once more")]
    Exchange {
        /// The upstream.
        url: String,
        /// What the authorization server says.
        why: String,
    },
    /// No new token could be had, for now.
    #[error(
        "the login at `{url}` cannot be renewed: {why}\nhint: try again later, or log in once more"
    )]
    Refresh {
        /// The upstream.
        url: String,
        /// What went wrong.
        why: String,
    },
    /// Nobody has followed the link in time.
    #[error("nobody has logged in at `{url}` within {minutes} minutes")]
    Late {
        /// The upstream.
        url: String,
        /// How long the link was good for.
        minutes: u64,
    },
}
