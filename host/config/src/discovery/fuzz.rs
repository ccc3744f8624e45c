//! Fuzz targets of the files of other clients.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use serde_json::Value as Json;
use url::Url;

use super::document::{self, DocumentValue, Node};
use super::filling::dotenv as variables;
use super::filling::expansion;
use super::filling::expansion::ReadForm;
use super::places::Syntax;
use super::rules::policy::pattern::{ConnectedUrl, UrlPattern};
use crate::fuzz::{first_line, text};
use crate::reading::lines::LineBeginnings;

/// Patterns of URLs: what is allowed for one host is not for another. The first line is a
/// pattern, the rest a URL.
pub fn url_patterns(data: &[u8]) {
    let text = text(data);
    let (pattern, url) = first_line(&text);
    let is_like = |pattern: &str| {
        ConnectedUrl::of(url).is_some_and(|url| UrlPattern::of(pattern).is_like(&url))
    };
    let of_host = is_like("https://allowed.example/*");
    let is_like = is_like(pattern);
    let parsed = Url::parse(url);
    assert!(parsed.is_ok() || !is_like, "`{url}` is no URL");
    let Ok(parsed) = parsed else {
        return;
    };
    let host = parsed.host_str().map(|host| host.trim_end_matches('.'));
    let is_host = host == Some("allowed.example") && parsed.scheme() == "https";
    assert_eq!(of_host, is_host && parsed.port().is_none(), "{url:?}");
    // A pattern with no `*` in it leaves its host, and itself, no choice.
    if let Ok(pattern) = Url::parse(pattern)
        && is_like
        && !pattern.as_str().contains(['*', '%'])
        && parsed.scheme() == "https"
        && pattern.host_str().is_some()
    {
        let port = |url: &Url| url.port_or_known_default();
        assert_eq!(pattern.scheme(), parsed.scheme());
        assert_eq!(port(&pattern), port(&parsed), "{pattern} {parsed}");
    }
}

/// Documents in all languages: each part is at a place within the text, and so is what is
/// wrong; JSON says what it says to every other reader.
pub fn documents(data: &[u8]) {
    let text = text(data);
    let lines = LineBeginnings::of(&text);
    let last = text.matches('\n').count() + 1;
    for syntax in [Syntax::Json, Syntax::Toml, Syntax::Yaml] {
        let is_within = |at: usize| {
            assert!(text.is_char_boundary(at), "{syntax:?}: {at} is no place");
            let (line, column) = lines.place(&text, at);
            assert!((1..=last).contains(&line) && column >= 1);
        };
        match document::parse(&text, syntax) {
            Ok(root) => {
                for part in root.parts() {
                    is_within(part.at);
                    for member in part.members() {
                        is_within(member.at);
                    }
                }
                if syntax == Syntax::Json
                    && let Ok(value) = serde_json::from_str(&text)
                {
                    is_same(&root, &value);
                }
            }
            Err(error) => {
                is_within(error.at);
                assert!(!error.message.is_empty());
                let is_deep = error.message.contains("levels deep");
                let is_json = serde_json::from_str::<Json>(&text).is_ok();
                assert!(syntax != Syntax::Json || !is_json || is_deep, "{error:?}");
            }
        }
    }
}

/// Compares a document with what it says as JSON.
fn is_same(node: &Node, value: &Json) {
    match (&node.value, value) {
        (DocumentValue::Null, Json::Null) => {}
        (DocumentValue::Bool(one), Json::Bool(other)) => assert_eq!(one, other),
        (DocumentValue::Number(one), Json::Number(other)) => {
            assert_eq!(one.parse(), Ok(other.as_f64().unwrap_or_default()));
        }
        (DocumentValue::Text(one), Json::String(other)) => assert_eq!(one, other),
        (DocumentValue::List(one), Json::Array(other)) => {
            assert_eq!(one.len(), other.len());
            for (one, other) in one.iter().zip(other) {
                is_same(one, other);
            }
        }
        (DocumentValue::Table(_), Json::Object(other)) => {
            for (key, other) in other {
                is_same(node.get(key).expect("it has the member"), other);
            }
        }
        (one, other) => panic!("`{other}` is read as `{one:?}`"),
    }
}

/// Files of variables: what is read and written again is the same.
pub fn dotenv(data: &[u8]) {
    let text = text(data);
    let read = variables::parse(&text);
    assert!(read.len() <= text.lines().count());
    for (name, value) in read {
        assert!(!name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '='));
        if value.contains('\n') {
            continue;
        }
        let written = format!("{name}='{value}'");
        assert_eq!(variables::parse(&written), [(name, value)], "{written}");
    }
}

/// Forms of what clients fill in: each is a part of the text, and what stands behind it is
/// the rest.
pub fn expansions(data: &[u8]) {
    let text = text(data);
    let all = [
        expansion::CLAUDE,
        expansion::COPILOT,
        expansion::GEMINI,
        expansion::AMP,
        expansion::VSCODE,
        expansion::CURSOR,
        expansion::OPENCODE,
        expansion::WINDSURF,
        expansion::CONTINUE,
        expansion::FORGE,
        expansion::GOOSE,
    ];
    let forms = all.iter().flat_map(|expansion| expansion.forms);
    for form in forms {
        for (at, _) in text.match_indices(['$', '{']) {
            let rest = text.get(at..).expect("a match begins at a character");
            let Some((read, behind)) = form.read(rest) else {
                continue;
            };
            let form = rest
                .strip_suffix(behind)
                .expect("what is behind it is the rest");
            assert!(!form.is_empty() && !form.contains('\n'), "{form:?}");
            let part = match read {
                ReadForm::Variable { name, .. } | ReadForm::Bare { name, .. } => {
                    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    assert!(!name.is_empty() && name.chars().all(is_letter), "{name:?}");
                    name
                }
                ReadForm::File { path } => path,
                ReadForm::Exact { written, .. } => written,
                ReadForm::Input { id } | ReadForm::Own { id } => id,
            };
            assert!(form.contains(part), "{part:?} is no part of {form:?}");
            if let ReadForm::Variable {
                default: Some(default),
                ..
            } = read
            {
                assert!(form.contains(default));
            }
        }
    }
}
