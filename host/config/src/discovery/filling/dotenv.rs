//! Files of environment variables: `NAME=value`, one on each line.

/// Reads the variables of a text. A line that sets none is passed over, as the clients do.
pub(in crate::discovery) fn parse(text: &str) -> Vec<(String, String)> {
    text.lines().filter_map(variable).collect()
}

fn variable(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    if name.is_empty() || name.starts_with('#') || name.contains(char::is_whitespace) {
        return None;
    }
    Some((name.to_owned(), unquoted(value.trim())))
}

/// Removes the quotes of a value, which keep white space and `#`; between double ones, `\n` and
/// `\"` are unescaped.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inside, _)) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.rsplit_once(quote))
        {
            return if quote == '"' {
                inside.replace("\\n", "\n").replace("\\\"", "\"")
            } else {
                inside.to_owned()
            };
        }
    }
    // A comment begins at a `#` after white space: one within a value is a part of
    // it.
    let end = value.find(" #").unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_variables() {
        let text = "# c\n\nA=1\nexport B = two words # no\nC=\"x # y\\nz\"\nD='a\\n'\nE=\nno\n=x\nF=a#b\nG=\"open\r\n";
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x # y\nz"),
            ("D", "a\\n"),
            ("E", ""),
            ("F", "a#b"),
            ("G", "\"open"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn reading_takes_linear_time() {
        for line in ["NAME=value\n", "a=\"'\" #\\n", "x=\"\\n\""] {
            let text = |lines: usize| line.repeat(lines);
            dormouse_tests::growth::is_linear("variables", 5_000, text, |text| {
                std::hint::black_box(parse(text));
            });
        }
    }
}
