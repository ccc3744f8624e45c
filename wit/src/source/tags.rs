//! The JSDoc-style tags at the end of WIT doc comments.
//!
//! A line that starts with `@` and a letter starts a tag; what follows it, to
//! the next tag, is the tag's text. Everything before the first tag is prose.
//! Lines inside a fenced code block are never tags.

use super::http_request;
use crate::declaration::{GrantRequest, is_variable_name};
use crate::error::Finding;

/// A doc comment, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Doc {
    /// The prose, its paragraphs unwrapped.
    pub(crate) text: Option<String>,
    /// The tags, in order.
    pub(crate) tags: Vec<Tag>,
}

/// A tag of a doc comment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tag {
    /// Its name, without the `@`.
    pub(crate) name: String,
    /// Its text, empty where it has none.
    pub(crate) text: String,
}

impl Doc {
    /// Parses a doc comment.
    pub(crate) fn parse(docs: &wit_parser::Docs) -> Self {
        let mut prose = Vec::new();
        let mut tags: Vec<(String, Vec<&str>)> = Vec::new();
        let mut fenced = false;
        for line in docs.contents.as_deref().unwrap_or_default().lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if let Some((name, text)) = tag_line(line).filter(|_| !fenced) {
                tags.push((name.to_owned(), vec![text]));
                continue;
            }
            match tags.last_mut() {
                Some((_, text)) => text.push(line),
                None => prose.push(line),
            }
        }
        let text = unwrap(&prose);
        Self {
            text: (!text.is_empty()).then_some(text),
            tags: tags
                .into_iter()
                .map(|(name, lines)| Tag {
                    name,
                    text: unwrap(&lines),
                })
                .collect(),
        }
    }

    /// Returns the tags that `known` names, each at most once, and those of `repeats`; there are
    /// findings on the others.
    pub(crate) fn known(
        &self,
        item: &str,
        known: &[&str],
        repeats: &[&str],
        findings: &mut Vec<Finding>,
    ) -> Vec<&Tag> {
        let mut kept: Vec<&Tag> = Vec::new();
        for tag in &self.tags {
            let name = tag.name.as_str();
            if repeats.contains(&name) {
                kept.push(tag);
            } else if !known.contains(&name) {
                let all: Vec<_> = known.iter().chain(repeats).copied().collect();
                note(
                    findings,
                    Finding::error(item, format!("there is no tag `@{name}` here"))
                        .hint(instead(name, all)),
                );
            } else if kept.iter().any(|other| other.name == tag.name) {
                note(
                    findings,
                    Finding::error(item, format!("`@{name}` is there twice")),
                );
            } else {
                kept.push(tag);
            }
        }
        kept
    }
}

/// Returns the hint on a tag that is none among `known`.
fn instead(name: &str, mut known: Vec<&str>) -> String {
    // Where functions may be resources, these are not unknown, but alone.
    if known.contains(&"resource") && matches!(name, "mimetype" | "subscribe") {
        return format!("`@{name}` is for a resource: add `@resource URI`");
    }
    known.sort_unstable();
    let near = nearest(name, &known);
    let near = near.map_or_else(String::new, |near| format!("did you mean `@{near}`? "));
    let all: Vec<_> = known.iter().map(|name| format!("`@{name}`")).collect();
    format!("{near}the tags here are {}", all.join(", "))
}

/// Returns the name that another, which is none of them, was probably meant to be.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let near = known
        .iter()
        .map(|known| (strsim::jaro_winkler(name, known), *known))
        .filter(|(likeness, _)| *likeness > 0.8);
    let near = near.max_by(|one, other| one.0.total_cmp(&other.0));
    near.map(|(_, near)| near)
}

/// Adds a finding unless it is there already: a type that many functions use is lowered many times.
pub(crate) fn note(findings: &mut Vec<Finding>, finding: Finding) {
    if !findings.contains(&finding) {
        findings.push(finding);
    }
}

fn tag_line(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('@')?;
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, text) = rest.split_at_checked(end)?;
    Some((name, text.trim()))
}

/// Joins the lines of each paragraph, because authors wrap their comments and
/// models should not pay for it. Lists, quotes, tables, headings, indented and
/// fenced lines stay as they are, and a `\` at a line's end keeps its break.
fn unwrap(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut fenced = false;
    let mut breaks = true;
    for line in lines {
        let fence = line.trim_start().starts_with("```");
        let verbatim = fenced || fence || line.trim().is_empty() || starts_block(line);
        if !text.is_empty() {
            text.push_str(if breaks || verbatim { "\n" } else { " " });
        }
        let kept = if fenced { line } else { line.trim_end() };
        let hard = !fenced && kept.ends_with('\\');
        text.push_str(if hard {
            kept.trim_end_matches('\\').trim_end()
        } else {
            kept
        });
        if fence {
            fenced = !fenced;
        }
        breaks = hard || fenced || fence || line.trim().is_empty();
    }
    text.trim().to_owned()
}

fn starts_block(line: &str) -> bool {
    let bare = line.trim_start();
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered =
        digits.len() < bare.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    line.starts_with("    ")
        || numbered
        || ["- ", "* ", "+ ", "> ", "|", "#"]
            .iter()
            .any(|start| bare.starts_with(start))
}

/// Returns the text of a tag that needs one.
pub(crate) fn text(tag: &Tag, item: &str, findings: &mut Vec<Finding>) -> Option<String> {
    if tag.text.is_empty() {
        note(
            findings,
            Finding::error(item, format!("`@{}` needs a text after it", tag.name)),
        );
        return None;
    }
    Some(tag.text.clone())
}

/// Checks that a tag has no text.
pub(crate) fn bare(tag: &Tag, item: &str, findings: &mut Vec<Finding>) {
    if !tag.text.is_empty() {
        let message = format!("`@{} {}`: no text belongs after it", tag.name, tag.text);
        note(findings, Finding::error(item, message));
    }
}

/// Returns the name and the text of a `@param`.
pub(crate) fn param(
    tag: &Tag,
    item: &str,
    findings: &mut Vec<Finding>,
) -> Option<(String, String)> {
    let split = tag.text.split_once(char::is_whitespace);
    if split.is_none() {
        let message = "`@param` needs a parameter and a text after it";
        note(findings, Finding::error(item, message));
    }
    split.map(|(name, text)| (name.to_owned(), text.trim().to_owned()))
}

/// Returns the value of a tag that is a switch: no text means `true`.
pub(crate) fn switch(tag: &Tag, item: &str, findings: &mut Vec<Finding>) -> Option<bool> {
    match tag.text.as_str() {
        "" | "true" => Some(true),
        "false" => Some(false),
        other => {
            note(
                findings,
                Finding::error(
                    item,
                    format!("`@{}` takes `true` or `false`, not `{other}`", tag.name),
                ),
            );
            None
        }
    }
}

/// Returns the value of a tag that is JSON.
pub(crate) fn json(
    tag: &Tag,
    item: &str,
    findings: &mut Vec<Finding>,
) -> Option<serde_json::Value> {
    match serde_json::from_str(&tag.text) {
        Ok(value) => Some(value),
        Err(error) => {
            let finding = Finding::error(
                item,
                format!("`@{} {}` is not JSON: {error}", tag.name, tag.text),
            );
            note(
                findings,
                finding.hint(format!("a string needs quotes: `@{} \"text\"`", tag.name)),
            );
            None
        }
    }
}

/// Returns the request of a `@grant`.
pub(crate) fn grant(tag: &Tag, item: &str, findings: &mut Vec<Finding>) -> Option<GrantRequest> {
    let (kind, rest) = word(&tag.text);
    if kind == "http"
        && let Some((origin, why)) = http_request::split(rest)
    {
        let why = why.to_owned();
        return Some(GrantRequest::Http { origin, why });
    }
    let (value, why) = word(rest);
    let why = why.to_owned();
    let request = match (kind, value) {
        ("fs", "ro") => Some(GrantRequest::Fs { write: false, why }),
        ("fs", "rw") => Some(GrantRequest::Fs { write: true, why }),
        ("env", name) if is_variable_name(name) => Some(GrantRequest::Env {
            name: name.to_owned(),
            why,
        }),
        _ => None,
    };
    if request.is_none() {
        note(
            findings,
            Finding::error(item, format!("`@grant {}` asks for nothing that can be granted", tag.text)).hint(
                "write `@grant fs ro|rw [why]`, `@grant env NAME [why]` or `@grant http [METHODS] https://host[:port][/path] [why]`",
            ),
        );
    }
    request
}

fn word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim())
}

#[cfg(test)]
mod tests;
