//! Which of the last bytes of a body are kept back, whatever the secrets are that it may have.

use std::sync::Arc;

use super::pattern::Pattern;

/// Least number of bytes up to which a run of them is kept back: that of most secrets, which tells
/// their lengths apart from none.
const LEAST: usize = 64;

/// Rule of which of the last bytes are kept back, as a secret may begin there: all behind the last
/// byte that no secret has, up to a number of them. Whoever has sent a part of them sees how many
/// have come back, and must not learn by it whether they are the beginning of a secret. Therefore
/// nothing of the secrets decides but their lengths, rounded up, and whether any has separators.
#[derive(Clone, Copy)]
pub(super) struct KeptTail {
    most: usize,
    separators: Separators,
}

/// Bytes that no secret has, so that none goes on behind them.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Separators {
    /// White space, control characters, quotes, brackets and commas.
    #[default]
    OfWords,
    /// Ends of lines, where a secret has other separators.
    OfLines,
    /// None, where a secret has several lines.
    Nothing,
}

impl Separators {
    /// Returns the separators that a text has not.
    pub(super) fn not_in(text: &[u8]) -> Self {
        let all = [Self::OfWords, Self::OfLines];
        let missing = |separators: &Self| !text.iter().any(|byte| separators.has(*byte));
        all.into_iter().find(missing).unwrap_or(Self::Nothing)
    }

    /// Whether a byte is one of them.
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::OfWords => matches!(
                byte,
                0..=b' ' | b'"' | b'<' | b'>' | b'{' | b'}' | b'[' | b']' | b',' | 0x7f
            ),
            Self::OfLines => matches!(byte, b'\n' | b'\r'),
            Self::Nothing => false,
        }
    }
}

impl KeptTail {
    /// Returns the rule for these texts.
    pub(super) fn of(patterns: &[Arc<Pattern>]) -> Self {
        let lengths = patterns.iter().map(|pattern| pattern.len());
        let longest = lengths.max().unwrap_or_default().max(LEAST);
        let separators = patterns.iter().map(|pattern| pattern.separators());
        Self {
            most: longest.checked_next_power_of_two().unwrap_or(longest),
            separators: separators.max().unwrap_or_default(),
        }
    }

    /// Returns the most bytes of a run that are kept back, which no text is longer than.
    pub(super) fn most(self) -> usize {
        self.most
    }

    /// Whether no text has a byte, so that what is before it need not be kept.
    pub(super) fn ends_at(self, byte: u8) -> bool {
        self.separators.has(byte)
    }

    /// Returns the number of bytes that are kept behind a piece, where so many were kept before it.
    pub(super) fn after(self, before: usize, piece: &[u8]) -> usize {
        let mut last = piece.iter().rev().take(self.most);
        last.position(|byte| self.ends_at(*byte))
            .unwrap_or_else(|| before.saturating_add(piece.len()).min(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(texts: &[&str]) -> KeptTail {
        let patterns: Vec<_> = texts.iter().filter_map(Pattern::new).collect();
        KeptTail::of(&patterns)
    }

    #[test]
    fn a_tail_ends_at_what_no_text_has_and_at_a_length_of_many_texts() {
        let (long, longer) = ("x".repeat(65), "x".repeat(128));
        for (texts, most, word, line) in [
            (&[][..], 64, 4, 0),
            (&["s3cret-of"], 64, 4, 0),
            (&["päss+w0rd/=", "short"], 64, 4, 0),
            (&[&long], 128, 4, 0),
            (&["s3cret-of", &longer], 128, 4, 0),
            (&["of words", "s3cret-of"], 64, 15, 0),
            (&["a,b"], 64, 15, 0),
            (&["of\nlines", "s3cret-of"], 64, 33, 24),
        ] {
            let rule = rule(texts);
            assert_eq!(rule.most(), most, "{texts:?}");
            assert_eq!(
                rule.after(9, b"data: {}\ndata: {\"is\":abc"),
                word,
                "{texts:?}"
            );
            assert_eq!(rule.after(9, b"data: {\"is\":1}\n"), line, "{texts:?}");
            assert_eq!(rule.after(9, b"abc"), 12, "{texts:?}");
            assert_eq!(rule.after(9, "x".repeat(200).as_bytes()), most, "{texts:?}");
            assert_eq!(rule.after(most, b"abc"), most, "{texts:?}");
        }
    }
}
