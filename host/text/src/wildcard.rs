//! Patterns in which `*` stands for any characters.

/// Whether a pattern with `*` in it matches all of a text. Takes a time that is
/// linear in each of the two.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_takes_linear_time() {
        type Case<'c> = (&'c str, &'c dyn Fn(usize) -> (String, String));
        let cases: [Case<'_>; 5] = [
            ("many stars", &|size| ("*a".repeat(size), "a".repeat(size))),
            ("nearly", &|size| {
                (format!("{}b", "*a".repeat(size)), "a".repeat(2 * size))
            }),
            ("a long part", &|size| {
                (format!("*{}b*", "a".repeat(size)), "a".repeat(2 * size))
            }),
            ("a long text", &|size| {
                ("*ab*ba*c".into(), "ab".repeat(size))
            }),
            ("stars alone", &|size| ("*".repeat(size), "a".repeat(size))),
        ];
        for (what, case) in cases {
            dormouse_tests::growth::is_linear(what, 1_000, case, |(pattern, text)| {
                std::hint::black_box(matches(pattern, text));
            });
        }
    }
}
