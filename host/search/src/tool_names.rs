//! Names of tools: found by the whole of them, by their beginning, and with one letter mistyped.

/// Longest name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Returns a name without what people write it with in different ways: case and separators.
pub(crate) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let mut folded = String::new();
    for letter in letters.flat_map(char::to_lowercase) {
        if folded.len() >= MAX_NAME_BYTES {
            break;
        }
        folded.push(letter);
    }
    folded
}

/// Checks whether two names differ by one letter at most: another one, one more, one less, or two
/// beside each other exchanged.
pub(crate) fn is_one_letter_off(one: &[u8], other: &[u8]) -> bool {
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (
        one.get(same..).unwrap_or_default(),
        other.get(same..).unwrap_or_default(),
    );
    let ends = one.iter().rev().zip(other.iter().rev());
    let same = ends.take_while(|(a, b)| a == b).count();
    let one = one.get(..one.len() - same).unwrap_or_default();
    let other = other.get(..other.len() - same).unwrap_or_default();
    match (one, other) {
        ([], []) | ([_], []) | ([], [_]) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Returns which letters and digits a word has, as bits: words that differ by one letter differ by
/// two bits at most.
pub(crate) fn letters(word: &str) -> u64 {
    let bits = word.bytes().map(|byte| match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'0'..=b'9' => 1 << (26 + byte - b'0'),
        // Letters of other scripts are several bytes: the same bit for all.
        _ => 1 << 36,
    });
    bits.fold(0, |all, bit: u64| all | bit)
}
