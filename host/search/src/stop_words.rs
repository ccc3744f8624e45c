//! Words that say nothing, or little, of what a tool does.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::words::Stems;

/// English words without which a task means the same, in order.
const STOP_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "both", "but", "by", "can", "could", "did", "do", "does", "each", "etc", "for", "from", "had",
    "has", "have", "he", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "just", "let", "like", "may", "me", "might", "must", "my", "need", "of", "on", "or", "our",
    "please", "s", "shall", "she", "should", "so", "some", "such", "t", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "tool",
    "tools", "us", "use", "used", "using", "very", "via", "want", "was", "we", "were", "what",
    "when", "where", "whether", "which", "while", "who", "whose", "why", "will", "with", "within",
    "would", "you", "your",
];

/// Words that tasks are adorned with.
const WEAK_WORDS: &[&str] = &[
    "able",
    "above",
    "accurate",
    "additional",
    "all",
    "already",
    "appropriate",
    "available",
    "based",
    "below",
    "best",
    "better",
    "brief",
    "clear",
    "clearly",
    "common",
    "complete",
    "comprehensive",
    "concise",
    "corresponding",
    "deep",
    "desired",
    "detail",
    "detailed",
    "different",
    "easily",
    "easy",
    "effective",
    "entire",
    "exact",
    "existing",
    "facilitate",
    "final",
    "finally",
    "first",
    "following",
    "full",
    "given",
    "good",
    "great",
    "help",
    "helpful",
    "high",
    "identified",
    "important",
    "include",
    "including",
    "individual",
    "information",
    "interested",
    "interesting",
    "key",
    "kind",
    "know",
    "known",
    "main",
    "make",
    "many",
    "more",
    "most",
    "multiple",
    "necessary",
    "new",
    "next",
    "nice",
    "now",
    "one",
    "only",
    "other",
    "out",
    "over",
    "own",
    "particular",
    "possible",
    "potential",
    "precise",
    "proper",
    "properly",
    "provide",
    "provided",
    "quick",
    "quickly",
    "relevant",
    "required",
    "respectively",
    "result",
    "results",
    "same",
    "second",
    "separate",
    "several",
    "simple",
    "single",
    "specific",
    "specified",
    "sure",
    "take",
    "task",
    "thank",
    "thanks",
    "thing",
    "things",
    "thorough",
    "two",
    "understand",
    "up",
    "useful",
    "user",
    "valid",
    "various",
    "way",
    "well",
    "whole",
    "work",
];

/// Stems of these.
static WEAK_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let stems = Stems::new();
    WEAK_WORDS.iter().map(|word| stems.stem(word)).collect()
});

/// Checks whether a stem is of a word that says little in a task.
pub(crate) fn is_weak_word(stem: &str) -> bool {
    WEAK_STEMS.contains(stem)
}

/// Checks whether a word in lower case says nothing.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
        assert!(is_stop_word("the") && !is_stop_word("file"));
        assert!(is_weak_word("detail") && !is_weak_word("file"));
    }
}
