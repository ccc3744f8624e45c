//! Search: how well each tool fits a query, and which come first.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::index::SearchIndex;
use crate::query::{QueryWord, query_words, read_part};
use crate::tool_names::{folded, is_one_letter_off, letters};

/// Shortest beginning of a name for which tools come first, in bytes.
const MIN_BEGINNING: usize = 4;

/// What is searched, and how much of what is found is wanted.
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
    /// How well it fits; comparable within the hits of one query alone.
    pub score: f32,
}

/// How a query is like a name; the better is the greater.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum NameMatch {
    OneLetterOff,
    /// The name begins with it; by how much of the name it is.
    Beginning(f32),
    Same,
}

impl NameMatch {
    /// Returns what it adds to a score, which is less than 1 without.
    fn bonus(self) -> f32 {
        match self {
            Self::OneLetterOff => 1.0,
            Self::Beginning(share) => 2.0 + share,
            Self::Same => 4.0,
        }
    }
}

impl SearchIndex {
    /// Returns the tools that fit a query, the best first; of equal ones, in their order. Any text is
    /// a query; of a long one, its beginning is read.
    pub fn search(&self, query: &str, options: &SearchOptions<'_>) -> Vec<SearchHit> {
        let query = read_part(query);
        let mut scores = self.scores(&query_words(query, self));
        for (tool, matched) in self.name_matches(query) {
            if let Some(score) = scores.get_mut(tool as usize) {
                *score += matched.bonus();
            }
        }
        let wanted = |tool: usize| {
            options.server.is_none_or(|wanted| {
                let server = self.server_of.get(tool);
                let server = server.and_then(|server| self.servers.get(*server as usize));
                server.is_some_and(|server| server == wanted)
            })
        };
        let found = scores.into_iter().enumerate();
        let found = found.filter(|(tool, score)| *score > 0.0 && wanted(*tool));
        let position = |tool: usize| self.positions.get(tool).copied().unwrap_or_default();
        let mut hits: Vec<SearchHit> = found
            .map(|(tool, score)| SearchHit {
                tool: position(tool),
                score,
            })
            .collect();
        if options.limit < hits.len() {
            hits.select_nth_unstable_by(options.limit, better);
            hits.truncate(options.limit);
        }
        hits.sort_by(better);
        hits
    }

    /// Returns how well each tool fits words, between 0 and 1.
    fn scores(&self, words: &[QueryWord]) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.positions.len()];
        let mut covered = vec![0.0_f32; self.positions.len()];
        let mut of_word = vec![0.0_f32; self.positions.len()];
        let mut of_server = vec![0.0_f32; self.servers.len()];
        let mut servers = vec![0.0_f32; self.servers.len()];
        let mut most = 0.0;
        for word in words {
            let rarity = self.rarity(word);
            most += rarity;
            let mut touched = Vec::new();
            for (id, share) in &word.terms {
                let Some(term) = self.terms.get(*id as usize) else {
                    continue;
                };
                for occurrence in &term.occurrences {
                    let value = share * term.rarity.min(rarity) * occurrence.weight;
                    if let Some(known) = of_word.get_mut(occurrence.tool as usize) {
                        if *known == 0.0 {
                            touched.push(occurrence.tool);
                        }
                        *known = known.max(value);
                    }
                }
            }
            for tool in touched {
                let tool = tool as usize;
                let value = of_word
                    .get_mut(tool)
                    .map(std::mem::take)
                    .unwrap_or_default();
                if let Some(score) = scores.get_mut(tool) {
                    *score += value;
                }
                if let Some(covered) = covered.get_mut(tool) {
                    *covered += rarity;
                }
                let server = self.server_of.get(tool).copied().unwrap_or_default() as usize;
                if let Some(of_server) = of_server.get_mut(server) {
                    *of_server += value;
                }
            }
            for (sum, server) in of_server.iter_mut().zip(&mut servers) {
                let value = std::mem::take(sum);
                *server += rarity * value / (value + self.weights.server_saturation);
            }
        }
        if most == 0.0 {
            return scores;
        }
        let all = most * (1.0 + self.weights.server);
        for ((score, covered), server) in scores.iter_mut().zip(&covered).zip(&self.server_of) {
            if *score > 0.0 {
                let server = servers.get(*server as usize).copied().unwrap_or_default();
                let coverage = (covered / most).powf(self.weights.coverage);
                *score = coverage * (*score + self.weights.server * server) / all;
            }
        }
        scores
    }

    /// Returns how much a word says: as much as the one of its terms that counts most.
    fn rarity(&self, word: &QueryWord) -> f32 {
        let term = word
            .terms
            .first()
            .and_then(|(id, _)| self.terms.get(*id as usize));
        term.map_or(0.0, |term| term.rarity)
    }

    /// Returns the tools with a name that is like a query, or is one of its words.
    fn name_matches(&self, query: &str) -> HashMap<u32, NameMatch> {
        let mut matches: HashMap<u32, NameMatch> = HashMap::new();
        let mut add = |tool: u32, matched: NameMatch| {
            let known = matches.entry(tool).or_insert(matched);
            if *known < matched {
                *known = matched;
            }
        };
        for word in query.split_whitespace() {
            // A word of a sentence is a name only where it is written as one.
            if word.contains(['_', '-', '.', '/', ':']) {
                let name = folded(word);
                for (_, tool) in self
                    .names_from(&name)
                    .iter()
                    .take_while(|(found, _)| *found == name)
                {
                    add(*tool, NameMatch::Same);
                }
            }
        }
        let name = folded(query);
        if name.is_empty() {
            return matches;
        }
        for (found, tool) in self.names_from(&name) {
            if *found == name {
                add(*tool, NameMatch::Same);
            } else if name.len() >= MIN_BEGINNING && found.starts_with(&name) {
                let share = name.len() as f32 / found.len() as f32;
                add(*tool, NameMatch::Beginning(share));
            } else {
                break;
            }
        }
        if name.len() >= MIN_BEGINNING {
            let wanted = letters(&name);
            for ((found, tool), letters) in self.names.iter().zip(&self.name_letters) {
                if (letters ^ wanted).count_ones() <= 2
                    && is_one_letter_off(found.as_bytes(), name.as_bytes())
                {
                    add(*tool, NameMatch::OneLetterOff);
                }
            }
        }
        matches
    }

    /// Returns the names that are not before one, in their order.
    fn names_from(&self, name: &str) -> &[(String, u32)] {
        let begin = self
            .names
            .partition_point(|(found, _)| found.as_str() < name);
        self.names.get(begin..).unwrap_or_default()
    }
}

/// Compares hits: the better is first.
fn better(one: &SearchHit, other: &SearchHit) -> Ordering {
    other
        .score
        .total_cmp(&one.score)
        .then_with(|| one.tool.cmp(&other.tool))
}
