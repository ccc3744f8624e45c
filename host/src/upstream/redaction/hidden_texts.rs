//! Secrets that are known, taken out of what a server says.

use crate::upstream::launch::Secret;

use super::HIDDEN;

/// Fewest bytes of a secret that is looked for: what is shorter occurs in any text.
const MIN_HIDDEN_BYTES: usize = 4;

/// Secrets that a text must not have in it, the longest first: another may be a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HiddenTexts(Vec<Secret>);

impl HiddenTexts {
    /// Adds a secret; of one with several lines each line, as logs are read by lines.
    pub(crate) fn add(&mut self, secret: &str) {
        for text in secret.lines() {
            let text = text.trim();
            let is_known = self.0.iter().any(|known| known.expose() == text);
            if text.len() < MIN_HIDDEN_BYTES || is_known {
                continue;
            }
            let longer = |known: &Secret| known.expose().len() >= text.len();
            let at = self.0.partition_point(longer);
            self.0.insert(at, Secret::new(text));
        }
    }

    /// Adds what somebody shows to be let in: `Bearer abc` is said without its first word, too.
    pub(crate) fn add_credential(&mut self, credential: &str) {
        self.add(credential);
        if let Some((_, last)) = credential.rsplit_once(' ') {
            self.add(last);
        }
    }

    /// A text without any of them.
    #[must_use]
    pub(crate) fn redact(&self, text: &str) -> String {
        let hide = |text: String, secret: &Secret| match text.contains(secret.expose()) {
            true => text.replace(secret.expose(), HIDDEN),
            false => text,
        };
        self.0.iter().fold(text.to_owned(), hide)
    }

    /// The beginning of a text without any of them, also without the beginning of one that the
    /// end of the text has cut.
    #[must_use]
    pub(crate) fn redact_beginning(&self, text: &str) -> String {
        let mut text = self.redact(text);
        let cut = self.0.iter().filter_map(|secret| {
            let secret = secret.expose();
            let lengths = (MIN_HIDDEN_BYTES..secret.len()).rev();
            lengths
                .filter_map(|length| secret.get(..length))
                .find(|start| text.ends_with(start))
                .map(str::len)
        });
        if let Some(length) = cut.max() {
            text.truncate(text.len() - length);
            text.push_str(HIDDEN);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out() {
        let mut hidden = HiddenTexts::default();
        hidden.add("abc");
        hidden.add("secret");
        hidden.add("longer-secret");
        hidden.add_credential("Bearer t0ken");
        hidden.add("-----BEGIN\nline-of-key\n");
        for (text, shown) in [
            ("abc is too short", "abc is too short"),
            (
                "secret, longer-secret, Bearer t0ken and t0ken",
                "…, …, … and …",
            ),
            ("line-of-key", "…"),
        ] {
            assert_eq!(hidden.redact(text), shown);
        }
        assert_eq!(hidden.redact_beginning("x longer-se"), "x …");
        assert_eq!(hidden.redact_beginning("x lon"), "x lon");
    }
}
