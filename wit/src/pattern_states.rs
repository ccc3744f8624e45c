//! States of the automaton that a pattern becomes, which bound the time of matching it.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, Repetition, RepetitionKind, RepetitionRange};

use super::pattern_size;

/// States of a pattern that cannot be read as it will be compiled: as many as the largest automaton
/// that is ever made has.
const MOST: u64 = 1 << 17;

/// Most states of a class of letters, however many are written in it: a text is at one place in it.
const MAX_CLASS: u64 = 8;

/// Number of times as many states for a pattern with properties of Unicode (`\p{L}`).
const PROPERTY_TIMES: u64 = 16;

/// Returns about the number of states of a pattern: repetitions multiply their content.
///
/// The pattern is read as it will be compiled, and not searched for counts: blanks and comments may
/// stand within these.
#[must_use]
pub fn pattern_states(pattern: &str) -> u64 {
    if !pattern_size::is_read(pattern) {
        return MOST;
    }
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else {
        return MOST;
    };
    let Ok(tree) = Parser::new().parse(&translated) else {
        return MOST;
    };
    let states = of(&tree);
    match translated.contains("\\p") || translated.contains("\\P") {
        true => states.saturating_mul(PROPERTY_TIMES),
        false => states,
    }
}

/// Returns about the number of states of a part of a pattern. It recurses into each level of nested
/// groups, which the parser bounds.
fn of(tree: &Ast) -> u64 {
    let sum = |parts: &[Ast]| {
        let parts = parts.iter().map(|part| of(part).saturating_add(1));
        parts.fold(1, u64::saturating_add)
    };
    match tree {
        Ast::Repetition(repetition) => {
            let once = of(&repetition.ast).saturating_add(1);
            once.saturating_mul(times(repetition))
        }
        Ast::Group(group) => of(&group.ast).saturating_add(1),
        Ast::Alternation(alternation) => sum(&alternation.asts),
        Ast::Concat(concat) => sum(&concat.asts),
        Ast::Empty(_)
        | Ast::Flags(_)
        | Ast::Literal(_)
        | Ast::Dot(_)
        | Ast::Assertion(_)
        | Ast::ClassUnicode(_)
        | Ast::ClassPerl(_)
        | Ast::ClassBracketed(_) => {
            let span = tree.span();
            let bytes = span.end.offset.saturating_sub(span.start.offset) as u64;
            bytes.clamp(1, MAX_CLASS)
        }
    }
}

/// Returns how often the content of a repetition is in the automaton.
fn times(repetition: &Repetition) -> u64 {
    let most = match &repetition.op.kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
        RepetitionKind::Range(RepetitionRange::Exactly(most)) => *most,
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) => least.saturating_add(1),
        RepetitionKind::Range(RepetitionRange::Bounded(_, most)) => *most,
    };
    u64::from(most).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_count_by_their_repetitions() {
        assert!(pattern_states("^[a-z]+$") < 20);
        assert!(pattern_states("((a{100}){100}){100}") > 1_000_000);
        assert!(pattern_states(r"\p{L}{10}") > pattern_states("[a-z]{10}"));
        // Those beside each other add up.
        let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
        assert!(pattern_states(uuid) < 500);
    }

    /// Counts are counts, however they are written.
    #[test]
    fn counts_with_blanks_and_comments_are_counts() {
        for pattern in [
            "[ab]{8000}",
            "[ab]{0,8000}",
            "[ab]{8000,}",
            "(?x)[ab]{#\n8000\n}",
            "(?x)[ab]{ 8 0 # 9 {1}\n 0 0 }",
            "(?x)[ab]{1,# {\n8000}",
            "(?x-i:[ab]{#}\n8000})",
            "(?: x(?x)){1}[ab]{#1\n8000}",
        ] {
            assert!(pattern_states(pattern) > 8_000, "{pattern}");
        }
        // What is not understood counts as the most that there can be.
        assert_eq!(pattern_states("(?=a)"), MOST);
    }

    #[test]
    fn counting_takes_linear_time() {
        let texts: [(&str, &dyn Fn(usize) -> String); 7] = [
            ("controls", &|size| r"\cA".repeat(size / 3)),
            ("digits", &|size| r"\d".repeat(size / 2)),
            ("others", &|size| r"[^\w\S]".repeat(size / 6)),
            ("braces", &|size| format!("[{}]", "{".repeat(size))),
            ("letters", &|size| "a".repeat(size)),
            ("counts", &|size| "a{1}".repeat(size / 4)),
            ("groups", &|size| "(a|b)".repeat(size / 4)),
        ];
        for (what, text) in texts {
            dormouse_tests::growth::is_linear(what, 500, text, |text: &String| {
                std::hint::black_box(pattern_states(text));
            });
        }
    }
}
