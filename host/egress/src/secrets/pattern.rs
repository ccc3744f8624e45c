//! Texts that are looked for, each known by its fingerprint.

use std::sync::{Arc, LazyLock};

use super::kept_tail::Separators;

/// Modulus of fingerprints: a prime of 61 bits, to which products are reduced by shifting.
const PRIME: u64 = (1 << PRIME_BITS) - 1;
const PRIME_BITS: u32 = 61;

/// Base of fingerprints, which no plugin knows, so that none can make up bytes that have the
/// fingerprint of others.
static BASE: LazyLock<u64> = LazyLock::new(|| {
    const LEAST: u64 = 1 << 32;
    let mut random = [0x5a; 8];
    // Without random numbers the same texts are found.
    let _ = getrandom::fill(&mut random);
    u64::from_le_bytes(random) % (PRIME - LEAST) + LEAST
});

/// Text that is looked for.
pub(super) struct Pattern {
    bytes: Vec<u8>,
    fingerprint: TextFingerprint,
    /// Weight that the fingerprint of the bytes before a text has in that of all up to its end.
    weight_before: TextFingerprint,
    separators: Separators,
}

/// Value of bytes as the digits of a number, reduced: of different bytes it is different, but for a
/// chance of one in a trillion.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TextFingerprint(u64);

impl TextFingerprint {
    /// Returns the fingerprint of the bytes and one more.
    pub(super) fn with(self, byte: u8) -> Self {
        // No digit is 0, which would not count at the beginning.
        let digit = u64::from(byte) + 1;
        Self(reduced(self.times(Self(*BASE)).0 + digit))
    }

    /// Returns the fingerprint of the last bytes, by that of all before them.
    pub(super) fn without(self, before: Self, weight: Self) -> Self {
        Self(reduced(self.0 + PRIME - before.times(weight).0))
    }

    fn times(self, other: Self) -> Self {
        let product = u128::from(self.0) * u128::from(other.0);
        let part = |part: u128| u64::try_from(part & u128::from(PRIME)).unwrap_or_default();
        Self(reduced(part(product) + part(product >> PRIME_BITS)))
    }
}

/// Returns a number of less than twice the modulus, reduced.
fn reduced(number: u64) -> u64 {
    number.checked_sub(PRIME).unwrap_or(number)
}

impl Pattern {
    /// Prepares the search for a text; none for an empty one.
    pub(super) fn new(text: impl AsRef<[u8]>) -> Option<Arc<Self>> {
        let text = text.as_ref();
        let nothing = TextFingerprint::default();
        let one = TextFingerprint(1);
        let pattern = Self {
            bytes: text.to_vec(),
            fingerprint: text.iter().copied().fold(nothing, TextFingerprint::with),
            weight_before: text
                .iter()
                .fold(one, |weight, _| weight.times(TextFingerprint(*BASE))),
            separators: Separators::not_in(text),
        };
        (!text.is_empty()).then(|| Arc::new(pattern))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the length of the text, in bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn fingerprint(&self) -> TextFingerprint {
        self.fingerprint
    }

    pub(super) fn weight_before(&self) -> TextFingerprint {
        self.weight_before
    }

    /// Returns the separators that the text has not.
    pub(super) fn separators(&self) -> Separators {
        self.separators
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> TextFingerprint {
        let bytes = bytes.iter().copied();
        bytes.fold(TextFingerprint::default(), TextFingerprint::with)
    }

    #[test]
    fn the_last_bytes_have_the_fingerprint_of_their_text_wherever_they_are() {
        let pattern = Pattern::new("text").unwrap();
        for before in [&b""[..], b"x", b"\0", b"\xff\xff\xff", &[255; 1000]] {
            let all = of(&[before, b"text"].concat());
            let last = all.without(of(before), pattern.weight_before());
            assert!(last == pattern.fingerprint(), "{before:?}");
            let other = of(&[before, b"texu"].concat());
            let other = other.without(of(before), pattern.weight_before());
            assert!(other != pattern.fingerprint(), "{before:?}");
        }
        assert!(of(b"\0\0text") != of(b"text"));
        let most = TextFingerprint(PRIME - 1);
        assert!(most.times(most) == TextFingerprint(1));
        assert!(Pattern::new("").is_none());
    }
}
