//! `dormouse serve`: the MCP server.

use clap::{Args, ValueEnum};

/// Serves all configured plugins to one agent, over stdin and stdout.
#[derive(Debug, Args)]
pub struct Serve {
    /// How the tools are shown to the agent.
    #[arg(long, value_enum, default_value_t = Expose::Direct)]
    pub expose: Expose,
}

/// The ways to show tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Expose {
    /// Every tool is in the list.
    Direct,
}

impl Serve {
    /// Serves until the agent closes stdin, or a signal says to stop.
    ///
    /// # Errors
    /// The configuration cannot be read, or the agent does not speak MCP.
    pub fn run(self, places: crate::roster::Places) -> anyhow::Result<()> {
        let _ = (self, places);
        todo!()
    }
}
