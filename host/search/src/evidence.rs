//! A first look at all tools: how much of a query's words each has, and each server.

use crate::index::SearchIndex;
use crate::query::QueryWord;
use crate::weights::SERVER_SATURATION;

/// Evidence for tools and servers by a query's words.
pub(crate) struct Evidence {
    /// Sum of what each tool has.
    tools: Vec<f32>,
    /// Share of each word that each server has, between 0 and 1.
    pub(crate) servers: Vec<Vec<f32>>,
}

impl Evidence {
    pub(crate) fn new(words: &[QueryWord], index: &SearchIndex) -> Self {
        let number = index.positions.len();
        let mut tools = vec![0.0_f32; number];
        let mut of_word = vec![0.0_f32; number];
        let mut servers = Vec::with_capacity(words.len());
        let mut touched: Vec<u32> = Vec::new();
        for word in words {
            for (term, share) in &word.terms {
                let term = index.terms.get(*term as usize);
                for occurrence in term.into_iter().flat_map(|term| &term.occurrences) {
                    if let Some(known) = of_word.get_mut(occurrence.tool as usize) {
                        if *known == 0.0 {
                            touched.push(occurrence.tool);
                        }
                        *known = known.max(share * occurrence.weight);
                    }
                }
            }
            let mut of_server = vec![0.0_f32; index.servers.len()];
            for tool in touched.drain(..) {
                let tool = tool as usize;
                let value = of_word
                    .get_mut(tool)
                    .map(std::mem::take)
                    .unwrap_or_default();
                if let Some(sum) = tools.get_mut(tool) {
                    *sum += value * word.rarity;
                }
                let server = index.server_of.get(tool);
                if let Some(sum) = server.and_then(|server| of_server.get_mut(*server as usize)) {
                    // Squares, so that many tools that say all words in passing are no evidence.
                    *sum += value * value;
                }
            }
            for sum in &mut of_server {
                *sum /= *sum + SERVER_SATURATION;
            }
            servers.push(of_server);
        }
        Self { tools, servers }
    }

    /// Returns the tools that have most, at most so many, in no order. Of one server, whose tools lie
    /// together, they are half of them at most, or as many as those of others leave room for.
    pub(crate) fn best(
        &self,
        most: usize,
        server_of: &[u32],
        is_wanted: &impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let found = (0..).zip(&self.tools).zip(server_of);
        let found = found.filter(|((tool, sum), _)| **sum > 0.0 && is_wanted(*tool));
        let found: Vec<_> = found
            .map(|((tool, sum), server)| (tool, *sum, *server))
            .collect();
        let mut best = Vec::new();
        for of_server in found.chunk_by(|(.., one), (.., other)| one == other) {
            let room = most.saturating_sub(found.len().saturating_sub(of_server.len()));
            let mut of_server = of_server.to_vec();
            keep_best(&mut of_server, room.max(most.div_ceil(2)));
            best.append(&mut of_server);
        }
        keep_best(&mut best, most);
        best.into_iter().map(|(tool, ..)| tool).collect()
    }
}

/// Keeps those of tools, each with its sum and its server, that have most, at most so many.
fn keep_best(found: &mut Vec<(u32, f32, u32)>, most: usize) {
    if found.len() > most {
        found.select_nth_unstable_by(most, |(one, sum, _), (other, other_sum, _)| {
            other_sum.total_cmp(sum).then(one.cmp(other))
        });
        found.truncate(most);
    }
}
