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

    /// Returns the tools that have most, at most so many, in no order.
    pub(crate) fn best(&self, most: usize, is_wanted: &impl Fn(u32) -> bool) -> Vec<u32> {
        let found = (0..).zip(&self.tools);
        let found = found.filter(|(tool, sum)| **sum > 0.0 && is_wanted(*tool));
        let mut found: Vec<(u32, f32)> = found.map(|(tool, sum)| (tool, *sum)).collect();
        if found.len() > most {
            found.select_nth_unstable_by(most, |(one, sum), (other, other_sum)| {
                other_sum.total_cmp(sum).then(one.cmp(other))
            });
            found.truncate(most);
        }
        found.into_iter().map(|(tool, _)| tool).collect()
    }
}
