//! Failures of requests to an upstream.

use crate::auth::NotLoggedIn;
use crate::http::excerpt;
use crate::messages::channel::Lost;
use crate::messages::message::Refusal;

/// Reason for which a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The upstream answered with an error.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The request was not let through: by the upstream policy, or because the connection does not
    /// offer the tool.
    #[error("{0}")]
    Barred(String),
    /// The user of the call is not logged in; its text may have the link of a login in it, which is for
    /// them alone.
    #[error(transparent)]
    NotLoggedIn(#[from] NotLoggedIn),
    /// The request did not get there, or no answer came back.
    #[error(transparent)]
    Lost(#[from] Lost),
}

impl Failure {
    /// Converts it into the error of a connection that is being made.
    pub(super) fn into_lost(self) -> Lost {
        match self {
            Self::Lost(lost) => lost,
            Self::Barred(why) => Lost::Broken(why),
            Self::NotLoggedIn(why) => Lost::Broken(why.without_link().to_owned()),
            Self::Refused(refusal) => Lost::Broken(format!(
                "it refuses: {} (code {})",
                excerpt(&refusal.message),
                refusal.code
            )),
        }
    }

    /// Returns the failure with a hint, where it has lost the connection and has none yet.
    pub(super) fn with_hint(self, hint: impl FnOnce() -> String) -> Self {
        match self {
            Self::Lost(lost @ (Lost::Broken(_) | Lost::Session)) => {
                let mut why = lost.to_string();
                if !why.contains("\nhint: ") {
                    why.push_str("\nhint: ");
                    why.push_str(&hint());
                }
                Lost::Broken(why).into()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_of_a_login_is_in_no_error_of_a_connection() {
        let with_link = NotLoggedIn::with_link("https://a.example".into(), "log in".into());
        let failure = Failure::from(with_link);
        assert_eq!(failure.to_string(), "https://a.example");
        assert_eq!(failure.into_lost(), Lost::Broken("log in".to_owned()));
    }
}
