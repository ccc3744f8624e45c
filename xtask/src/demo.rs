//! From a bare clone to a real MCP session.

use std::fs;

use anyhow::{Context as _, Result};
use dormouse_tests::{Home, artifacts};

use crate::{build, install, step};

/// Builds the programs, and lets the official Python SDK be the agent of a `dormouse serve` with
/// two servers.
pub(crate) fn run() -> Result<()> {
    install::python("clients")?;
    build::plugins(build::Profile::Release)?;

    let home = Home::new()?;
    let folder = home.path().join("notes");
    fs::create_dir(&folder)?;
    fs::write(folder.join("hello.txt"), "Hello from a granted folder.\n")?;
    home.server("time", &artifacts::plugin("time")?)?;
    let grants = format!(
        "[servers.filesystem.grants]\nfs = [{{ path = '{}', mode = \"rw\" }}]",
        folder.display()
    );
    home.server_with("filesystem", &artifacts::plugin("filesystem")?, &grants)?;

    println!(
        "\nThe configuration:\n\n{}",
        fs::read_to_string(home.config())?.trim_end()
    );
    let script = artifacts::workspace().join("tests/clients/python/demo.py");
    let mut session = step::command(artifacts::python("clients", "python")?);
    session
        .arg(script)
        .args(home.launch())
        .envs(home.environment());
    step::run(&mut session)?;

    println!("\nYours: the servers in the files of your clients are found as they are, and");
    println!("`dormouse add NAME FILE` adds plugins.\n{}", next_steps()?);
    Ok(())
}

/// Returns the commands to run next.
fn next_steps() -> Result<String> {
    let program = artifacts::program("dormouse")?;
    let program = program
        .to_str()
        .context("the path of `dormouse` is no Unicode")?;
    Ok(format!(
        "\n  {program} doctor                 which files were found, what is in them\n  \
         {program} install claude-code    puts Dormouse into a client's own file; also codex,\n  \
         {:width$}                        vscode, copilot, opencode, cursor, gemini, …",
        "",
        width = program.len()
    ))
}
