//! `dormouse completions`

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, output};

/// Prints what makes a shell complete `dormouse`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse completions bash > ~/.local/share/bash-completion/completions/dormouse\n  \
    dormouse completions zsh > ~/.zfunc/_dormouse\n  \
    dormouse completions fish > ~/.config/fish/completions/dormouse.fish")]
pub(super) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "dormouse", &mut script);
        output::print(&String::from_utf8(script)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
