//! Findings on a component, cut to those that somebody reads.

use dormouse_wit::error::{Finding, Severity};

use crate::shape::beginning;

/// Most findings that are told one by one: whoever has made a component chooses how many there are.
pub(crate) const MAX_FINDINGS: usize = 100;

/// Longest name in front of a finding, in characters.
const MAX_ITEM_CHARACTERS: usize = 128;

/// Longest text of a finding, and longest hint, in characters: they quote the component.
const MAX_TEXT_CHARACTERS: usize = 1000;

/// Returns the first findings, with their texts cut, and one that says how many more there are.
/// Errors have precedence over warnings.
pub(crate) fn first_findings(all: Vec<Finding>) -> Vec<Finding> {
    let count = all.len();
    let errors = all.iter().filter(|one| one.severity == Severity::Error);
    let errors = errors.count();
    let mut most_errors = errors.min(MAX_FINDINGS);
    let mut most_warnings = MAX_FINDINGS - most_errors;
    let is_first = |finding: &Finding| {
        let most = match finding.severity {
            Severity::Error => &mut most_errors,
            Severity::Warning => &mut most_warnings,
        };
        let is_first = *most > 0;
        *most = most.saturating_sub(1);
        is_first
    };
    let mut first: Vec<_> = all.into_iter().filter(is_first).map(short).collect();
    if count > first.len() {
        let severity = match errors > MAX_FINDINGS {
            true => Severity::Error,
            false => Severity::Warning,
        };
        first.push(Finding {
            severity,
            item: "component".to_owned(),
            message: format!("there are {} more findings", count - first.len()),
            hint: Some("mend these first".to_owned()),
        });
    }
    first
}

fn short(mut finding: Finding) -> Finding {
    cut(&mut finding.item, MAX_ITEM_CHARACTERS);
    cut(&mut finding.message, MAX_TEXT_CHARACTERS);
    if let Some(hint) = &mut finding.hint {
        cut(hint, MAX_TEXT_CHARACTERS);
    }
    finding
}

fn cut(text: &mut String, characters: usize) {
    let kept = beginning(text, characters).len();
    if kept < text.len() {
        text.truncate(kept);
        text.push('…');
        // It may stay for long.
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(severity: Severity, count: usize) -> Vec<Finding> {
        let finding = |n: usize| Finding {
            severity,
            item: format!("{n}{}", "ä".repeat(3_500)),
            message: "m".repeat(3_500),
            hint: Some("h".repeat(3_500)),
        };
        (0..count).map(finding).collect()
    }

    #[test]
    fn the_first_findings_are_told_and_errors_before_warnings() {
        for (warnings, errors, told, more) in [
            (0, 0, (0, 0), None),
            (60, 40, (60, 40), None),
            (20_000, 0, (100, 0), Some(Severity::Warning)),
            (20_000, 7, (93, 7), Some(Severity::Warning)),
            (7, 20_000, (0, 100), Some(Severity::Error)),
        ] {
            let mut all = findings(Severity::Warning, warnings);
            all.extend(findings(Severity::Error, errors));
            let mut first = first_findings(all);
            let bytes = serde_json::to_string(&first).unwrap().len();
            assert!(bytes < 512 << 10, "{bytes}");
            if let Some(severity) = more {
                let last = first.pop().unwrap();
                assert_eq!(last.severity, severity);
                let count = (warnings + errors - 100).to_string();
                assert!(last.message.contains(&count), "{last}");
            }
            let count = |severity| first.iter().filter(|one| one.severity == severity).count();
            let found = (count(Severity::Warning), count(Severity::Error));
            assert_eq!(found, told);
            assert!(first.iter().all(|one| one.item.ends_with("ä…")));
        }
    }
}
