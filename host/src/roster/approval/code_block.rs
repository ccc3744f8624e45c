//! Texts of strangers in forms: some clients render the message of a form as Markdown, where a comment
//! of HTML, or the target of a link, would not be seen.

use dormouse_text::broken_lines::broken_lines;

/// Columns of lines in a form: what is longer is broken here, where it is seen to go on.
const FORM_COLUMNS: usize = 76;

/// Shortest fence of a block, in characters.
const MIN_FENCE: usize = 3;

/// Returns a text as a block of code, in which nothing is rendered: between fences that are longer
/// than any run of backticks in it.
pub(super) fn code_block(text: &str) -> String {
    let (mut run, mut longest) = (0, 0);
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(MIN_FENCE));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}text\n{text}{end}{fence}\n")
}

/// Returns a text that is shown to be judged line by line as a block of code.
pub(super) fn judged_block(text: &str) -> String {
    code_block(&broken_lines(text, FORM_COLUMNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_block_ends_it() {
        for (text, expected) in [
            ("a", "```text\na\n```\n"),
            ("a `b`\n", "```text\na `b`\n```\n"),
            ("```\n<!-- x", "````text\n```\n<!-- x\n````\n"),
            ("\n  `````` ", "```````text\n\n  `````` \n```````\n"),
        ] {
            assert_eq!(code_block(text), expected);
        }
    }
}
