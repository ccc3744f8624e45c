//! Variables in the values of `dormouse.toml`: `${NAME}`, and `${NAME:-default}`
//! for one that may be missing or empty. `$${` is a plain `${`.

/// A text with its variables expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedText {
    /// The text; a variable that is missing stays as it is written.
    pub text: String,
    /// The variables that are missing.
    pub missing: Vec<String>,
}

/// Expands the variables of a text.
#[must_use]
pub fn expand(text: &str, value_of: &dyn Fn(&str) -> Option<String>) -> ExpandedText {
    let mut expanded = ExpandedText {
        text: String::with_capacity(text.len()),
        missing: Vec::new(),
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        if let Some(before) = before.strip_suffix('$') {
            expanded.text.push_str(before);
            expanded.text.push_str("${");
            rest = after;
            continue;
        }
        let Some((inside, after)) = after.split_once('}') else {
            break;
        };
        expanded.text.push_str(before);
        rest = after;
        let (name, default) = parts(inside);
        let value = value_of(name).filter(|value| default.is_none() || !value.is_empty());
        match (value, default) {
            (Some(value), _) => expanded.text.push_str(&value),
            (None, Some(default)) => expanded.text.push_str(default),
            (None, None) => {
                expanded.text.push_str("${");
                expanded.text.push_str(inside);
                expanded.text.push('}');
                expanded.missing.push(name.to_owned());
            }
        }
    }
    expanded.text.push_str(rest);
    expanded
}

/// Splits the text between the braces into the name and the default.
pub(super) fn parts(inside: &str) -> (&str, Option<&str>) {
    match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let value_of = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            // What a value contains is not expanded again.
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        };
        for (text, expected, missing) in [
            ("", "", ""),
            ("a$b", "a$b", ""),
            ("${A}", "1", ""),
            ("x${A}y${A}z", "x1y1z", ""),
            ("${EMPTY}", "", ""),
            ("${EMPTY:-d}", "d", ""),
            ("${NO:-d}", "d", ""),
            ("${NO:-}", "", ""),
            ("${A:-d}", "1", ""),
            ("${NESTED}", "${A}", ""),
            ("${NO}", "${NO}", "NO"),
            ("$${A}", "${A}", ""),
            ("${A", "${A", ""),
            ("${NO:-https://x}", "https://x", ""),
        ] {
            let expanded = expand(text, &value_of);
            assert_eq!(expanded.text, expected, "{text}");
            assert_eq!(expanded.missing.join(" "), missing, "{text}");
        }
    }

    #[test]
    fn variables_are_expanded_in_linear_time() {
        let value_of = |name: &str| (name != "NO").then(|| "1".to_owned());
        for part in [
            "${A}", "${NO}", "${NO:-d}", "$${A}", "${", "${NO:-", "$", "}",
        ] {
            let text = |size: usize| part.repeat(size);
            dormouse_tests::growth::is_linear(part, 2_000, text, |text: &String| {
                std::hint::black_box(expand(text, &value_of));
            });
        }
    }
}
