//! The tokenizer.

use tiktoken_rs::CoreBPE;

/// The tokenizer of the name [`TOKENIZER`](crate::TOKENIZER), in memory.
pub struct Tokenizer(CoreBPE);

impl Tokenizer {
    /// Loads it, which takes a tenth of a second: its table is inside of this program.
    ///
    /// # Errors
    /// The table is damaged.
    pub fn load() -> anyhow::Result<Self> {
        tiktoken_rs::o200k_base().map(Self)
    }

    /// Returns the number of tokens of a text. No word in it is taken for a mark of its own.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.0.count_ordinary(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_counts_that_are_published_for_them() {
        let tokenizer = Tokenizer::load().unwrap();
        for (text, tokens) in [
            ("", 0),
            ("hello world", 2),
            ("antidisestablishmentarianism", 6),
            ("2 + 2 = 4", 7),
            ("お誕生日おめでとう", 8),
        ] {
            assert_eq!(tokenizer.count(text), tokens, "{text}");
        }
        assert!(tokenizer.count("<|endoftext|>") > 1);
    }
}
