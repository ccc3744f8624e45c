//! Reasons why a request is not sent.

use crate::AddressKind;

/// Hint of a refusal to follow a URL that a server names.
pub(crate) const CONFIGURE: &str = "if that is meant, configure that URL";

/// Reason why a request is not sent.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// A URL that somebody else than the user has named leads too far.
    #[error("`{url}` is {kind}, where what a server names may not lead\nhint: {CONFIGURE}")]
    OutOfReach {
        /// The URL, as it may be shown.
        url: String,
        /// Kind of the address that it leads to.
        kind: AddressKind,
    },
    /// A redirect leads to what is no URL; with the URL that it came from, as it may be shown.
    #[error("`{0}` redirects to what is no URL")]
    RedirectToNoUrl(String),
    /// A redirect leads from `https` to `http`.
    #[error(
        "`{from}` redirects to `{to}`, where everybody could read along\n\
         hint: configure the URL with `https://` that the server really has"
    )]
    RedirectInTheOpen {
        /// The URL that it came from, as it may be shown.
        from: String,
        /// The one that it leads to, as it may be shown.
        to: String,
    },
    /// No client for TLS can be made; with the causes.
    #[error(
        "no TLS connection can be made: {0}\n\
         hint: install the system's root certificates (such as the package `ca-certificates`), \
         or name a file of them in `SSL_CERT_FILE`"
    )]
    NoTls(String),
}
