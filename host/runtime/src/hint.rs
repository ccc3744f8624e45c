//! Hints on content (MCP `Annotations`), as clients accept them: some discard a whole result for
//! one invalid hint.

use dormouse_text::visible::short_name;
use serde_json::Value;

/// Converts the importance of content.
///
/// # Errors
/// The reason for which it is no priority.
pub(super) fn priority(priority: f64) -> Result<Value, String> {
    part(priority).map_err(|why| format!("a `priority` of {why}"))
}

/// Converts a number from 0 to 1.
///
/// # Errors
/// The number in backticks, and the fault.
pub(super) fn part(number: f64) -> Result<Value, String> {
    match (0.0..=1.0).contains(&number) {
        true => Ok(number.into()),
        false => Err(format!("`{number}`, which is not from 0 to 1")),
    }
}

/// Checks the time of a change. MCP says ISO 8601, of which clients accept a date and a time with
/// its zone, in capitals.
///
/// # Errors
/// The reason for which it is no such time.
pub(super) fn last_modified(when: &str) -> Result<(), String> {
    match dormouse_catalog::is_moment(when) {
        true => Ok(()),
        false => {
            let shown = short_name(when);
            Err(format!(
                "a `last-modified` of `{shown}`, which is no time of ISO 8601 like `2026-07-28T12:00:00Z`"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hints_are_what_clients_take() {
        for good in [0.0, 0.5, 1.0] {
            assert_eq!(priority(good), Ok(json!(good)));
        }
        for (bad, shown) in [(f64::NAN, "NaN"), (7.5, "7.5"), (-0.1, "-0.1")] {
            let why = priority(bad).unwrap_err();
            assert!(why.contains(&format!("`{shown}`")), "{why}");
        }
        for (when, good) in [
            ("2026-07-28T12:00:00Z", true),
            ("2026-07-28T12:00:00.5+02:00", true),
            ("2026-07-28t12:00:00z", false),
            ("2026-07-28T12:00:00", false),
            ("2026-07-28", false),
            ("2026-02-30T12:00:00Z", false),
            ("yesterday", false),
            ("", false),
        ] {
            assert_eq!(last_modified(when).is_ok(), good, "{when}");
        }
    }
}
