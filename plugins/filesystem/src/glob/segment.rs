//! Match of one name against the part of a pattern between two slashes.

/// Deepest nesting of groups like `+(a|@(b|c))`.
const MAX_DEPTH: usize = 4;

/// A pattern for one name.
#[derive(Debug)]
pub(super) struct Segment(Vec<Node>);

#[derive(Debug)]
enum Node {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    Class(Class),
    /// `@(…)`, `?(…)`, `*(…)`, `+(…)` or `!(…)`, by its first character.
    Group(char, Vec<Vec<Node>>),
}

#[derive(Debug)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
    /// The predicates of `[:alpha:]` and its like.
    named: Vec<Predicate>,
}

type Predicate = fn(char) -> bool;

impl Segment {
    pub(super) fn new(pattern: &str) -> Result<Self, &'static str> {
        let chars: Vec<char> = pattern.chars().collect();
        nodes(&chars, 0).map(Self)
    }

    pub(super) fn matches(&self, name: &[char]) -> bool {
        let mut from = vec![false; name.len() + 1];
        if let Some(first) = from.first_mut() {
            *first = true;
        }
        ends(&self.0, name, from)
            .last()
            .copied()
            .unwrap_or_default()
    }
}

fn nodes(chars: &[char], depth: usize) -> Result<Vec<Node>, &'static str> {
    if depth > MAX_DEPTH {
        return Err("its groups are nested too deeply");
    }
    let mut nodes = Vec::new();
    let mut rest = chars;
    while let Some((&first, tail)) = rest.split_first() {
        let (node, after) = match (first, tail.split_first()) {
            ('\\', Some((&escaped, tail))) => (Node::Char(escaped), tail),
            ('@' | '?' | '*' | '+' | '!', Some((&'(', inside))) if group(inside).is_some() => {
                let (alternatives, after) = group(inside).unwrap_or_default();
                let alternatives = alternatives
                    .into_iter()
                    .map(|one| self::nodes(one, depth + 1));
                (
                    Node::Group(first, alternatives.collect::<Result<_, _>>()?),
                    after,
                )
            }
            ('[', _) => match class(tail) {
                Some((class, after)) => (Node::Class(class), after),
                None => (Node::Char('['), tail),
            },
            ('?', _) => (Node::Any, tail),
            ('*', _) => (Node::Star, tail),
            _ => (Node::Char(first), tail),
        };
        nodes.push(node);
        rest = after;
    }
    Ok(nodes)
}

/// Splits the text after `@(` at the bars and the closing parenthesis.
fn group(chars: &[char]) -> Option<(Vec<&[char]>, &[char])> {
    let (mut depth, mut start, mut escaped) = (0_usize, 0, false);
    let mut alternatives = Vec::new();
    for (index, c) in chars.iter().enumerate() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                alternatives.push(chars.get(start..index)?);
                return Some((alternatives, chars.get(index + 1..)?));
            }
            '|' if depth == 0 => {
                alternatives.push(chars.get(start..index)?);
                start = index + 1;
            }
            _ => {}
        }
    }
    None
}

/// Reads a class after its `[`; none where it is not closed.
fn class(chars: &[char]) -> Option<(Class, &[char])> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let mut rest = if negated { chars.get(1..)? } else { chars };
    let mut class = Class {
        negated,
        ranges: Vec::new(),
        named: Vec::new(),
    };
    let mut is_first = true;
    loop {
        if let Some((predicate, after)) = named(rest) {
            class.named.push(predicate);
            rest = after;
            is_first = false;
            continue;
        }
        let (&first, tail) = rest.split_first()?;
        // A bracket that comes first is one to match.
        if first == ']' && !is_first {
            return Some((class, tail));
        }
        is_first = false;
        let (from, tail) = member(first, tail)?;
        (rest, _) = match tail.split_first() {
            Some(('-', after)) if !matches!(after.first(), None | Some(']')) => {
                let (&next, after) = after.split_first()?;
                let (to, after) = member(next, after)?;
                (after, class.ranges.push((from, to)))
            }
            _ => (tail, class.ranges.push((from, from))),
        };
    }
}

/// Reads a character of a class, which may be escaped.
fn member(first: char, tail: &[char]) -> Option<(char, &[char])> {
    match first {
        '\\' => tail.split_first().map(|(&escaped, tail)| (escaped, tail)),
        _ => Some((first, tail)),
    }
}

/// Reads `[:alpha:]` and its like, inside a class.
fn named(chars: &[char]) -> Option<(Predicate, &[char])> {
    // The longest name has six letters.
    let text: String = chars.iter().take("[:xdigit:]".len()).collect();
    let name = text.strip_prefix("[:")?.split_once(":]")?.0;
    let predicate: Predicate = match name {
        "alnum" => char::is_alphanumeric,
        "alpha" => char::is_alphabetic,
        "ascii" => |c| c.is_ascii(),
        "blank" => |c| c == '\t' || (c.is_whitespace() && !c.is_control()),
        "cntrl" => char::is_control,
        "digit" => char::is_numeric,
        "graph" => |c| !c.is_whitespace() && !c.is_control(),
        "lower" => char::is_lowercase,
        "print" => |c| !c.is_control(),
        "punct" => |c| c.is_ascii_punctuation(),
        "space" => char::is_whitespace,
        "upper" => char::is_uppercase,
        "word" => |c| c.is_alphanumeric() || c == '_',
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    };
    Some((predicate, chars.get(name.len() + 4..)?))
}

impl Class {
    fn matches(&self, c: char) -> bool {
        let is_in = self
            .ranges
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&c));
        // A class in which nothing can be does not match even when negated.
        let is_empty = self.named.is_empty() && self.ranges.iter().all(|(from, to)| from > to);
        !is_empty && (is_in || self.named.iter().any(|named| named(c))) != self.negated
    }
}

/// Returns all positions in `name` where `nodes` can end, if they start at one of `from`.
fn ends(nodes: &[Node], name: &[char], from: Vec<bool>) -> Vec<bool> {
    nodes.iter().fold(from, |from, node| match node {
        Node::Char(wanted) => steps(name, &from, |c| c == *wanted),
        Node::Any => steps(name, &from, |_| true),
        Node::Class(class) => steps(name, &from, |c| class.matches(c)),
        Node::Star => {
            let mut reached = false;
            from.iter()
                .map(|at| {
                    reached |= *at;
                    reached
                })
                .collect()
        }
        Node::Group('@', alternatives) => once(alternatives, name, &from),
        Node::Group('?', alternatives) => union(&once(alternatives, name, &from), &from),
        Node::Group('*', alternatives) => union(&repeatedly(alternatives, name, &from), &from),
        Node::Group('+', alternatives) => repeatedly(alternatives, name, &from),
        Node::Group(_, alternatives) => other_than(alternatives, name, &from),
    })
}

fn steps(name: &[char], from: &[bool], accepts: impl Fn(char) -> bool) -> Vec<bool> {
    let moved = from.iter().zip(name).map(|(at, c)| *at && accepts(*c));
    std::iter::once(false).chain(moved).collect()
}

fn once(alternatives: &[Vec<Node>], name: &[char], from: &[bool]) -> Vec<bool> {
    let nowhere = vec![false; from.len()];
    alternatives.iter().fold(nowhere, |all, nodes| {
        union(&all, &ends(nodes, name, from.to_vec()))
    })
}

fn repeatedly(alternatives: &[Vec<Node>], name: &[char], from: &[bool]) -> Vec<bool> {
    let mut all = once(alternatives, name, from);
    loop {
        let more = union(&all, &once(alternatives, name, &all));
        if more == all {
            return all;
        }
        all = more;
    }
}

/// Matches `!(…)`: any piece of the name, even an empty one, that is none of these.
fn other_than(alternatives: &[Vec<Node>], name: &[char], from: &[bool]) -> Vec<bool> {
    let mut all = vec![false; from.len()];
    for (start, _) in from.iter().enumerate().filter(|(_, at)| **at) {
        let alone: Vec<bool> = (0..from.len()).map(|index| index == start).collect();
        let taken = once(alternatives, name, &alone);
        for (slot, is_taken) in all.iter_mut().zip(taken).skip(start) {
            *slot |= !is_taken;
        }
    }
    all
}

fn union(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}
