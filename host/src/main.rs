//! The `dormouse` command.

use std::process::ExitCode;

use dormouse::cli::{Cli, output};

/// Global allocator. glibc's keeps the memory of a burst of large answers for as long as the host
/// lives, and is a bottleneck when many agents call at once. The settings of this one are in
/// `.cargo/config.toml`.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    match Cli::of_arguments() {
        Ok(cli) => cli.run().unwrap_or_else(|error| output::failure(&error)),
        Err(error) => output::misuse(&error),
    }
}
