//! The index: all servers' tools together, by the words that they have and by their names.

use std::collections::HashMap;

use crate::document::ToolDocument;
use crate::server_documents::{Occurrence, ServerDocuments};
use crate::synonyms::Synonyms;
use crate::tool_names::letters;
use crate::weights::Weights;
use crate::words::Stems;

/// Tools that can be searched. It never changes; a new one is made of the same parts where a server
/// has changed.
pub struct SearchIndex {
    /// Place of each tool in what the index was made of.
    pub(crate) positions: Vec<usize>,
    /// Its server, as a place in `servers`.
    pub(crate) server_of: Vec<u32>,
    /// Names of the servers.
    pub(crate) servers: Vec<String>,
    /// Folded names, in order, each with its tool: those that agents see and the servers' own.
    pub(crate) names: Vec<(String, u32)>,
    /// Letters of the names, likewise.
    pub(crate) name_letters: Vec<u64>,
    /// Places of stems in `terms`.
    pub(crate) term_ids: HashMap<String, u32>,
    /// Stems, each with the tools that have it.
    pub(crate) terms: Vec<Term>,
    pub(crate) synonyms: Synonyms,
    pub(crate) stems: Stems,
    pub(crate) weights: Weights,
}

/// A stem that some tool has.
pub(crate) struct Term {
    pub(crate) stem: String,
    pub(crate) letters: u64,
    pub(crate) occurrences: Vec<Occurrence>,
    /// How much it says: more where few tools have it.
    pub(crate) rarity: f32,
}

impl SearchIndex {
    /// Makes the index of these tools. A [`SearchHit`](crate::SearchHit) names a tool by its place
    /// among them.
    pub fn new<'a>(tools: impl IntoIterator<Item = ToolDocument<'a>>) -> Self {
        Self::weighted(tools, Weights::default())
    }

    pub(crate) fn weighted<'a>(
        tools: impl IntoIterator<Item = ToolDocument<'a>>,
        weights: Weights,
    ) -> Self {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut servers: Vec<(&str, Vec<ToolDocument<'a>>, Vec<usize>)> = Vec::new();
        for (position, tool) in tools.into_iter().enumerate() {
            let place = *places.entry(tool.server).or_insert(servers.len());
            if place == servers.len() {
                servers.push((tool.server, Vec::new(), Vec::new()));
            }
            if let Some((_, tools, positions)) = servers.get_mut(place) {
                tools.push(tool);
                positions.push(position);
            }
        }
        let parts: Vec<_> = servers
            .iter()
            .map(|(server, tools, _)| {
                ServerDocuments::weighted(server, tools.iter().copied(), &weights)
            })
            .collect();
        let positions = servers.into_iter().flat_map(|(_, _, positions)| positions);
        Self::made(
            &parts.iter().collect::<Vec<_>>(),
            positions.collect(),
            weights,
        )
    }

    /// Makes the index of servers that have been analysed. A [`SearchHit`](crate::SearchHit) names a
    /// tool by its place among all of them, in the order of the servers and of their tools.
    pub fn of_servers<'a>(servers: impl IntoIterator<Item = &'a ServerDocuments>) -> Self {
        let servers: Vec<_> = servers.into_iter().collect();
        let number = servers.iter().map(|server| server.len()).sum();
        Self::made(&servers, (0..number).collect(), Weights::default())
    }

    fn made(parts: &[&ServerDocuments], positions: Vec<usize>, weights: Weights) -> Self {
        let mut server_of = Vec::with_capacity(positions.len());
        let mut names = Vec::with_capacity(2 * positions.len());
        let mut term_ids: HashMap<String, u32> = HashMap::new();
        let mut terms: Vec<Term> = Vec::new();
        let mut first = 0_u32;
        for (server, part) in (0..).zip(parts) {
            for (stem, occurrences) in &part.terms {
                let next = u32::try_from(terms.len()).unwrap_or(u32::MAX);
                let id = *term_ids.entry(stem.clone()).or_insert(next);
                if id == next {
                    terms.push(Term {
                        stem: stem.clone(),
                        letters: letters(stem),
                        occurrences: Vec::new(),
                        rarity: 0.0,
                    });
                }
                if let Some(term) = terms.get_mut(id as usize) {
                    let moved = occurrences.iter().map(|occurrence| Occurrence {
                        tool: first + occurrence.tool,
                        weight: occurrence.weight,
                    });
                    term.occurrences.extend(moved);
                }
            }
            for name in &part.names {
                let tool = u32::try_from(server_of.len()).unwrap_or(u32::MAX);
                names.push((name.shown.clone(), tool));
                if name.own != name.shown {
                    names.push((name.own.clone(), tool));
                }
                server_of.push(server);
            }
            first = u32::try_from(server_of.len()).unwrap_or(u32::MAX);
        }
        let number = server_of.len() as f32;
        for term in &mut terms {
            let tools = term.occurrences.len() as f32;
            term.rarity = (1.0 + (number - tools + 0.5) / (tools + 0.5)).ln();
        }
        names.sort();
        let stems = Stems::new();
        Self {
            positions,
            server_of,
            servers: parts.iter().map(|part| part.server.clone()).collect(),
            name_letters: names.iter().map(|(name, _)| letters(name)).collect(),
            names,
            term_ids,
            terms,
            synonyms: Synonyms::new(&stems),
            stems,
            weights,
        }
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Checks whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }
}
