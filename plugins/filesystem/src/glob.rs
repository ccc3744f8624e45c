//! Glob patterns with the meaning that they have in minimatch, on which the
//! reference server relies: `**` for any number of directories, `{a,b}`, classes,
//! the `+(a|b)` family, `!` and `#` in front. Names that start with a dot are
//! like others.
//!
//! Matching advances a set of positions instead of trying one after the other,
//! so that no pattern, however nested, takes exponential time.

mod brace;
mod segment;

use crate::error::Error;
use segment::Segment;

/// The longest pattern, in bytes: as long as the longest path on Linux.
const MAX_LENGTH: usize = 4096;

/// A pattern that is ready to be matched.
#[derive(Debug)]
pub struct Glob {
    /// Whether `!` in front negates it.
    negated: bool,
    /// Expansions of the braces; one of them has to match.
    alternatives: Vec<Vec<Part>>,
}

/// A pattern between two slashes.
#[derive(Debug)]
enum Part {
    /// `**`
    Globstar,
    Segment(Segment),
}

impl Glob {
    /// Reads a pattern. There are no syntax errors: a character that is not special is literal.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let too_complex = |why| Error::Pattern {
            pattern: pattern.chars().take(200).collect(),
            why,
        };
        if pattern.len() > MAX_LENGTH {
            return Err(too_complex("it is longer than 4096 bytes"));
        }
        // A comment matches nothing.
        if pattern.starts_with('#') {
            return Ok(Self {
                negated: false,
                alternatives: Vec::new(),
            });
        }
        let positive = pattern.trim_start_matches('!');
        let alternatives = brace::expand(positive).map_err(too_complex)?;
        let alternatives = alternatives
            .iter()
            .map(|one| parts(one))
            .collect::<Result<_, _>>()
            .map_err(too_complex)?;
        Ok(Self {
            negated: (pattern.len() - positive.len()) % 2 == 1,
            alternatives,
        })
    }

    /// Whether the pattern matches a path: relative, and the whole of it.
    pub fn matches(&self, path: &str) -> bool {
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        self.alternatives.iter().any(|parts| matches(parts, &names)) != self.negated
    }
}

fn parts(pattern: &str) -> Result<Vec<Part>, &'static str> {
    let mut single = pattern.to_owned();
    while single.contains("//") {
        single = single.replace("//", "/");
    }
    let mut kept: Vec<&str> = Vec::new();
    for part in single.split('/') {
        match (part, kept.last()) {
            ("**", Some(&"**")) => {}
            ("..", Some(above)) if !matches!(*above, "" | "." | ".." | "**") => {
                kept.pop();
            }
            _ => kept.push(part),
        }
    }
    // At the end, `**` is what is inside: `a/**` does not match `a`.
    if kept.last() == Some(&"**") {
        kept.push("*");
    }
    kept.into_iter()
        .map(|part| match part {
            "**" => Ok(Part::Globstar),
            _ => Segment::new(part).map(Part::Segment),
        })
        .collect()
}

fn matches(parts: &[Part], names: &[Vec<char>]) -> bool {
    // The numbers of names that the parts so far can have taken.
    let mut taken = vec![false; names.len() + 1];
    if let Some(first) = taken.first_mut() {
        *first = true;
    }
    for part in parts {
        let mut next = vec![false; names.len() + 1];
        let mut reached = false;
        for (index, was_taken) in taken.iter().enumerate() {
            reached |= *was_taken;
            match part {
                Part::Globstar => {
                    if let Some(slot) = next.get_mut(index) {
                        *slot = reached;
                    }
                }
                Part::Segment(segment) if *was_taken => {
                    let Some(name) = names.get(index) else {
                        continue;
                    };
                    if let Some(slot) = next.get_mut(index + 1) {
                        *slot = segment.matches(name);
                    }
                }
                Part::Segment(_) => {}
            }
        }
        taken = next;
    }
    taken.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
