//! Why nobody could be logged in.

use std::path::PathBuf;

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
        "`{url}` wants to know its user, and does not say how to log in ({why})\nhint: if it takes a key, put it into `headers` of the server; if it takes OAuth, set `client_id` under `oauth`"
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
        "the authorization server of `{url}` does not take Dormouse as a client ({why})\nhint: register a client there by hand, with the redirect URI `http://127.0.0.1/callback` and any port; then set its `client_id` (and `client_secret_env`, the variable with its secret, if it has one) under `oauth` of the server"
    )]
    Unregistered {
        /// The upstream.
        url: String,
        /// What the authorization server says.
        why: String,
    },
    /// A variable of the configuration is not there.
    #[error(
        "the environment variable `{variable}` is not set, which `client_secret_env` names\nhint: set it where Dormouse is started"
    )]
    NoSecret {
        /// Its name.
        variable: String,
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
