//! Shares of a page of hits: no server keeps tools of others that fit off it by having many.

use std::collections::HashMap;

use crate::candidate::Candidate;
use crate::index::SearchIndex;
use crate::ranking::better;
use crate::tool_names::NameMatch;
use crate::weights::{
    ALIKENESS, BEYOND_SHARE, MAX_ALIKE, MAX_ALIKE_NAMES, MORE_ALIKE_NAMES, SAME_SERVER,
    TOO_MANY_ALIKE, page_share,
};

/// Most tools of a server that lesser ones of it are compared with.
const MAX_COMPARED: usize = 300;

/// Share of a page that the better tools of a server have taken.
struct ServerShare<'c> {
    /// Number of its tools that keep their scores.
    most: usize,
    /// Number of its tools.
    tools: usize,
    /// Number of them whose name is like the query.
    names: usize,
    /// Factor for the next one.
    factor: f32,
    /// Share of the query's words that each has.
    words: Vec<&'c [f32]>,
}

impl<'c> ServerShare<'c> {
    /// Takes a place for the next tool, by what it has of the query's words, and returns the factor
    /// of its score.
    fn take(&mut self, words: &'c [f32]) -> f32 {
        let mut factor = self.factor;
        self.factor *= SAME_SERVER;
        self.tools += 1;
        if self.tools > self.most {
            factor *= BEYOND_SHARE;
        }
        let most = self.most.min(MAX_ALIKE) as f32;
        let mut alike = 0.0;
        let is_too_many = self.words.iter().any(|others| {
            alike += alikeness(words, others);
            alike >= most
        });
        if is_too_many {
            factor *= TOO_MANY_ALIKE;
        }
        if self.words.len() < MAX_COMPARED {
            self.words.push(words);
        }
        factor
    }
}

/// Takes a little from each tool for every better one of its server, more beyond the server's share of
/// the page, and nearly all where so many of them have the same words of the query: tools that fit
/// different parts of a task are worth their places, and ever more of one kind are not. Names that the
/// query has written out are beside that: no server has more of them than the query. The tools of one
/// server stay in their order.
///
/// Each tool is given with its score without what it has for its name, which is added here.
pub(crate) fn share_page(
    candidates: &mut [Candidate],
    names: &HashMap<u32, NameMatch>,
    index: &SearchIndex,
) {
    let bonus = |tool: u32| names.get(&tool).map_or(0.0, |name| name.bonus());
    candidates.sort_by(|one, other| {
        let scores = (one.score + bonus(one.tool), other.score + bonus(other.tool));
        better(scores.0, scores.1).then(one.tool.cmp(&other.tool))
    });
    let mut shares: HashMap<u32, ServerShare<'_>> = HashMap::new();
    for candidate in candidates.iter_mut() {
        let name = names.get(&candidate.tool);
        if name == Some(&NameMatch::Exact) {
            candidate.score += bonus(candidate.tool);
            continue;
        }
        let share = shares.entry(candidate.server).or_insert_with(|| {
            let tools = index.tools_of.get(candidate.server as usize).copied();
            ServerShare {
                most: page_share(tools.unwrap_or_default()),
                tools: 0,
                names: 0,
                factor: 1.0,
                words: Vec::new(),
            }
        });
        candidate.score *= share.take(&candidate.words);
        if let Some(name) = name {
            share.names += 1;
            let is_first = share.names <= MAX_ALIKE_NAMES;
            candidate.score += name.bonus() * if is_first { 1.0 } else { MORE_ALIKE_NAMES };
        }
    }
    drop(shares);
    keep_order_of_servers(candidates);
}

/// Gives the scores of each server's tools to these in their order: how much of the page a server has
/// is one thing, and which of its tools are there another.
fn keep_order_of_servers(candidates: &mut [Candidate]) {
    let mut scores: HashMap<u32, Vec<f32>> = HashMap::new();
    for candidate in &*candidates {
        scores
            .entry(candidate.server)
            .or_default()
            .push(candidate.score);
    }
    for scores in scores.values_mut() {
        scores.sort_by(|one, other| better(*other, *one));
    }
    for candidate in candidates {
        let best = scores.get_mut(&candidate.server).and_then(Vec::pop);
        candidate.score = best.unwrap_or_default();
    }
}

/// Returns how much a tool's words of a query are those of another one, between 0 and 1.
fn alikeness(words: &[f32], others: &[f32]) -> f32 {
    let all: f32 = words.iter().sum();
    let both = words.iter().zip(others).map(|(one, other)| one.min(*other));
    if all > 0.0 {
        (both.sum::<f32>() / all).powf(ALIKENESS)
    } else {
        1.0
    }
}
