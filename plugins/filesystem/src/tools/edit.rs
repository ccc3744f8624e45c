//! Replacing parts of a text file.

use std::borrow::Cow;

use crate::diff;
use crate::error::Error;
use crate::paths::Folders;
use crate::text;
use crate::tools::{read, write};

/// Largest file that is edited, in bytes. The diff keeps eight bytes for each line twice, so this
/// limit is smaller than that for reading.
const MAX_EDITED: u64 = 8 << 20;

/// Replacement of a text.
#[derive(Debug, Clone)]
pub struct Edit {
    /// Text to look for.
    pub old_text: String,
    /// Text to put there.
    pub new_text: String,
}

/// `edit_file`: applies the edits one after the other, and answers with the diff.
///
/// Line endings make no difference for a match. A file whose lines all end in `\r\n` keeps these;
/// the reference turns such a file into `\n` without showing it in the diff.
pub fn file(folders: &Folders, path: &str, edits: &[Edit], dry_run: bool) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    if !dry_run {
        folders.check_writable(&real)?;
    }
    let bytes = read::bytes(
        &real,
        MAX_EDITED,
        "a file this large has to be changed by other means",
    )?;
    let original = String::from_utf8(bytes).map_err(|_| Error::NotText(real.clone()))?;
    let before = text::unix_lines(original.clone());
    let after = apply(&before, edits)?;
    if !dry_run && after != before {
        let has_crlf = before.len() < original.len();
        let all_crlf =
            has_crlf && original.matches('\n').count() == original.matches("\r\n").count();
        if all_crlf {
            write::replace(&real, &after.replace('\n', "\r\n"))?;
        } else {
            write::replace(&real, &after)?;
        }
    }
    Ok(fenced(&diff::unified(&real, &before, &after)))
}

/// Returns the diff between more backticks than it has itself.
fn fenced(diff: &str) -> String {
    let mut fence = String::from("```");
    while diff.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}diff\n{diff}{fence}\n\n")
}

fn apply(content: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut content = content.to_owned();
    for edit in edits {
        let old = text::unix_lines(edit.old_text.clone());
        let new = text::unix_lines(edit.new_text.clone());
        content = if content.contains(&old) {
            content.replacen(&old, &new, 1)
        } else {
            by_lines(&content, &old, &new).ok_or_else(|| Error::NoMatch(edit.old_text.clone()))?
        };
    }
    Ok(content)
}

/// Replaces the first lines that are those of `old` but for the white space
/// around them, and indents the new ones like them.
fn by_lines(content: &str, old: &str, new: &str) -> Option<String> {
    let lines: Vec<&str> = content.split('\n').collect();
    let old: Vec<&str> = old.split('\n').collect();
    let trim = |line: &&str| line.trim_matches(text::is_space).to_owned();
    let wanted: Vec<String> = old.iter().map(trim).collect();
    let at = lines.windows(old.len()).position(|window| {
        window
            .iter()
            .zip(&wanted)
            .all(|(line, wanted)| line.trim_matches(text::is_space) == wanted)
    })?;
    let indent = text::indent(lines.get(at)?);
    let mut result: Vec<Cow<'_, str>> =
        lines.iter().take(at).map(|line| Cow::from(*line)).collect();
    for (index, line) in new.split('\n').enumerate() {
        let old_indent = text::indent(old.get(index).copied().unwrap_or_default())
            .chars()
            .count();
        let new_indent = text::indent(line).chars().count();
        let bare = line.trim_start_matches(text::is_space);
        result.push(match index {
            0 => format!("{indent}{bare}").into(),
            _ if old_indent > 0 && new_indent > 0 => {
                let deeper = new_indent.saturating_sub(old_indent);
                format!("{indent}{}{bare}", " ".repeat(deeper)).into()
            }
            _ => line.into(),
        });
    }
    result.extend(
        lines
            .iter()
            .skip(at + old.len())
            .map(|line| Cow::from(*line)),
    );
    Some(result.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::paths::Folder;

    fn edit(old: &str, new: &str) -> Edit {
        Edit {
            old_text: old.to_owned(),
            new_text: new.to_owned(),
        }
    }

    #[test]
    fn edits_apply_in_order() {
        let edited = apply("a\nb\na\n", &[edit("a\n", "x\r\n"), edit("b\na", "$&")]).unwrap();
        assert_eq!(edited, "x\n$&\n");
        assert_eq!(apply("a", &[edit("", "b")]).unwrap(), "ba");
        let error = apply("a", &[edit("nowhere", "b")]).unwrap_err().to_string();
        assert_eq!(error, "Could not find exact match for edit:\nnowhere");
    }

    #[test]
    fn indentation_is_kept() {
        let content = "fn f() {\n    if x {\n        y();\n    }\n}\n";
        let edited = apply(
            content,
            &[edit("if x {\n\ty();\n}", "if z {\n\t\tw();\n}\nv();")],
        )
        .unwrap();
        assert_eq!(edited, "fn f() {\n    if z {\n     w();\n}\nv();\n}\n");
    }

    #[test]
    fn files_are_edited_and_diffs_fenced() {
        let (_dir, root) = crate::fixture::folder();
        let path = format!("{root}/f.md");
        fs::write(&path, "```\r\nold\r\n```\r\n").unwrap();
        let folder = |writable| {
            Folders::new(
                vec![Folder {
                    path: root.clone(),
                    writable,
                }],
                None,
            )
        };
        let edits = [edit("old", "new")];
        let diff = file(&folder(false), &path, &edits, true).unwrap();
        assert!(
            diff.starts_with("````diff\nIndex: ") && diff.ends_with("\n````\n\n"),
            "{diff}"
        );
        assert!(
            diff.contains("@@ -1,3 +1,3 @@\n ```\n-old\n+new\n ```\n"),
            "{diff}"
        );
        assert!(matches!(
            file(&folder(false), &path, &edits, false),
            Err(Error::ReadOnly { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), b"```\r\nold\r\n```\r\n");
        file(&folder(true), &path, &edits, false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"```\r\nnew\r\n```\r\n");
        fs::write(&path, b"\xff").unwrap();
        assert!(matches!(
            file(&folder(true), &path, &edits, false),
            Err(Error::NotText(_))
        ));
        assert_eq!(fs::read(&path).unwrap(), b"\xff");
    }
}
