//! States of a server.

use serde::{Deserialize, Serialize};

/// States of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerState {
    /// Switched off in the configuration.
    Disabled,
    /// A value that its start needs is not set.
    NeedsConfig,
    /// Its upstream's offers are not known yet.
    Configured,
    /// Its declaration has been read; it has never been called.
    Known,
    /// Its first call runs.
    Starting,
    /// Loaded.
    Ready,
    /// Stopped after use.
    Idle,
    /// Its upstream requires authorization.
    NeedsAuth,
    /// Some of its tools are hidden, because they are no longer what their user has approved.
    Quarantined,
    /// Its file cannot be read, or it could not be started.
    Failed,
}

impl ServerState {
    /// Returns the name of the state.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NeedsConfig => "needs-config",
            Self::Configured => "configured",
            Self::Known => "known",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Idle => "idle",
            Self::NeedsAuth => "needs-auth",
            Self::Quarantined => "quarantined",
            Self::Failed => "failed",
        }
    }

    /// Returns the state in words for a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Configured => "never asked",
            Self::Known => "asleep",
            Self::Idle => "asleep again",
            Self::Ready => "awake",
            Self::NeedsConfig => "needs settings",
            Self::NeedsAuth => "needs a login",
            Self::Quarantined => "needs approval",
            Self::Disabled => "off",
            Self::Starting | Self::Failed => self.word(),
        }
    }

    /// Returns the state by one of the six words that clients have for it.
    #[must_use]
    pub fn as_clients_say(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Configured | Self::Known | Self::Starting | Self::Idle => "pending",
            Self::Ready => "connected",
            Self::NeedsConfig | Self::Quarantined | Self::Failed => "failed",
            Self::NeedsAuth => "needs-auth",
        }
    }
}
