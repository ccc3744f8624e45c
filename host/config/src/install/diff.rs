//! Diffs of changes, for a person to look at.

use similar::{ChangeTag, TextDiff};

use dormouse_text::visible::visible_path;

use super::{FileChange, mask};

/// Number of lines that are shown around a change.
const CONTEXT: usize = 3;

/// Line of a diff, with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Kind of the line.
    pub kind: Kind,
    /// The line as it is shown, with its mark and without its end.
    pub text: String,
}

/// Kind of a line of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The file's name, or the place of the next lines in it.
    Heading,
    /// A line that comes.
    Added,
    /// A line that goes.
    Removed,
    /// A line that stays.
    Kept,
}

/// Returns the unified diff of a change, with no secret in it.
#[must_use]
pub fn lines(change: &FileChange) -> Vec<DiffLine> {
    let before = mask::masked(change.before.as_deref().unwrap_or_default(), change.syntax);
    let after = mask::masked(&change.after, change.syntax);
    let name = visible_path(&change.file);
    let old = match change.before {
        Some(_) => format!("--- {name}"),
        None => "--- /dev/null".to_owned(),
    };
    let heading = |text: String| DiffLine {
        kind: Kind::Heading,
        text,
    };
    let mut lines = vec![heading(old), heading(format!("+++ {name}"))];
    let diff = TextDiff::from_lines(&before, &after);
    let mut unified = diff.unified_diff();
    for hunk in unified.context_radius(CONTEXT).iter_hunks() {
        lines.push(heading(hunk.header().to_string()));
        for part in hunk.iter_changes() {
            let text = part.value().trim_end_matches(['\r', '\n']);
            let (kind, mark) = match part.tag() {
                ChangeTag::Insert => (Kind::Added, '+'),
                ChangeTag::Delete => (Kind::Removed, '-'),
                ChangeTag::Equal => (Kind::Kept, ' '),
            };
            // What a user has commented out can be a secret as well as a word.
            let text = match kind {
                Kind::Added => text.to_owned(),
                _ => quiet(text),
            };
            lines.push(DiffLine {
                kind,
                text: format!("{mark}{text}"),
            });
        }
    }
    lines
}

/// Masks a comment that says what something is set to.
fn quiet(line: &str) -> String {
    let inner = line.trim_start();
    let mark = ["//", "#", "/*", "*"]
        .into_iter()
        .find(|mark| inner.starts_with(mark));
    match mark {
        Some(mark) if inner.contains([':', '=', '"']) => {
            let indent = line.get(..line.len() - inner.len()).unwrap_or_default();
            format!("{indent}{mark} …")
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use dormouse_files::replace::Access;

    use crate::discovery::places::Syntax;

    use super::*;

    #[test]
    fn a_diff_shows_what_changes_and_no_secret() {
        let change = FileChange {
            file: "/x.json".into(),
            syntax: Syntax::Json,
            before: Some("{\r\n  // \"t\": \"sk-1\"\r\n  // mine\r\n  \"env\": { \"A\": \"sk-2\" }\r\n}".to_owned()),
            after: "{\r\n  // \"t\": \"sk-1\"\r\n  // mine\r\n  \"env\": { \"A\": \"sk-3\" },\r\n  \"b\": 1\r\n}".to_owned(),
            access: Access::Kept,
            own: false,
        };
        let shown: Vec<_> = lines(&change).into_iter().map(|line| line.text).collect();
        assert_eq!(
            shown,
            [
                "--- /x.json",
                "+++ /x.json",
                "@@ -1,5 +1,6 @@",
                " {",
                "   // …",
                "   // mine",
                "-  \"env\": { \"A\": … }",
                "+  \"env\": { \"A\": … },",
                "+  \"b\": 1",
                " }",
            ]
        );
    }
}
