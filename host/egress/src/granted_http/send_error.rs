//! Reasons why requests of a plugin are refused or have no response.

use crate::secrets::SecretError;
use crate::{AddressKind, EgressError};

/// Reason why a request is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpRefusal {
    /// No grant allows it; with the one that would, as it is written.
    #[error("it is not granted")]
    NotGranted(Option<String>),
    /// It is granted by a pattern alone, and a proxy would resolve its name; with the grant that
    /// would allow it.
    #[error(
        "it is granted only by a pattern, and through a proxy only names go that are granted \
         exactly"
    )]
    Proxy(Option<String>),
    /// Its host is at an address that its grant does not reach; with the grant that would.
    #[error("its host is {kind}, which its grant does not allow")]
    OutOfReach {
        /// Kind of the address.
        kind: AddressKind,
        /// The grant that would allow it, as it is written; none where nothing does.
        wanted: Option<String>,
    },
}

/// Reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The request was not sent.
    #[error(transparent)]
    Refused(#[from] HttpRefusal),
    /// No connection could be made; with the causes.
    #[error("no connection could be made: {0}")]
    Connect(String),
    /// The request failed; with the causes.
    #[error("the request failed: {0}")]
    Failed(String),
    /// A secret cannot be put into it, which was not sent.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The response is compressed, and its host was given a secret, which could not be found in it.
    #[error(
        "its host has compressed the response although it was asked not to, so that no secret could \
         be hidden in it"
    )]
    Compressed,
    /// The response is in another character set, and its host was given a secret, which could not be
    /// found in it. The name of that is not told: its host may have written the secret there.
    #[error("its host has answered in a character set in which no secret could be hidden")]
    Charset,
    /// The response is a part of one, which nobody has asked for, and its host was given a secret, which
    /// could begin or end outside of it.
    #[error("its host has answered with a part of a response, in which no secret could be hidden")]
    Part,
    /// There is no client for it.
    #[error(transparent)]
    Client(#[from] EgressError),
}

impl HttpRefusal {
    /// Returns the grant that would allow the request, as it is written.
    #[must_use]
    pub fn wanted(&self) -> Option<&str> {
        let (Self::NotGranted(wanted) | Self::Proxy(wanted) | Self::OutOfReach { wanted, .. }) =
            self;
        wanted.as_deref()
    }
}
