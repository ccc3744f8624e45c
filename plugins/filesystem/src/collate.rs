//! The order of names: as JavaScript's `localeCompare` has it for English, where
//! `a` comes before `B` and `é` before `f`.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// ASCII characters that sort before the digits, in their order.
const MARKS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Returns the key by which a name is sorted: its letters first, then their accents, then their
/// case. It is exact for ASCII, right for letters that can be decomposed into that, and the order
/// of code points for other scripts.
pub fn key(name: &str) -> (Vec<u32>, Vec<(usize, u32)>, Vec<bool>) {
    let (mut letters, mut accents, mut upper) = (Vec::new(), Vec::new(), Vec::new());
    for c in name.nfd() {
        if c.is_ascii_control() {
            continue;
        }
        if is_combining_mark(c) {
            accents.push((letters.len(), u32::from(c)));
            continue;
        }
        let small = c.to_lowercase().next().unwrap_or(c);
        letters.push(weight(small));
        upper.push(small != c);
    }
    (letters, accents, upper)
}

fn weight(c: char) -> u32 {
    match MARKS.find(c) {
        Some(index) => u32::try_from(index).unwrap_or_default(),
        // After the marks, ASCII keeps its own order: digits, then letters.
        None => u32::from(c) + 256,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_in_javascript() {
        // What Node.js makes of them.
        let sorted = "a b a_b a-b a.b ab aB Ab AB b e E é É f n ñ o p ü ue z а ж я 日 本";
        let mut names: Vec<&str> = sorted.split(' ').skip(2).collect();
        names.insert(0, "a b");
        let expected = names.clone();
        names.reverse();
        names.sort_by_cached_key(|name| key(name));
        assert_eq!(names, expected);
    }
}
