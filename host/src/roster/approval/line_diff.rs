//! Differences of two texts by lines, in time that grows with their length alone.

use similar::{ChangeTag, TextDiff};

/// Most lines that are compared each with each, which takes time by their product. Of longer texts
/// the differing part is shown as removed and added.
const MAX_COMPARED_LINES: usize = 2000;

/// Returns the lines of both texts in order, each without its end: those only in `before` as
/// deleted, those only in `after` as inserted.
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

/// Number of unchanged lines that are shown before a change, and after it.
const CONTEXT_LINES: usize = 3;

/// Part of a difference as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownDiffPart<'a> {
    /// A line, and whether it was added, removed or neither.
    Line(ChangeTag, &'a str),
    /// Number of unchanged lines that are left out.
    Unchanged(usize),
}

/// Returns all changed lines, with the unchanged ones next to them. Without any change of lines all
/// lines are returned: the texts differ in something else.
pub(super) fn with_context<'a>(lines: &[(ChangeTag, &'a str)]) -> Vec<ShownDiffPart<'a>> {
    let has_changed = |(tag, _): &(ChangeTag, &str)| *tag != ChangeTag::Equal;
    let is_all = !lines.iter().any(has_changed);
    let mut shown = Vec::new();
    let parts = lines.chunk_by(|one, other| has_changed(one) == has_changed(other));
    let (mut begin, end) = (0, lines.len());
    for part in parts {
        let (is_first, is_last) = (begin == 0, begin + part.len() == end);
        begin += part.len();
        let before = if is_first { 0 } else { CONTEXT_LINES };
        let after = if is_last { 0 } else { CONTEXT_LINES };
        let line = |(tag, line): &(ChangeTag, &'a str)| ShownDiffPart::Line(*tag, line);
        let left_out = part.len().saturating_sub(before + after);
        // One line is not longer than what would stand for it.
        if is_all || left_out < 2 || part.iter().any(has_changed) {
            shown.extend(part.iter().map(line));
            continue;
        }
        shown.extend(part.iter().take(before).map(line));
        shown.push(ShownDiffPart::Unchanged(left_out));
        shown.extend(part.iter().skip(before + left_out).map(line));
    }
    shown
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
    fn what_has_changed_is_shown_whole_and_all_else_near_it() {
        let text = |range: std::ops::Range<u32>| -> Vec<String> {
            range.map(|line| format!("{line}\n")).collect()
        };
        let shown = |before: &str, after: &str| -> String {
            let lines = lines(before, after);
            let shown = with_context(&lines).into_iter();
            shown
                .map(|shown| match shown {
                    ShownDiffPart::Line(ChangeTag::Delete, line) => format!("-{line}"),
                    ShownDiffPart::Line(ChangeTag::Insert, line) => format!("+{line}"),
                    ShownDiffPart::Line(ChangeTag::Equal, line) => format!(" {line}"),
                    ShownDiffPart::Unchanged(count) => format!(" ({count})"),
                })
                .collect()
        };
        let before = text(0..30).concat();
        let mut after = text(0..30);
        after[10] = "x\n".to_owned();
        let of_one = " (7) 7 8 9-10+x 11 12 13 (16)";
        assert_eq!(shown(&before, &after.concat()), of_one);
        after[18] = "y\n".to_owned();
        // One line between is shown itself.
        let of_both = " (7) 7 8 9-10+x 11 12 13 14 15 16 17-18+y 19 20 21 (8)";
        assert_eq!(shown(&before, &after.concat()), of_both);
        after[19] = "z\n".to_owned();
        after[0] = "w\n".to_owned();
        let of_more = "-0+w 1 2 3 (3) 7 8 9-10+x 11 12 13 14 15 16 17-18-19+y+z 20 21 22 (7)";
        assert_eq!(shown(&before, &after.concat()), of_more);
        let added = text(30..60).concat();
        assert_eq!(shown("", &added).matches('+').count(), 30);
        assert_eq!(shown(&added, &added).matches(' ').count(), 30);
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
