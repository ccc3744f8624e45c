//! Texts that are no documents: a comma too many, and nothing in a file is used until it is mended.

use super::Naming;

impl Naming<'_> {
    /// Notes the files that are named anywhere in such a text.
    pub(super) fn unreadable(&mut self, text: &str) {
        let takes = self.of_client();
        if self.has_forms {
            self.text(text, &takes);
        }
        // What stands between quotes may be escaped.
        if self.has_forms && text.contains('\\') {
            self.text(&unescaped(text), &takes);
        }
        let Some(key) = self.dialect.env_file else {
            return;
        };
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(key) {
            rest = after;
            if let Some((value, after)) = value(after) {
                self.env_file(value, &takes);
                if value.contains('\\') {
                    self.env_file(&unescaped(value), &takes);
                }
                rest = after;
            }
        }
    }
}

/// Returns what may be meant by the text behind a key, and the rest of the text: what is between quotes,
/// or else the rest of the line up to a quote.
fn value(after: &str) -> Option<(&str, &str)> {
    // The quote that the key ends with, if there is one.
    let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let value = after.trim_start().strip_prefix([':', '='])?;
    let value = value.trim_start();
    let quote = value.chars().next();
    let quote = quote.filter(|first| matches!(first, '"' | '\''));
    let value = match quote {
        Some(_) => value.get(1..).unwrap_or_default(),
        None => value,
    };
    let mut is_escaped = false;
    let end = value.find(|c: char| {
        let is_end = c == quote.unwrap_or('"') && !is_escaped || c == '\n';
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    let (inside, rest) = value.split_at(end.unwrap_or(value.len()));
    if quote.is_some() {
        return Some((inside, rest));
    }
    let plain = inside.split(" #").next().unwrap_or_default();
    let plain = plain.trim_end_matches([' ', '\t', '\r', ',', '}', ']']);
    Some((plain, rest))
}

/// Returns a text in which a character stands for itself behind a `\`, but for the codes of JSON.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let code = after.strip_prefix('u').and_then(|code| code.get(..4));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        rest = match code.and_then(char::from_u32) {
            Some(c) => {
                plain.push(c);
                after.get(5..).unwrap_or_default()
            }
            None => {
                let mut chars = after.chars();
                plain.extend(chars.next());
                chars.as_str()
            }
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_behind_their_key_however_they_are_quoted() {
        for (after, expected) in [
            ("\": \"/a b\", \"x\": 1", Some("/a b")),
            ("\" :\t'/a'}", Some("/a")),
            (": /a/b # of it\nx: y", Some("/a/b")),
            (": /a,\"x\": 1", Some("/a")),
            (" = \"/a", Some("/a")),
            ("\": \"/a\nb\"", Some("/a")),
            ("\": \"/a\\\"b\"", Some("/a\\\"b")),
            ("s: /a", None),
            ("", None),
        ] {
            assert_eq!(value(after).map(|(value, _)| value), expected, "{after}");
        }
        assert_eq!(unescaped("a\\/b\\\\c\\u0041\\"), "a/b\\cA");
    }

    #[test]
    fn a_text_that_is_no_document_is_read_in_linear_time() {
        let around = crate::discovery::Surroundings::default();
        for part in [
            "envFile:",
            "\"envFile\": \"",
            "\"envFile\": \"/a\", ",
            "envFile: ",
            "\\envFile:\\",
            "${{secrets.",
            "${{ secrets.A }}",
        ] {
            let text = |parts: usize| part.repeat(parts);
            dormouse_tests::growth::is_linear(part, 2_000, text, |text| {
                let mut naming = Naming {
                    client: crate::Client::Continue,
                    dialect: crate::discovery::formats::dialect(crate::Client::Continue),
                    has_forms: true,
                    around: &around,
                    inputs: &crate::Inputs::new(),
                    variables: &Default::default(),
                    folder: std::path::Path::new("/a"),
                    is_of_others: false,
                    left: usize::MAX,
                    files: &mut Default::default(),
                };
                naming.unreadable(text);
            });
        }
    }
}
