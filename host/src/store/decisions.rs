//! Log of all decisions on trust, approvals and grants, with their times and who made them. It only
//! grows.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use dormouse_files::paths;
use dormouse_text::visible::visible_path;
use serde::Serialize;

/// Maker of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// A person at a terminal, who was asked there.
    Terminal,
    /// The user who has run a command with `--yes`, without being asked.
    Flag,
    /// The user of a client, in a form that it has shown them.
    Client,
}

/// Decision of a user.
#[derive(Debug, Serialize)]
pub struct Decision<'a> {
    /// Kind of the decision: `trust`, `approve`, `grant`.
    pub what: &'static str,
    /// The project's folder, or the server's name.
    pub subject: &'a str,
    /// Hash of the content that was shown.
    pub shown: &'a str,
    /// Maker of the decision.
    pub by: DecidedBy,
}

/// Log of decisions: JSON Lines.
#[derive(Debug, Clone)]
pub struct Decisions {
    file: PathBuf,
}

impl Decisions {
    /// Opens the log in a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self {
            file: folder.join("decisions.jsonl"),
        }
    }

    /// Returns the file of the log.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Adds a decision, before it takes effect.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn note(&self, decision: &Decision<'_>) -> anyhow::Result<()> {
        #[derive(Serialize)]
        struct DecisionLine<'a> {
            time: u64,
            #[serde(flatten)]
            decision: &'a Decision<'a>,
        }
        let time = SystemTime::UNIX_EPOCH.elapsed();
        let line = DecisionLine {
            time: time.map_or(0, |since| since.as_secs()),
            decision,
        };
        let mut line = serde_json::to_string(&line)?;
        line.push('\n');
        let written = || {
            if let Some(folder) = self.file.parent() {
                paths::make_private(folder)?;
            }
            let mut file = paths::open_own(&self.file, File::options().append(true))?;
            file.write_all(line.as_bytes())?;
            anyhow::Ok(())
        };
        written().with_context(|| {
            format!(
                "the decision cannot be written to `{}`, and so does not count",
                visible_path(&self.file)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_lines_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let log = Decisions::new(&folder.path().join("data"));
        for by in [DecidedBy::Flag, DecidedBy::Client] {
            let decision = Decision {
                what: "trust",
                subject: "/a \"b\"\n",
                shown: "12",
                by,
            };
            log.note(&decision).unwrap();
        }
        let text = std::fs::read_to_string(log.file()).unwrap();
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["by"], "flag");
        assert_eq!(lines[1]["subject"], "/a \"b\"\n");
        std::fs::remove_file(log.file()).unwrap();
        std::fs::create_dir(log.file()).unwrap();
        let decision = Decision {
            what: "trust",
            subject: "x",
            shown: "",
            by: DecidedBy::Flag,
        };
        assert!(log.note(&decision).is_err());
    }
}
