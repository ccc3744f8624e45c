//! Texts without a difference between upper and lower case.

/// Checks whether two texts are the same to readers that make no difference between upper and lower
/// case: also where a letter beyond ASCII has one of ASCII as its other case.
#[must_use]
pub fn is_same_but_for_case(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    let upper = text.chars().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::is_same_but_for_case;

    #[test]
    fn letters_that_readers_take_for_each_other_are_the_same() {
        for (one, other, is_same) in [
            ("resultType", "resultType", true),
            ("resultType", "ResultTYPE", true),
            ("resultType", "re\u{17f}ultType", true),
            ("task", "tas\u{212a}", true),
            ("resultType", "resultTypes", false),
            ("resultType", "result_type", false),
            ("", "", true),
        ] {
            assert_eq!(is_same_but_for_case(one, other), is_same, "{one} {other}");
        }
    }
}
