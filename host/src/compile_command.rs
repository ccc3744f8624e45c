//! This program, started once more to compile a component.

use std::io;
use std::process::Command;

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

/// Starts the program of the unit tests, which has a test in place of the subcommand.
#[cfg(test)]
pub(crate) fn compile_command() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--exact", "compile_command::tests::compile_process"]);
    command.args(["--ignored", "--nocapture"]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    /// Does what `dormouse compile` does, for the other tests of this crate: started by them alone.
    #[test]
    #[ignore = "the process that the other tests compile in"]
    fn compile_process() {
        dormouse_runtime::compiler::run().unwrap();
        std::process::exit(0);
    }
}
