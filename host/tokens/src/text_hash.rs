//! Hash of a text, by which its count is kept.

use serde::{Deserialize, Serialize};

/// Bytes of a hash. Nobody gains anything by two texts of one hash.
const HASH_BYTES: usize = 12;

/// Hash of a text, as hexadecimal digits in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct TextHash([u8; HASH_BYTES]);

impl TextHash {
    /// Returns the hash of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut hash = [0; HASH_BYTES];
        let mut reader = blake3::Hasher::new().update(text.as_bytes()).finalize_xof();
        reader.fill(&mut hash);
        Self(hash)
    }
}

impl From<TextHash> for String {
    fn from(hash: TextHash) -> Self {
        hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl TryFrom<String> for TextHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WRONG: &str = "it is no hash";
        let mut hash = [0; HASH_BYTES];
        let digits = text.as_bytes();
        if digits.len() != 2 * HASH_BYTES {
            return Err(WRONG);
        }
        for (byte, digits) in hash.iter_mut().zip(digits.chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| WRONG)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| WRONG)?;
        }
        Ok(Self(hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_back_as_it_was_written() {
        let hash = TextHash::of("a");
        let text = String::from(hash);
        assert_eq!(TextHash::try_from(text), Ok(hash));
        assert_ne!(TextHash::of("b"), hash);
        for wrong in ["", "00", "zz0000000000000000000000", "äääääääääääa"] {
            assert!(TextHash::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
