//! Fuzz targets: `dormouse.toml`, and the files of other clients.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use std::borrow::Cow;
use std::path::Path;

use crate::naming::name;
use crate::{file, variables};

pub use crate::discovery::fuzz::{documents, dotenv, expansions, url_patterns};
pub use crate::install::edit::fuzz::edits;

/// Configurations: each problem is at a place within the file, and what is read has names
/// that servers can have.
pub fn configuration(data: &[u8]) {
    let text = text(data);
    let path = Path::new("/home/user/dormouse.toml");
    let (config, problems) = file::parse(path, &text);
    let lines: Vec<_> = text.split('\n').collect();
    let mut last = (1, 1);
    for problem in &problems {
        let place = (problem.line, problem.column);
        assert!(last <= place, "the problems are not in order");
        last = place;
        let line = lines.get(problem.line.saturating_sub(1));
        let line = line.expect("its line is within the file");
        let columns = line.chars().count() + 1;
        assert!((1..=columns).contains(&problem.column), "{problem}");
        assert!(
            !problem
                .message
                .contains(|c: char| c.is_control() && c != '\n'),
            "{problem:?}"
        );
    }
    for name in config.servers.keys() {
        assert_eq!(name::check(name), Ok(()));
    }
    // A second reading comes to the same.
    let (again, same) = file::parse(path, &text);
    assert_eq!(same, problems);
    assert_eq!(format!("{again:?}"), format!("{config:?}"));
    let expanded = variables::expand(&text, &|_| Some(String::new()));
    assert!(expanded.missing.is_empty());
    let kept = variables::expand(&text, &|_| None);
    assert!(kept.missing.len() <= text.matches("${").count());
}

/// Converts the input to a text. What is no UTF-8 is refused before anything here reads it.
pub(crate) fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Splits a text into its first line, and what comes after it.
pub(crate) fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    dormouse_tests::fuzz_loops! { configuration documents dotenv edits expansions url_patterns }
}
