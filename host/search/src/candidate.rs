//! A closer look at the tools that have most of a query's words.

use crate::evidence::Evidence;
use crate::index::{SearchIndex, ToolTerm};
use crate::query::{MAX_CLAUSES, QueryWord};
use crate::weights::{CLAUSE, CLAUSE_RARITY, COMPANION, COVERAGE, NAME_COVERAGE, SERVER};

/// More than any tool can be worth.
pub(crate) const MAX_SCORE: f32 = 1.01 * (1.0 + CLAUSE * (1.0 + SERVER)) * (1.0 + COMPANION);

/// A tool that may be what a query asks for.
pub(crate) struct Candidate {
    /// Its place in the index.
    pub(crate) tool: u32,
    /// Its server's place.
    pub(crate) server: u32,
    /// Score of the tool.
    pub(crate) score: f32,
    /// Share of each word of the query that it has, by the word's rarity.
    pub(crate) words: Vec<f32>,
}

/// Words of a query, by the terms that stand for them.
struct AskedTerms(Vec<Vec<(usize, f32)>>);

impl AskedTerms {
    fn new(words: &[QueryWord], index: &SearchIndex) -> Self {
        let mut asked = vec![Vec::new(); index.terms.len()];
        for (word, QueryWord { terms, .. }) in words.iter().enumerate() {
            for (term, share) in terms {
                if let Some(asked) = asked.get_mut(*term as usize) {
                    asked.push((word, *share));
                }
            }
        }
        Self(asked)
    }

    /// Returns the words that a term stands for, each with what it counts of the word.
    fn of(&self, term: &ToolTerm) -> &[(usize, f32)] {
        self.0.get(term.term as usize).map_or(&[], Vec::as_slice)
    }
}

/// Returns what tools are worth for a query.
pub(crate) fn candidates(
    tools: &[u32],
    words: &[QueryWord],
    evidence: &Evidence,
    index: &SearchIndex,
) -> Vec<Candidate> {
    let asked = AskedTerms::new(words, index);
    let candidates = tools.iter().map(|&tool| {
        let server = index.server_of.get(tool as usize).copied();
        let server = server.unwrap_or_default();
        let terms = index.tool_terms.get(tool as usize);
        let terms = terms.map_or(&[][..], Vec::as_slice);
        let mut values = vec![0.0_f32; words.len()];
        for term in terms {
            for (word, share) in asked.of(term) {
                if let Some(value) = values.get_mut(*word) {
                    *value = value.max(share * term.weight);
                }
            }
        }
        let of_server = evidence.servers.iter();
        let of_server = of_server.map(|servers| servers.get(server as usize).copied());
        let values: Vec<_> = values
            .into_iter()
            .zip(of_server.map(Option::unwrap_or_default))
            .collect();
        let of_words = words.iter().zip(&values);
        let of_words = of_words.map(|(word, (value, _))| word.rarity * value);
        let of_name = 1.0 - NAME_COVERAGE + NAME_COVERAGE * name_coverage(terms, &asked, index);
        Candidate {
            tool,
            server,
            score: of_name * fit(words, &values),
            words: of_words.collect(),
        }
    });
    candidates.collect()
}

/// Returns how much of a tool's name is in a query, between 0 and 1.
fn name_coverage(terms: &[ToolTerm], asked: &AskedTerms, index: &SearchIndex) -> f32 {
    let (mut all, mut covered) = (0.0, 0.0);
    for term in terms.iter().filter(|term| term.in_name) {
        let rarity = index.rarity(term.term);
        let shares = asked.of(term).iter().map(|(_, share)| *share);
        all += rarity;
        covered += rarity * shares.fold(0.0, f32::max);
    }
    if all > 0.0 { covered / all } else { 0.0 }
}

/// Returns how well a tool fits words of a query, as a whole and in the clause that it fits best. Of
/// each word it is given what the tool has of it, and what the tool's server has.
fn fit(words: &[QueryWord], values: &[(f32, f32)]) -> f32 {
    let (mut whole, mut rarities, mut covered) = (0.0, 0.0, 0.0);
    let mut clauses = [(0.0_f32, 0.0_f32); MAX_CLAUSES];
    for (word, (tool, server)) in words.iter().zip(values) {
        let value = word.rarity * (tool + SERVER * server);
        whole += value;
        rarities += word.rarity;
        if *tool > 0.0 {
            covered += word.rarity;
        }
        for (place, (sum, rarities)) in clauses.iter_mut().enumerate() {
            if word.clauses & (1 << place) != 0 {
                *sum += value;
                *rarities += word.rarity;
            }
        }
    }
    if rarities == 0.0 {
        return 0.0;
    }
    let clauses = clauses.iter();
    let clauses = clauses.map(|(sum, rarities)| sum / (rarities + CLAUSE_RARITY));
    let whole = (covered / rarities).powf(COVERAGE) * whole / (rarities * (1.0 + SERVER));
    whole + CLAUSE * clauses.fold(0.0, f32::max)
}
