//! The `dormouse` command.

use std::process::ExitCode;

use clap::Parser as _;
use dormouse::cli::{Cli, output};

/// glibc's allocator keeps what a burst of large answers took for as long as the host
/// lives, and is a bottleneck when many agents call at once. How this one is set is in
/// `.cargo/config.toml`.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => cli.run().unwrap_or_else(|error| output::failure(&error)),
        Err(error) => output::misuse(&error),
    }
}
