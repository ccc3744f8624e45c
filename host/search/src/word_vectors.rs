//! Vectors of words: which words are near each other in meaning, as English texts use them.

/// Dimensions of a vector.
const DIMENSIONS: usize = 64;

/// Longest stem that has a vector, in bytes.
const STEM_BYTES: usize = 16;

/// Bytes of a stem and its vector.
const RECORD_BYTES: usize = STEM_BYTES + DIMENSIONS;

/// Stems in their order, each with its vector (`data/README.md`).
const RECORDS: &[u8] = include_bytes!("../data/word_vectors.bin");

/// Length of a vector.
const NORM: f32 = 180.0;

/// Place of a word among others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordVector(&'static [u8]);

impl WordVector {
    /// Returns the vector of a stem; none where it is of no common word of English.
    pub(crate) fn of(stem: &str) -> Option<Self> {
        if !stem.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let mut wanted = [0; STEM_BYTES];
        let letters = wanted.get_mut(..stem.len())?;
        letters.copy_from_slice(stem.as_bytes());
        let place = records().binary_search_by(|record| record[..STEM_BYTES].cmp(&wanted));
        Some(Self(&records().get(place.ok()?)?[STEM_BYTES..]))
    }

    /// Returns how near two words are: 1 for the same one, about 0 for words that have nothing to do
    /// with each other.
    pub(crate) fn nearness(self, other: Self) -> f32 {
        let products = self.0.iter().zip(other.0);
        let products = products
            .map(|(one, other)| i32::from(one.cast_signed()) * i32::from(other.cast_signed()));
        products.sum::<i32>() as f32 / (NORM * NORM)
    }
}

fn records() -> &'static [[u8; RECORD_BYTES]] {
    let (records, _) = RECORDS.as_chunks();
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Stems;

    fn nearness(one: &str, other: &str) -> f32 {
        let stems = Stems::new();
        let vector = |word: &str| WordVector::of(&stems.stem(word)).unwrap();
        vector(one).nearness(vector(other))
    }

    #[test]
    fn words_are_near_those_that_mean_about_the_same() {
        for (word, near, far) in [
            ("restaurant", "cafe", "database"),
            ("flights", "airline", "chess"),
            ("forecast", "prediction", "password"),
            ("medicine", "medical", "railway"),
        ] {
            assert!(nearness(word, word) > 0.97, "{word}");
            assert!(nearness(word, near) > 0.5, "{word} {near}");
            assert!(nearness(word, far) < 0.3, "{word} {far}");
        }
    }

    #[test]
    fn the_records_are_whole_and_in_order() {
        assert_eq!(RECORDS.len() % RECORD_BYTES, 0);
        assert!(records().is_sorted_by(|one, other| one[..STEM_BYTES] < other[..STEM_BYTES]));
    }

    #[test]
    fn what_is_no_word_has_none() {
        for stem in [
            "",
            "\0",
            "xqzzv",
            "get file",
            "文件",
            "a\0",
            &"long".repeat(99),
        ] {
            assert!(WordVector::of(stem).is_none(), "{stem}");
        }
    }
}
