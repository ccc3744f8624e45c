//! From a bare clone to a real MCP session.

use std::fs;

use anyhow::{Context as _, Result};
use dormouse_tests::{Home, artifacts};

use crate::{build, install, step};

/// Builds what is needed, and lets the official Python SDK be the agent of a
/// `dormouse serve` with two servers.
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

    println!("\nTo use it, add servers to your own configuration with `dormouse add NAME FILE`,");
    println!("and Dormouse to your agent:\n{}", agents()?);
    Ok(())
}

/// The line that adds Dormouse to each agent.
fn agents() -> Result<String> {
    let program = artifacts::program("dormouse")?;
    let program = program
        .to_str()
        .context("the path of `dormouse` is no Unicode")?;
    let quoted = serde_json::to_string(program)?;
    Ok(format!(
        r#"
Claude Code   claude mcp add --scope user dormouse -- {program} serve
Codex         codex mcp add dormouse -- {program} serve
VS Code       code --add-mcp '{{"name":"dormouse","command":{quoted},"args":["serve"]}}'
Copilot CLI   in ~/.copilot/mcp-config.json, under "mcpServers":
              "dormouse": {{ "type": "local", "command": {quoted}, "args": ["serve"], "tools": ["*"] }}
OpenCode      in ~/.config/opencode/opencode.json, under "mcp":
              "dormouse": {{ "type": "local", "command": [{quoted}, "serve"] }}"#
    ))
}
