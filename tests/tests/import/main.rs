//! Servers are taken over from clients' files, Dormouse is put into them, and both
//! are undone: the real program in homes made for it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod imported;
mod installed;
mod installed_each;
mod installed_entry;
mod own_entries;
mod project_files;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use dormouse_tests::Home;

/// Files of some clients, by their paths in the home.
const FILES: [(&str, &str); 5] = [
    (
        ".cursor/mcp.json",
        r#"{
  // my servers
  "mcpServers": {
    "github": {
      "command": "npx", // the usual
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": { "TOKEN": "ghp_secret", "HOME_DIR": "${userHome}", "V": "${env:FOO}" }
    },
    // the other one
    "remote": {
      "url": "https://mcp.example.com/mcp",
      "headers": { "Authorization": "Bearer ${env:TOK}" }
    },
  },
}
"#,
    ),
    (
        "config/Code/User/mcp.json",
        "{\r\n\t\"servers\": {\r\n\t\t\"gh\": { \"type\": \"stdio\", \"command\": \"npx\", \"env\": { \"TOKEN\": \"${input:tok}\" } },\r\n\t\t\"time\": { \"type\": \"stdio\", \"command\": \"uvx\", \"args\": [\"mcp-server-time\"] }\r\n\t},\r\n\t\"inputs\": [{ \"id\": \"tok\", \"type\": \"promptString\", \"description\": \"Token\" }]\r\n}",
    ),
    (
        ".codex/config.toml",
        "model = \"gpt-5\" # mine\n\n[mcp_servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\n\n[mcp_servers.github]\ncommand = \"other\"\n[mcp_servers.github.env]\nKEY = \"sk-secret\"\n\n[tui]\ntheme = \"x\"\n",
    ),
    (
        "config/goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n    name: developer\n  fetch: # fetches\n    type: stdio\n    cmd: uvx\n    args: [mcp-server-fetch]\n    env_keys: [FETCH_KEY]\n    enabled: true\n    timeout: 90\n    name: fetch\n# end\n",
    ),
    (
        ".continue/config.yaml",
        "name: mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: sql\n    command: uvx\n    args:\n      - mcp-sql\n    env:\n      KEY: ${{ secrets.SQL_KEY }}\n",
    ),
];

fn home() -> Home {
    let home = Home::new().unwrap();
    for (file, text) in FILES {
        write(&home.path().join(file), text);
    }
    home
}

pub(crate) fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn read(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).unwrap()
}

/// Runs a command that has to succeed. Returns its output on both streams.
fn run(home: &Home, words: &[&str]) -> String {
    let output = home.run(words).unwrap();
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    said(&output)
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Returns all files that a user would call their own.
fn files(home: &Home) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let own = ["cache", "run"].map(|name| home.path().join(name));
            if path.is_dir() && !own.contains(&path) {
                folders.push(path);
            } else if path.is_file() {
                found.insert(path.clone(), fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}
