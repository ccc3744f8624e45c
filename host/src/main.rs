//! The `dormouse` command.

use std::process::ExitCode;

use clap::Parser as _;
use dormouse::cli::{Cli, output};

fn main() -> ExitCode {
    Cli::parse()
        .run()
        .unwrap_or_else(|error| output::failure(&error))
}
