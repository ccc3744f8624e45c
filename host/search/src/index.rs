//! The index: all servers' tools together, by the words that they have and by their names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::document::ToolDocument;
use crate::server_documents::{Occurrence, ServerDocuments};
use crate::tool_names::{folded, letters};
use crate::weights::MAX_OF_SERVER;
use crate::word_vectors::WordVector;
use crate::words::{KeptStems, Stems};

/// Tools that can be searched. It never changes; a new one is made of the same parts where a server
/// has changed.
pub struct SearchIndex {
    /// Place of each tool in what the index was made of.
    pub(crate) positions: Vec<usize>,
    /// Its server, as a place in `servers`.
    pub(crate) server_of: Vec<u32>,
    /// Names of the servers.
    pub(crate) servers: Vec<String>,
    /// Numbers of their tools.
    pub(crate) tools_of: Vec<usize>,
    /// Folded names of tools, in order: those that agents see and the servers' own.
    pub(crate) names: Vec<ToolName>,
    /// Places of stems in `terms`.
    pub(crate) term_ids: HashMap<Arc<str>, u32>,
    /// Stems, each with the tools that have it.
    pub(crate) terms: Vec<Term>,
    /// Terms that are common words of English, where these stand among others.
    pub(crate) vectors: Vec<(u32, WordVector)>,
    /// Terms of each tool.
    pub(crate) tool_terms: Vec<Vec<ToolTerm>>,
    pub(crate) stems: Stems,
}

/// A name of a tool.
pub(crate) struct ToolName {
    /// The name as agents or its server write it.
    pub(crate) written: String,
    /// The name without case and separators.
    pub(crate) name: String,
    pub(crate) letters: u64,
    pub(crate) tool: u32,
}

/// A stem, or a pair of them, that some tool has.
pub(crate) struct Term {
    pub(crate) stem: Arc<str>,
    pub(crate) letters: u64,
    pub(crate) occurrences: Vec<Occurrence>,
    /// Rarity of the word: it says more where few tools have it.
    pub(crate) rarity: f32,
}

/// A term that a tool has.
pub(crate) struct ToolTerm {
    pub(crate) term: u32,
    /// Weight that it has for the tool.
    pub(crate) weight: f32,
    /// Whether it is a word of the tool's name.
    pub(crate) in_name: bool,
}

impl SearchIndex {
    /// Makes the index of these tools. A [`SearchHit`](crate::SearchHit) names a tool by its place
    /// among them.
    pub fn new<'a>(tools: impl IntoIterator<Item = ToolDocument<'a>>) -> Self {
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
        let mut stems = KeptStems::new();
        let parts = servers.iter();
        let parts = parts.map(|(name, tools, _)| {
            ServerDocuments::analyse_with(name, tools.iter().copied(), &mut stems)
        });
        let parts: Vec<_> = parts.collect();
        let positions = servers.into_iter().flat_map(|(_, _, positions)| positions);
        Self::of_parts(&parts.iter().collect::<Vec<_>>(), positions.collect())
    }

    /// Makes the index of servers that have been analysed. A [`SearchHit`](crate::SearchHit) names a
    /// tool by its place among all of them, in the order of the servers and of their tools.
    pub fn of_servers<'a>(servers: impl IntoIterator<Item = &'a ServerDocuments>) -> Self {
        let servers: Vec<_> = servers.into_iter().collect();
        let number = servers.iter().map(|server| server.len()).sum();
        Self::of_parts(&servers, (0..number).collect())
    }

    fn of_parts(parts: &[&ServerDocuments], positions: Vec<usize>) -> Self {
        let mut index = Self {
            positions,
            server_of: Vec::new(),
            servers: Vec::new(),
            tools_of: Vec::new(),
            names: Vec::new(),
            term_ids: HashMap::new(),
            terms: Vec::new(),
            vectors: Vec::new(),
            tool_terms: Vec::new(),
            stems: Stems::new(),
        };
        for part in parts {
            index.add(part);
        }
        index.names.sort_by(|one, other| one.name.cmp(&other.name));
        let number = index.server_of.len() as f32;
        let server_of = |one: &Occurrence| index.server_of.get(one.tool as usize);
        for term in &mut index.terms {
            let servers = term.occurrences.as_slice();
            let servers = servers.chunk_by(|one, other| server_of(one) == server_of(other));
            // Of a word that no other server has, nothing can be taken.
            let most = match servers.clone().nth(1) {
                Some(_) => MAX_OF_SERVER,
                None => usize::MAX,
            };
            let tools: usize = servers.map(|tools| tools.len().min(most)).sum();
            let tools = tools as f32;
            term.rarity = (1.0 + (number - tools + 0.5) / (tools + 0.5)).ln();
        }
        let vectors = (0..).zip(&index.terms);
        let vectors = vectors.filter_map(|(id, term)| Some((id, WordVector::of(&term.stem)?)));
        index.vectors = vectors.collect();
        index
    }

    /// Adds a server's tools behind those that there are.
    fn add(&mut self, part: &ServerDocuments) {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let server = number(self.servers.len());
        let first = self.server_of.len();
        self.servers.push(part.server.clone());
        self.tools_of.push(part.len());
        for (tool, names) in (number(first)..).zip(&part.names) {
            let mut names = vec![&names.shown, &names.own];
            names.dedup();
            self.names.extend(names.into_iter().map(|written| {
                let name = folded(written);
                ToolName {
                    written: written.clone(),
                    letters: letters(&name),
                    name,
                    tool,
                }
            }));
            self.server_of.push(server);
            self.tool_terms.push(Vec::new());
        }
        for (stem, occurrences) in &part.terms {
            let next = number(self.terms.len());
            let id = self.term_ids.get(stem.as_str()).copied().unwrap_or(next);
            if id == next {
                let stem: Arc<str> = stem.as_str().into();
                self.term_ids.insert(Arc::clone(&stem), id);
                self.terms.push(Term {
                    letters: letters(&stem),
                    stem,
                    // Most terms are one server's.
                    occurrences: Vec::with_capacity(occurrences.len()),
                    rarity: 0.0,
                });
            }
            let Some(term) = self.terms.get_mut(id as usize) else {
                continue;
            };
            for occurrence in occurrences {
                // A tool that there is not is of no use; where this was read from is not trusted.
                let tool = first.saturating_add(occurrence.tool as usize);
                if let Some(terms) = self.tool_terms.get_mut(tool) {
                    terms.push(ToolTerm {
                        term: id,
                        weight: occurrence.weight,
                        in_name: occurrence.in_name,
                    });
                    term.occurrences.push(Occurrence {
                        tool: number(tool),
                        ..*occurrence
                    });
                }
            }
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

    /// Returns how much a term says.
    pub(crate) fn rarity(&self, term: u32) -> f32 {
        let term = self.terms.get(term as usize);
        term.map_or(0.0, |term| term.rarity)
    }
}
