//! The MCP clients whose configuration is understood.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dormouse_text::nearest::nearest;

/// A client that keeps a list of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "named after the clients")]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Copilot,
    VsCode,
    Cursor,
    OpenCode,
    Codex,
    Gemini,
    Zed,
    Windsurf,
    Continue,
    Amp,
    Forge,
    ChatMd,
    Goose,
}

/// Each client and its name on the command line, in the order of precedence: where
/// two of them have a server of one name, that of the first is taken.
const NAMES: [(Client, &str); 15] = [
    (Client::ClaudeCode, "claude-code"),
    (Client::ClaudeDesktop, "claude-desktop"),
    (Client::Copilot, "copilot"),
    (Client::VsCode, "vscode"),
    (Client::Cursor, "cursor"),
    (Client::OpenCode, "opencode"),
    (Client::Codex, "codex"),
    (Client::Gemini, "gemini"),
    (Client::Zed, "zed"),
    (Client::Windsurf, "windsurf"),
    (Client::Continue, "continue"),
    (Client::Amp, "amp"),
    (Client::Forge, "forge"),
    (Client::ChatMd, "chatmd"),
    (Client::Goose, "goose"),
];

impl Client {
    /// Returns all clients, in the order of precedence.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(client, _)| *client)
    }

    /// Returns the client's name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES
            .iter()
            .find_map(|(client, name)| (*client == self).then_some(*name))
            .unwrap_or_default()
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::all()
            .find(|client| client.name() == name)
            .ok_or_else(|| {
                let names: Vec<_> = Self::all().map(Self::name).collect();
                let all = names.join("`, `");
                match nearest(name, names) {
                    Some(near) => format!("did you mean `{near}`? The clients are `{all}`"),
                    None => format!("the clients are `{all}`"),
                }
            })
    }
}

/// Scope of an entry in a client's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Scope {
    /// Written by the machine's administrator.
    Managed,
    /// Written by the user, for all they do.
    #[default]
    User,
    /// Written by the user, for one project (Claude Code's `local`).
    Local(PathBuf),
    /// Written in a project's folder, and so perhaps by anybody.
    Project(PathBuf),
}

impl Scope {
    /// Returns the project in whose folder the files of the scope are, where they are in one.
    #[must_use]
    pub fn project(&self) -> Option<&Path> {
        match self {
            Self::Project(folder) => Some(folder),
            Self::Managed | Self::User | Self::Local(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for client in Client::all() {
            assert_eq!(client.name().parse(), Ok(client));
        }
        let told = |name: &str| name.parse::<Client>().unwrap_err();
        assert!(told("Claude-Code").starts_with("did you mean `claude-code`?"));
        assert!(told("emacs").starts_with("the clients are `claude-code`"));
    }
}
