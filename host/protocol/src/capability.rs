//! Capabilities of clients: the kinds of requests that they answer.

use std::fmt;

/// Kind of request that a client can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Forms for the user.
    ElicitationForm,
    /// Pages for the user.
    ElicitationUrl,
    /// Texts from the model.
    Sampling,
    /// Texts from the model, which may call tools of the asking server on the way.
    SamplingTools,
    /// Texts from the model, with context of the client's servers put before them.
    SamplingContext,
    /// The folders that the client works in.
    Roots,
}

impl Capability {
    /// Returns the MCP method of such a request.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::ElicitationForm | Self::ElicitationUrl => "elicitation/create",
            Self::Sampling | Self::SamplingTools | Self::SamplingContext => {
                "sampling/createMessage"
            }
            Self::Roots => "roots/list",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ElicitationForm => "elicitation",
            Self::ElicitationUrl => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling.tools",
            Self::SamplingContext => "sampling.context",
            Self::Roots => "roots",
        })
    }
}
