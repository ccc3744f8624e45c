//! Exposure: which tools agents can call, and how they are shown these, as plain data and the
//! decisions that are made by it.

mod access;
mod confirmation;
mod decision;
mod decision_reason;
mod hints;
mod patterns;
mod profile;
mod rules;

pub use access::ToolAccess;
pub use confirmation::Confirmation;
pub use decision::{ClientTraits, ExposureDecision, ShownMode, ToolCosts, decide};
pub use decision_reason::{DecisionReason, TooManyTools};
pub use hints::{HintOverrides, ToolHints};
pub use patterns::NamedTool;
pub use profile::Profile;
pub use rules::{DEFAULT_BUDGET, ExposureRules, HiddenBy, ToolExposure};

/// Way in which tools are shown to agents: `mode` of `[exposure]`, `serve --expose`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExposureMode {
    /// All tools are in the list.
    Direct,
    /// The list has a tool that loads others, and an index of their names.
    Index,
    /// The list has tools that search for others and call them.
    Search,
    /// One of these, by what the tools cost and the client can do.
    #[default]
    Auto,
}

impl ExposureMode {
    /// The modes, each with its word in the configuration.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("direct", Self::Direct),
        ("index", Self::Index),
        ("search", Self::Search),
        ("auto", Self::Auto),
    ];

    /// Returns the word in the configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Index => "index",
            Self::Search => "search",
            Self::Auto => "auto",
        }
    }
}

/// Way in which the tools of one server are shown, whatever the mode is: `expose` of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerExposure {
    /// Its tools are always in the list.
    Direct,
    /// Its tools are never in the list before they are asked for.
    Deferred,
    /// Its tools cannot be called, and nobody is told of them.
    Hidden,
}

impl ServerExposure {
    /// The ways, each with its word in the configuration.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("direct", Self::Direct),
        ("deferred", Self::Deferred),
        ("hidden", Self::Hidden),
    ];
}
