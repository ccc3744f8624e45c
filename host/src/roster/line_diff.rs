//! The lines in which two texts differ, in time that grows with their length alone.

use similar::{ChangeTag, TextDiff};

/// How many lines are compared each with each, at most. To compare more would take time by
/// their product; they are told as removed and added.
const MAX_COMPARED_LINES: usize = 2000;

/// The lines of both texts in order, each without its end: those that only the first has
/// are deleted, those that only the second has inserted.
pub(super) fn lines<'a>(before: &'a str, after: &'a str) -> Vec<(ChangeTag, &'a str)> {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let alike = |(one, other): &(&&str, &&str)| one == other;
    let start = before.iter().zip(&after).take_while(alike).count();
    let (before, after) = (before.split_at(start), after.split_at(start));
    let (head, before, after) = (before.0, before.1, after.1);
    let pairs = before.iter().rev().zip(after.iter().rev());
    let end = pairs.take_while(alike).count();
    let (before, tail) = before.split_at(before.len() - end);
    let (after, _) = after.split_at(after.len() - end);
    let all = |tag, lines: &[&'a str]| {
        lines
            .iter()
            .map(move |line| (tag, *line))
            .collect::<Vec<_>>()
    };
    let mut found = all(ChangeTag::Equal, head);
    if before.len() + after.len() <= MAX_COMPARED_LINES {
        let diff = TextDiff::from_slices(before, after);
        found.extend(diff.iter_all_changes().filter_map(|change| {
            let line = match (change.old_index(), change.new_index()) {
                (Some(old), _) => before.get(old),
                (None, new) => after.get(new?),
            };
            Some((change.tag(), *line?))
        }));
    } else {
        found.extend(all(ChangeTag::Delete, before));
        found.extend(all(ChangeTag::Insert, after));
    }
    found.extend(all(ChangeTag::Equal, tail));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let sign = |tag| match tag {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        let lines = lines(before, after).into_iter();
        lines
            .map(|(tag, line)| format!("{}{line}", sign(tag)))
            .collect()
    }

    #[test]
    fn what_differs_is_told_line_by_line() {
        for (before, after, expected) in [
            ("", "", ""),
            ("a", "", "-a"),
            ("", "a", "+a"),
            ("a\nb\nc", "a\nx\nc", " a-b+x c"),
            ("a\nb\nc\nd", "a\nc\nd", " a-b c d"),
            ("a\na", "a", " a-a"),
        ] {
            assert_eq!(shown(before, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn very_different_texts_take_linear_time() {
        let texts = |lines: usize| {
            let text = |seed: usize| {
                let lines = (0..lines).map(|line| format!("{}\n", (line * seed) % 7919));
                lines.collect::<String>()
            };
            (text(17), text(31))
        };
        dormouse_tests::growth::is_linear("two texts", 1_000, texts, |(one, other)| {
            std::hint::black_box(lines(one, other));
        });
    }
}
