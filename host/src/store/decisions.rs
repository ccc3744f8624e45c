//! Log of all decisions on trust, approvals and grants, with their times and who made them. It only
//! grows.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
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
    /// The user who has run a command that takes something away, and so asks nothing.
    Command,
}

/// Decision of a user.
#[derive(Debug, Serialize)]
pub struct Decision<'a> {
    /// Kind of the decision: `trust`, `revoke-trust`, `approve`, `grant`.
    pub what: &'static str,
    /// The project's folder, or the server's name.
    pub subject: &'a str,
    /// Hash of the content that was shown; of a revocation, of what was trusted until then.
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
        self.add(decision).with_context(|| {
            format!(
                "the decision cannot be written to `{}`, and so does not count",
                visible_path(&self.file)
            )
        })
    }

    /// Adds a decision that takes something away, after it has taken effect: it counts whether it can
    /// be written down or not.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn note_in_effect(&self, decision: &Decision<'_>) -> anyhow::Result<()> {
        self.add(decision).with_context(|| {
            format!(
                "the decision counts, and cannot be written to `{}`",
                visible_path(&self.file)
            )
        })
    }

    fn add(&self, decision: &Decision<'_>) -> anyhow::Result<()> {
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
        let line = serde_json::to_string(&line)?;
        if let Some(folder) = self.file.parent() {
            paths::make_private(folder)?;
        }
        let mut file = paths::open_own(&self.file, File::options().read(true).append(true))?;
        // While another process writes, the last line has no end.
        file.lock()?;
        // Nor has it where a write was cut off: what is added to that could not be read either.
        let begin = match ends_in_line(&mut file)? {
            true => "",
            false => "\n",
        };
        file.write_all(format!("{begin}{line}\n").as_bytes())?;
        Ok(())
    }
}

/// Checks whether a file is empty, or its last line has its end.
fn ends_in_line(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
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

    /// Power may go while a line is written, or the disk may be full.
    #[test]
    fn a_line_that_was_cut_off_swallows_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let log = Decisions::new(folder.path());
        let note = |subject: &str| {
            let decision = Decision {
                what: "trust",
                subject,
                shown: "12",
                by: DecidedBy::Flag,
            };
            log.note(&decision).unwrap();
        };
        note("first");
        let whole = std::fs::read(log.file()).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(log.file(), &whole[..cut]).unwrap();
            note("second");
            note("third");
            let text = std::fs::read_to_string(log.file()).unwrap();
            let lines = text.lines().rev().take(2);
            let subjects: Vec<_> = lines
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
                .map(|line| line["subject"].clone())
                .collect();
            assert_eq!(subjects, ["third", "second"], "{text}");
            assert!(text.as_bytes().starts_with(&whole[..cut]), "{text}");
        }
    }
}
