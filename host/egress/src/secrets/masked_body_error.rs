//! Error of a body whose secrets are hidden.

/// Reason why a body does not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum MaskedBodyError<E> {
    /// The body has failed.
    #[error(transparent)]
    Body(E),
    /// Its host was given a secret since it began, which could not be found in the rest.
    #[error(
        "its host was given a secret since it began, which could not be hidden in the rest of it: it is \
         compressed, a part, or in another character set"
    )]
    Unreadable,
}
