//! What is told of plugins: their tools, and what they want granted.

use dormouse_wit::{GrantRequest, signature};
use serde_json::Value;
use serde_json::value::RawValue;

use super::output::{self, FAINT, STRONG};
use crate::config::edit;
use crate::sandbox::{FsGrant, FsMode, Grants};

/// Where a user's own folder belongs in a line that is shown to them.
const FOLDER: &str = "/path/to/folder";

/// One tool as people read it.
pub(super) struct Tool {
    /// The signature, with the name that was asked for.
    pub(super) signature: String,
    /// What it does, in its author's words.
    pub(super) description: String,
}

impl Tool {
    /// The tool under the name that agents see, or its own.
    pub(super) fn new(declared: &RawValue, name: &str) -> Self {
        // The catalog has parsed it before, so that nothing is lost here.
        let tool: Value = serde_json::from_str(declared.get()).unwrap_or_default();
        let input = tool.get("inputSchema").unwrap_or(&Value::Null);
        let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
        let description = match text("description") {
            "" => text("title"),
            description => description,
        };
        Self {
            signature: signature::compact(name, input, tool.get("outputSchema")),
            description: description.to_owned(),
        }
    }

    /// The signature, and the description below it.
    pub(super) fn long(&self) -> String {
        let signature = output::clean(&self.signature);
        let end = signature.find('(').unwrap_or(signature.len());
        let (name, rest) = signature.split_at(end);
        let mut text = format!("{}{rest}\n", output::styled(STRONG, name));
        for line in output::clean(&self.description).lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
        text
    }
}

/// A plugin's name, version and purpose on one line.
pub(super) fn headline(
    name: Option<&String>,
    version: Option<&String>,
    description: Option<&String>,
) -> String {
    let title: Vec<_> = [(name, 60), (version, 20)]
        .into_iter()
        .filter_map(|(text, longest)| Some(output::first_line(text?, longest)))
        .collect();
    let mut parts = vec![title.join(" ")];
    parts.extend(description.map(|text| output::first_line(text, 100)));
    parts.retain(|part| !part.is_empty());
    parts.join(": ")
}

/// What a plugin wants and does not have, with its reasons and the lines of the
/// configuration that grant it. Empty where nothing is missing.
pub(super) fn missing(
    server: &str,
    wanted: &[GrantRequest],
    granted: &Grants,
) -> anyhow::Result<String> {
    let mut reasons = String::new();
    let mut grants = Grants::default();
    for request in wanted {
        let (what, why) = match request {
            GrantRequest::Fs { write, why } => {
                let mode = if *write {
                    FsMode::ReadWrite
                } else {
                    FsMode::ReadOnly
                };
                if granted
                    .fs
                    .iter()
                    .any(|grant| !write || grant.mode == FsMode::ReadWrite)
                {
                    continue;
                }
                grants.fs.push(FsGrant {
                    path: FOLDER.into(),
                    mode,
                });
                let what = if *write {
                    "to read and write a folder"
                } else {
                    "to read a folder"
                };
                (what.to_owned(), why)
            }
            GrantRequest::Env { name, why } => {
                if granted.env.contains(name) {
                    continue;
                }
                grants.env.push(name.clone());
                (format!("to see the environment variable `{name}`"), why)
            }
            GrantRequest::Http { origin, why } => (
                format!("to reach `{origin}` (which this version cannot grant)"),
                why,
            ),
        };
        let why = output::first_line(why, 100);
        let why = if why.is_empty() {
            why
        } else {
            format!(": {why}")
        };
        reasons.push_str(&format!("  {}{why}\n", output::clean(&what)));
    }
    if reasons.is_empty() {
        return Ok(reasons);
    }
    let mut text = format!("It asks\n{reasons}");
    if let Some(table) = edit::grants_table(&grants)? {
        text.push_str("which these lines of the configuration grant:\n");
        let lines = format!("[servers.{server}.grants]\n{table}");
        for line in lines.trim_end().lines() {
            text.push_str(&format!("  {}\n", output::styled(FAINT, line)));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_lines_that_grant_it() {
        let wanted = [
            GrantRequest::Fs {
                write: true,
                why: "notes".to_owned(),
            },
            GrantRequest::Env {
                name: "TZ".to_owned(),
                why: String::new(),
            },
        ];
        let told = missing("notes", &wanted, &Grants::default()).unwrap();
        assert_eq!(
            told,
            "It asks\n  \
             to read and write a folder: notes\n  \
             to see the environment variable `TZ`\n\
             which these lines of the configuration grant:\n  \
             [servers.notes.grants]\n  \
             fs = [{ path = \"/path/to/folder\", mode = \"rw\" }]\n  \
             env = [\"TZ\"]\n"
        );
        // The lines are what the configuration takes.
        let lines: String = told
            .lines()
            .skip_while(|line| !line.contains('['))
            .map(|line| format!("{}\n", line.trim()))
            .collect();
        let text = format!("[servers.notes]\ncomponent = \"/n.wasm\"\n{lines}");
        let (config, problems) = crate::config::file::parse("/x/dormouse.toml".as_ref(), &text);
        assert_eq!(problems, []);
        let granted = &config.servers["notes"].grants;
        assert_eq!(missing("notes", &wanted, granted).unwrap(), "");
        // To read is not to write.
        let mut read_only = granted.clone();
        read_only.fs[0].mode = FsMode::ReadOnly;
        assert!(
            missing("notes", &wanted, &read_only)
                .unwrap()
                .contains("to read and write a folder")
        );
    }
}
