//! Search: which tools fit a query, and which come first.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::candidate::{Candidate, MAX_SCORE, candidates};
use crate::evidence::Evidence;
use crate::index::SearchIndex;
use crate::page_share::share_page;
use crate::query::{query_words, read_part};
use crate::tool_names::name_matches;
use crate::weights::COMPANION;

/// Fewest tools that are compared closely, where so many have a word of the query.
const MIN_COMPARED: usize = 300;

/// Scope of a search, and the number of tools that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct SearchOptions<'a> {
    /// Name of the one server whose tools are searched; all where there is none.
    pub server: Option<&'a str>,
    /// Most hits.
    pub limit: usize,
}

impl Default for SearchOptions<'_> {
    fn default() -> Self {
        Self {
            server: None,
            limit: 10,
        }
    }
}

/// A tool that fits a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// Place of the tool in what the index was made of.
    pub tool: usize,
    /// Score of how well it fits; comparable within the hits of one query alone.
    pub score: f32,
}

impl SearchIndex {
    /// Returns the tools that fit a query, the best first; of equal ones, in their order. Any text is
    /// a query; of a long one, its beginning is read.
    ///
    /// A tool comes before all others if the query is its name, or one of the query's words that have
    /// an underscore is; then come those whose name is another one by case and separators alone, begins
    /// with the query or differs from it by one letter, of each server a few where others have tools
    /// that fit.
    pub fn search(&self, query: &str, options: &SearchOptions<'_>) -> Vec<SearchHit> {
        let query = read_part(query);
        let server = options.server.map(|wanted| {
            let place = self.servers.iter().position(|server| server == wanted);
            place.and_then(|place| u32::try_from(place).ok())
        });
        let is_wanted = |tool: u32| match server {
            None => true,
            Some(server) => {
                server.is_some() && self.server_of.get(tool as usize).copied() == server
            }
        };
        let words = query_words(query, self);
        let names = name_matches(query, self, options.limit, &is_wanted);
        let evidence = Evidence::new(&words, self);
        let most = options.limit.max(MIN_COMPARED);
        let mut tools = evidence.best(most, &self.server_of, &is_wanted);
        tools.extend(names.keys());
        tools.sort_unstable();
        tools.dedup();
        let mut candidates = candidates(&tools, &words, &evidence, self);
        lift_companions(&mut candidates);
        for candidate in &mut candidates {
            candidate.score /= MAX_SCORE;
        }
        share_page(&mut candidates, &names, self);
        let hits = candidates.iter().map(|candidate| {
            let tool = self.positions.get(candidate.tool as usize);
            SearchHit {
                tool: tool.copied().unwrap_or_default(),
                score: candidate.score,
            }
        });
        let mut hits: Vec<_> = hits.filter(|hit| hit.score > 0.0).collect();
        hits.sort_by(|one, other| better(one.score, other.score).then(one.tool.cmp(&other.tool)));
        hits.truncate(options.limit);
        hits
    }
}

/// Adds to what tools are worth what the best one of their server is: what belongs to a task is
/// often on the server that does most of it.
fn lift_companions(candidates: &mut [Candidate]) {
    let mut best: HashMap<u32, f32> = HashMap::new();
    for candidate in &*candidates {
        let best = best.entry(candidate.server).or_default();
        *best = best.max(candidate.score);
    }
    for candidate in candidates {
        candidate.score += COMPANION * best.get(&candidate.server).copied().unwrap_or_default();
    }
}

/// Compares scores: the better is first.
pub(crate) fn better(one: f32, other: f32) -> Ordering {
    other.total_cmp(&one)
}
