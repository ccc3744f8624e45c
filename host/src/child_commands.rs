//! This program, started once more to read or to compile a component, or to count tokens.

use std::io;
use std::process::Command;

use dormouse_catalog::ReadTask;

/// Starts the subcommand that compiles.
///
/// # Errors
/// The system does not say where this program is.
#[cfg(not(test))]
pub(crate) fn compile_command() -> io::Result<Command> {
    let mut command = dormouse_files::own_program::same()?;
    command.arg("compile");
    Ok(command)
}

/// Starts the subcommand that reads.
///
/// # Errors
/// The system does not say where this program is.
#[cfg(not(test))]
pub(crate) fn read_command(task: ReadTask) -> io::Result<Command> {
    let mut command = dormouse_files::own_program::same()?;
    command.args(["read-component", task.name()]);
    Ok(command)
}

/// Starts the subcommand that counts tokens.
///
/// # Errors
/// The system does not say where this program is.
#[cfg(not(test))]
pub(crate) fn count_command() -> io::Result<Command> {
    let mut command = dormouse_files::own_program::same()?;
    command.arg("count-tokens");
    Ok(command)
}

/// Starts the program of the unit tests, which has a test in place of the subcommand.
#[cfg(test)]
pub(crate) fn count_command() -> io::Result<Command> {
    tests::command("child_commands::tests::count_process")
}

/// Starts the program of the unit tests, which has a test in place of the subcommand.
#[cfg(test)]
pub(crate) fn compile_command() -> io::Result<Command> {
    tests::command("child_commands::tests::compile_process")
}

/// Starts the program of the unit tests, which has a test in place of the subcommand.
#[cfg(test)]
pub(crate) fn read_command(task: ReadTask) -> io::Result<Command> {
    tests::command(match task {
        ReadTask::Listing => "child_commands::tests::list_process",
        ReadTask::Findings => "child_commands::tests::check_process",
        ReadTask::Inspection => "child_commands::tests::inspect_process",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn command(test: &str) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--exact", test, "--ignored", "--nocapture"]);
        Ok(command)
    }

    /// Does what `dormouse compile` does, for the other tests of this crate: started by them alone.
    #[test]
    #[ignore = "the process that the other tests compile in"]
    fn compile_process() {
        dormouse_runtime::compiler::run().unwrap();
        std::process::exit(0);
    }

    /// Does what `dormouse count-tokens` does, likewise.
    #[test]
    #[ignore = "the process that the other tests count in"]
    fn count_process() {
        dormouse_tokens::count_process::run().unwrap();
        std::process::exit(0);
    }

    /// Does what `dormouse read-component` does, likewise.
    fn read_process(task: ReadTask) {
        dormouse_catalog::read_process::run(task).unwrap();
        std::process::exit(0);
    }

    #[test]
    #[ignore = "the process that the other tests read in"]
    fn list_process() {
        read_process(ReadTask::Listing);
    }

    #[test]
    #[ignore = "the process that the other tests read in"]
    fn check_process() {
        read_process(ReadTask::Findings);
    }

    #[test]
    #[ignore = "the process that the other tests read in"]
    fn inspect_process() {
        read_process(ReadTask::Inspection);
    }
}
