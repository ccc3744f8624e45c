//! The tools of one server, analysed: which words they have, and what each counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::ToolDocument;
use crate::schema_words::SchemaWords;
use crate::stop_words::is_stop_word;
use crate::weights::{FIELDS, MAX_REPEATED, PAIR, SATURATION, ToolField};
use crate::words::{KeptStems, words};

/// Number of the way in which tools are analysed: what another one has made is of no use.
const ANALYSIS: u32 = 2;

/// Most bytes of descriptions and schemas that are read of one server; of the tools behind them, the
/// names and titles are read.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Most words that are read of one field of a tool.
const MAX_WORDS: usize = 600;

/// A server's tools, analysed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerDocuments {
    /// Name of the server.
    pub(crate) server: String,
    /// Names of its tools.
    pub(crate) names: Vec<Names>,
    /// Stems of its tools' words in order, and pairs of stems with a space between, each with the
    /// tools that have it.
    pub(crate) terms: Vec<(String, Vec<Occurrence>)>,
}

/// Names of a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Names {
    /// The name by which agents call it.
    pub(crate) shown: String,
    /// The name that its server knows it by.
    pub(crate) own: String,
}

/// A tool that has a word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Occurrence {
    /// Place of the tool.
    pub(crate) tool: u32,
    /// Weight of the word for it, less than 1.
    pub(crate) weight: f32,
    /// Whether it is a word of the tool's own name.
    pub(crate) in_name: bool,
}

impl ServerDocuments {
    /// Analyses a server's tools. Each is that server's, whatever server it names.
    pub fn analyse<'a>(server: &str, tools: impl IntoIterator<Item = ToolDocument<'a>>) -> Self {
        Self::analyse_with(server, tools, &mut KeptStems::new())
    }

    /// Analyses a server's tools, with stems that are kept.
    pub(crate) fn analyse_with<'a>(
        server: &str,
        tools: impl IntoIterator<Item = ToolDocument<'a>>,
        stems: &mut KeptStems,
    ) -> Self {
        let mut names = Vec::new();
        let mut terms: BTreeMap<String, Vec<Occurrence>> = BTreeMap::new();
        let mut room = MAX_TEXT_BYTES;
        for (tool, mut document) in (0..).zip(tools) {
            let length = |text: Option<&str>| text.map_or(0, str::len);
            let bytes = length(document.description).saturating_add(length(document.input_schema));
            room = room.saturating_sub(bytes);
            if room == 0 {
                document.description = None;
                document.input_schema = None;
            }
            names.push(Names {
                shown: document.name.to_owned(),
                own: document.own_name.to_owned(),
            });
            for (stem, (weight, in_name)) in tool_terms(server, &document, stems) {
                let occurrence = Occurrence {
                    tool,
                    weight,
                    in_name,
                };
                terms.entry(stem).or_default().push(occurrence);
            }
        }
        Self {
            server: server.to_owned(),
            names,
            terms: terms.into_iter().collect(),
        }
    }

    /// Returns a hash of all that [`Self::analyse`] is given, and of the way in which it is analysed:
    /// while it is the same, so is what it makes.
    pub fn content_hash<'a>(
        server: &str,
        tools: impl IntoIterator<Item = ToolDocument<'a>>,
    ) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&ANALYSIS.to_le_bytes());
        let mut add = |text: Option<&str>| {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hasher.update(&length.to_le_bytes());
            hasher.update(text.unwrap_or_default().as_bytes());
        };
        add(Some(server));
        for tool in tools {
            add(Some(tool.name));
            add(Some(tool.own_name));
            add(tool.title);
            add(tool.description);
            add(tool.input_schema);
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Checks whether the server has no tools.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Returns the terms of a tool, each with what it counts and whether it is in the tool's name.
fn tool_terms(
    server: &str,
    tool: &ToolDocument<'_>,
    stems: &mut KeptStems,
) -> BTreeMap<String, (f32, bool)> {
    let schema = tool.input_schema.map(SchemaWords::read).unwrap_or_default();
    let (lead, rest) = first_sentence(tool.description.unwrap_or_default());
    let fields: [(ToolField, &str); FIELDS] = [
        (ToolField::Name, tool.own_name),
        (ToolField::Server, server),
        (ToolField::Title, tool.title.unwrap_or_default()),
        (ToolField::Lead, lead),
        (ToolField::Description, rest),
        (ToolField::ParameterNames, &schema.names),
        (ToolField::Parameters, &schema.descriptions),
    ];
    let mut terms: BTreeMap<String, (f32, bool)> = BTreeMap::new();
    for (field, text) in fields {
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        let mut length = 0.0;
        let mut before = String::new();
        for word in words(text, MAX_WORDS) {
            if !word.is_joined {
                length += 1.0;
            }
            if is_stop_word(&word.text) {
                continue;
            }
            let stem = stems.stem(&word.text);
            if field.has_pairs() && !word.is_joined {
                if !before.is_empty() {
                    *counts.entry(format!("{before} {stem}")).or_default() += PAIR;
                }
                before.clone_from(&stem);
            }
            *counts.entry(stem).or_default() += 1.0;
        }
        let weight = field.weight();
        let share = weight.length_share;
        let longer = 1.0 - share + share * length / weight.usual_words;
        for (stem, count) in counts {
            let is_word = !stem.contains(' ');
            let (sum, in_name) = terms.entry(stem).or_default();
            // Who repeats a word in a name means to be found by it.
            let most = if field == ToolField::Name {
                1.0
            } else {
                MAX_REPEATED
            };
            *sum += weight.weight * count.min(most) / longer;
            *in_name |= is_word && field == ToolField::Name;
        }
    }
    for (weight, _) in terms.values_mut() {
        *weight /= *weight + SATURATION;
    }
    terms
}

/// Divides a description behind its first sentence.
fn first_sentence(description: &str) -> (&str, &str) {
    let text = description.trim_start();
    let ends = ["\n", ". ", "。", "; "];
    let ends = ends.iter();
    let end = ends.filter_map(|end| text.find(end).map(|at| at + end.len()));
    text.split_at(end.min().unwrap_or(text.len()))
}
