//! Masking of the secrets in a file, for whoever looks over its user's shoulder.

use std::ops::Range;

use dormouse_launch::redaction::{
    SecretPart, is_secret_name, secrets_in_arguments, secrets_in_line,
};

use crate::discovery::document::{self, DocumentValue, Node};
use crate::discovery::places::Syntax;

/// Text in place of what is not shown.
const MASK: &str = "…";

/// Tables whose values are secrets.
const SECRET_TABLES: [&str; 7] = [
    "env",
    "environment",
    "envs",
    "headers",
    "http_headers",
    "env_http_headers",
    "requestoptions",
];

/// Masks the secrets of a text: the values of variables and headers, of whatever is called a token
/// or a password, and those in URLs. The text of a file that is none in its language is masked as a
/// whole.
#[must_use]
pub(super) fn masked(text: &str, syntax: Syntax) -> String {
    let body = text.trim_start_matches('\u{feff}');
    let Ok(root) = document::parse(body, syntax) else {
        return MASK.to_owned();
    };
    let mut secrets = Secrets {
        text: body,
        syntax,
        starts: Vec::new(),
        found: Vec::new(),
    };
    starts(&root, &mut secrets.starts);
    secrets.starts.sort_unstable();
    secrets.node(&root, false);
    secrets.found.sort_by_key(|range| range.start);
    let mut masked = String::with_capacity(body.len());
    let mut at = 0;
    for range in &secrets.found {
        if range.start < at {
            continue;
        }
        masked.push_str(body.get(at..range.start).unwrap_or_default());
        masked.push_str(MASK);
        at = range.end;
    }
    masked.push_str(body.get(at..).unwrap_or_default());
    masked
}

/// Collects the places where anything begins in a document.
fn starts(node: &Node, all: &mut Vec<usize>) {
    all.push(node.at);
    node.items().iter().for_each(|item| starts(item, all));
    for member in node.members() {
        all.push(member.at);
        starts(&member.node, all);
    }
}

struct Secrets<'t> {
    text: &'t str,
    syntax: Syntax,
    starts: Vec<usize>,
    found: Vec<Range<usize>>,
}

impl Secrets<'_> {
    fn node(&mut self, node: &Node, secret: bool) {
        match &node.value {
            DocumentValue::Null | DocumentValue::Bool(_) => {}
            DocumentValue::Table(members) => {
                for member in members {
                    // Somebody has written `NAME=value` where only a name belongs.
                    if secret && member.key.contains('=') {
                        self.found.push(self.range(member.at));
                    }
                    let own = is_secret(&member.key) || self.is_answers(&member.key);
                    self.node(&member.node, secret || own);
                }
            }
            DocumentValue::List(items) => {
                // Arguments of a program, most often.
                let texts: Vec<_> = items
                    .iter()
                    .map(|item| item.text().unwrap_or_default())
                    .collect();
                for (item, secrets) in items.iter().zip(secrets_in_arguments("", &texts)) {
                    if !secrets.is_empty() && !secret {
                        self.parts(item, &secrets);
                    } else {
                        self.node(item, secret);
                    }
                }
            }
            DocumentValue::Number(_) => {
                if secret {
                    self.found.push(self.range(node.at));
                }
            }
            DocumentValue::Text(text) => {
                if secret {
                    self.found.push(self.range(node.at));
                    return;
                }
                self.parts(node, &secrets_in_line(text));
            }
        }
    }

    /// Whether a table has answers to clients' questions in it. In JSON, a table of that name has
    /// the questions.
    fn is_answers(&self, key: &str) -> bool {
        self.syntax == Syntax::Toml && key == "inputs"
    }

    /// Masks parts of a text; all of it where it is not written as it is read, because of escapes
    /// or of folded lines.
    fn parts(&mut self, node: &Node, parts: &[SecretPart]) {
        if parts.is_empty() {
            return;
        }
        let range = self.range(node.at);
        let raw = self.text.get(range.clone()).unwrap_or_default();
        match node.text().and_then(|text| raw.find(text)) {
            Some(at) => {
                let start = range.start + at;
                let parts = parts
                    .iter()
                    .map(|part| start + part.range.start..start + part.range.end);
                self.found.extend(parts);
            }
            None => self.found.push(range),
        }
    }

    /// Returns the range of the scalar that begins at a byte, with its quotes.
    fn range(&self, at: usize) -> Range<usize> {
        let rest = self.text.get(at..).unwrap_or_default();
        let length = match self.syntax {
            // What the parser of YAML takes together may end anywhere before the
            // next thing begins.
            Syntax::Yaml => {
                let next = self.starts.partition_point(|start| *start <= at);
                let end = self.starts.get(next).map_or(self.text.len(), |next| *next);
                let rest = self.text.get(at..end).unwrap_or_default();
                // The next thing's own dash and quotes are no part of this.
                rest.trim_end_matches(|c: char| c.is_whitespace() || c == '-')
                    .len()
            }
            Syntax::Json | Syntax::Toml => quoted(rest),
        };
        at..at + length
    }
}

/// Returns the length of the scalar that a text begins with.
fn quoted(text: &str) -> usize {
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        let Some(rest) = text.strip_prefix(quote) else {
            continue;
        };
        let mut at = 0;
        while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
            if here.starts_with(quote) {
                return quote.len() * 2 + at;
            }
            let escape = quote.starts_with('"') && here.starts_with('\\');
            let mut chars = here.chars();
            at += chars.next().map_or(1, char::len_utf8);
            if escape {
                at += chars.next().map_or(0, char::len_utf8);
            }
        }
        return text.len();
    }
    text.find(|c: char| c.is_whitespace() || ",]}#".contains(c))
        .unwrap_or(text.len())
}

fn is_secret(key: &str) -> bool {
    SECRET_TABLES.contains(&key.to_ascii_lowercase().as_str()) || is_secret_name(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked() {
        for (syntax, text, shown) in [
            (
                Syntax::Json,
                r#"{"a": {"command": "x", "env": {"A": "s\"1", "B": 2}, "x": 1}} // c"#,
                r#"{"a": {"command": "x", "env": {"A": …, "B": …}, "x": 1}} // c"#,
            ),
            (
                Syntax::Json,
                r#"{"args": ["--api-key", "s", "--token=s", "--port", "80"], "apiKey": "s"}"#,
                r#"{"args": ["--api-key", "…", "--token=…", "--port", "80"], "apiKey": …}"#,
            ),
            (
                Syntax::Json,
                r#"["https://u:p@x.y/z?key=s", "http://a/b@c"]"#,
                r#"["https://…@x.y/z?key=…", "http://a/b@c"]"#,
            ),
            (
                Syntax::Json,
                r#"{"url": "https:\/\/u:s@x.y\/z", "command": "npx x --api-key s"}"#,
                r#"{"url": …, "command": "npx x --api-key …"}"#,
            ),
            (
                Syntax::Json,
                r#"["-c", "TOKEN=s curl -H 'Authorization: Bearer s' https://x.y;sid=s"]"#,
                r#"["-c", "TOKEN=… curl -H 'Authorization: Bearer …' https://x.y;sid=…"]"#,
            ),
            (
                Syntax::Toml,
                "[a.env]\nA = 's'\nB = \"\"\"\ns\"s\n\"\"\" # b\n[b]\nheaders = { C = \"s\" }\ncommand = 's'\n",
                "[a.env]\nA = …\nB = … # b\n[b]\nheaders = { C = … }\ncommand = 's'\n",
            ),
            (
                Syntax::Yaml,
                "a:\n  envs:\n    A: s s # s\n    B: |\n      s\n      s\n  - x\n"
                    .trim_end_matches("  - x\n"),
                "a:\n  envs:\n    A: …\n    B: |\n      …\n",
            ),
            (
                Syntax::Yaml,
                "- env: {A: s, B: 's'}\n- command: x\n",
                "- env: {A: … B: …\n- command: x\n",
            ),
            (
                Syntax::Json,
                r#"{"env": {"A=s": 1, "B": "s"}, "inputs": [{"id": "x"}]}"#,
                r#"{"env": {…: …, "B": …}, "inputs": [{"id": "x"}]}"#,
            ),
            (
                Syntax::Toml,
                "[discovery.inputs]\nkey = 's'\nother = { env = \"A\" }\n[b]\nx = 1\n",
                "[discovery.inputs]\nkey = …\nother = { env = … }\n[b]\nx = 1\n",
            ),
            (Syntax::Json, "{", "…"),
        ] {
            let masked = masked(text, syntax);
            assert_eq!(masked.trim_end(), shown.trim_end(), "{text}");
        }
    }
}
