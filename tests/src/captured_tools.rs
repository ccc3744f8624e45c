//! Tools of real servers, as they listed them (`tests/fixtures/tools`), and homes in which servers offer
//! these.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::{Home, artifacts};

/// A real server's tools.
#[derive(Debug)]
pub struct CapturedServer {
    /// Name of its file, by which it is configured.
    pub name: String,
    /// Its MCP `Tool` objects.
    pub tools: Vec<Value>,
}

/// Returns the folder of the captures that are in the project.
#[must_use]
pub fn folder() -> PathBuf {
    artifacts::workspace().join("tests/fixtures/tools")
}

/// Reads all captures of a folder, by their names.
///
/// # Errors
/// There are none, or one cannot be read.
pub fn read(folder: &Path) -> Result<Vec<CapturedServer>> {
    let cannot = || format!("cannot read `{}`", folder.display());
    let mut servers = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let mut captured: Value = serde_json::from_str(&text).with_context(cannot)?;
        let name = path.file_stem().context("a file without a name")?;
        let tools = captured.get_mut("tools").map(Value::take);
        servers.push(CapturedServer {
            name: name.to_string_lossy().into_owned(),
            tools: serde_json::from_value(tools.unwrap_or_default()).with_context(cannot)?,
        });
    }
    servers.sort_by(|one, other| one.name.cmp(&other.name));
    ensure!(
        !servers.is_empty(),
        "there are no captures in `{}`",
        folder.display()
    );
    Ok(servers)
}

/// Adds real servers to a home, which answer calls of their tools with the tool and its arguments, and
/// has Dormouse learn what they offer.
///
/// # Errors
/// A file cannot be written, or Dormouse does not learn it.
pub fn add(home: &Home, servers: &[CapturedServer]) -> Result<()> {
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    for server in servers {
        let lists = home.path().join(format!("{}.tools", server.name));
        std::fs::write(&lists, json!(server.tools).to_string())?;
        let starts = home.path().join("starts");
        let words = json!(["python3", script, starts, lists]);
        home.table(&server.name, &format!("command = {words}"))?;
    }
    home.json(&["sync", "--json"])?;
    Ok(())
}
