//! What a client can be asked for.

use std::fmt;

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Forms for the user.
    ElicitationForm,
    /// Pages for the user.
    ElicitationUrl,
    /// Texts from the model.
    Sampling,
    /// Texts from the model, which may use tools of the asker's on the way.
    SamplingTools,
    /// Texts from the model, with what the client's servers know of put before them.
    SamplingContext,
    /// The folders that it works in.
    Roots,
}

impl Capability {
    /// The MCP method that asks for it.
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
