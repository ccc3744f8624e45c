//! The tools of one server, analysed: which words they have, and what each counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::document::ToolDocument;
use crate::schema_words::SchemaWords;
use crate::stop_words::is_stop_word;
use crate::weights::{FIELDS, MAX_REPEATED, PAIR, SATURATION, ToolField};
use crate::words::{KeptStems, words};

/// Number of the way in which tools are analysed: what another one has made is of no use.
const ANALYSIS: u32 = 3;

/// Most bytes that are read of one server, names and titles included; of the tools behind them, the names
/// and titles alone are read.
const MAX_TEXT_BYTES: usize = 4 << 20;

/// Most terms of one server, and most that its tools have of them together, with descriptions and schemas.
/// A text of a few bytes may be two terms, each of which takes a hundred times as much, in memory and to be
/// ordered. A thousand tools of servers as they are have some 50,000, of 10,000 terms.
pub(crate) const MAX_OF_TEXTS: TermNumbers = TermNumbers {
    terms: 60_000,
    occurrences: 300_000,
};

/// Most terms and occurrences with the names and titles of the tools behind those: of the ones that are left, the names are
/// found as a whole, by their beginning and with one letter mistyped, as all are, and by no words.
pub(crate) const MAX_OF_ALL: TermNumbers = TermNumbers {
    terms: 100_000,
    occurrences: 500_000,
};

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
    /// Number of the tools that are known by their names and titles alone, because those before them say so
    /// much.
    without_texts: usize,
}

/// Number of terms, and of those that tools have of them together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TermNumbers {
    pub(crate) terms: usize,
    pub(crate) occurrences: usize,
}

impl TermNumbers {
    /// Checks whether these are no more than others.
    pub(crate) fn are_within(self, most: Self) -> bool {
        self.terms <= most.terms && self.occurrences <= most.occurrences
    }
}

/// Texts of a tool whose words count. Of the tools of a server, each has no more than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadTexts {
    All,
    NamesAndTitle,
    None,
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
#[serde(from = "(u32, f32, bool)", into = "(u32, f32, bool)")]
pub(crate) struct Occurrence {
    /// Place of the tool.
    pub(crate) tool: u32,
    /// Weight of the word for it, less than 1.
    pub(crate) weight: f32,
    /// Whether it is a word of the tool's own name.
    pub(crate) in_name: bool,
}

impl From<(u32, f32, bool)> for Occurrence {
    fn from((tool, weight, in_name): (u32, f32, bool)) -> Self {
        Self {
            tool,
            weight,
            in_name,
        }
    }
}

impl From<Occurrence> for (u32, f32, bool) {
    fn from(occurrence: Occurrence) -> Self {
        (occurrence.tool, occurrence.weight, occurrence.in_name)
    }
}

/// Terms of a server's tools as they are found.
#[derive(Default)]
struct FoundTerms {
    terms: BTreeMap<String, Vec<Occurrence>>,
    occurrences: usize,
}

impl FoundTerms {
    /// Checks whether there would be no more than so many with as many others.
    fn have_room(&self, others: usize, most: TermNumbers) -> bool {
        let numbers = TermNumbers {
            terms: self.terms.len().saturating_add(others),
            occurrences: self.occurrences.saturating_add(others),
        };
        numbers.are_within(most)
    }

    fn add(&mut self, tool: u32, terms: BTreeMap<String, (f32, bool)>) {
        self.occurrences = self.occurrences.saturating_add(terms.len());
        for (stem, (weight, in_name)) in terms {
            let occurrence = Occurrence {
                tool,
                weight,
                in_name,
            };
            self.terms.entry(stem).or_default().push(occurrence);
        }
    }
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
        let mut found = FoundTerms::default();
        let mut room = MAX_TEXT_BYTES;
        let mut read = ReadTexts::All;
        let mut without_texts = 0;
        for (tool, document) in (0..).zip(tools) {
            names.push(Names {
                shown: document.name.to_owned(),
                own: document.own_name.to_owned(),
            });
            room = room.saturating_sub(document.bytes());
            if read == ReadTexts::All && room == 0 {
                read = ReadTexts::NamesAndTitle;
            }
            if read == ReadTexts::All {
                let terms = tool_terms(server, &document, stems);
                if found.have_room(terms.len(), MAX_OF_TEXTS) {
                    found.add(tool, terms);
                    continue;
                }
                read = ReadTexts::NamesAndTitle;
            }
            without_texts += 1;
            if read == ReadTexts::NamesAndTitle {
                let terms = tool_terms(server, &document.without_texts(), stems);
                if found.have_room(terms.len(), MAX_OF_ALL) {
                    found.add(tool, terms);
                } else {
                    read = ReadTexts::None;
                }
            }
        }
        let mut terms: Vec<_> = found.terms.into_iter().collect();
        for (_, occurrences) in &mut terms {
            occurrences.shrink_to_fit();
        }
        Self {
            server: server.to_owned(),
            names,
            terms,
            without_texts,
        }
    }

    /// Returns the number of the tools that are found by their names and titles alone, because those before them
    /// say more than is read of one server.
    pub fn without_texts(&self) -> usize {
        self.without_texts
    }

    /// Checks whether these have no more terms than [`Self::analyse`] finds in whatever tools: where they
    /// were read from is not trusted.
    pub fn are_bounded(&self) -> bool {
        self.numbers().are_within(MAX_OF_ALL)
    }

    /// Returns how many terms there are, and how many tools have of them together.
    pub(crate) fn numbers(&self) -> TermNumbers {
        let occurrences = self.terms.iter().map(|(_, occurrences)| occurrences.len());
        TermNumbers {
            terms: self.terms.len(),
            occurrences: occurrences.sum(),
        }
    }

    /// Returns about how many bytes of memory these take.
    pub(crate) fn memory(&self) -> usize {
        let names = self.names.iter();
        let names = names.map(|names| size_of::<Names>() + names.shown.len() + names.own.len());
        let terms = self.terms.iter().map(|(stem, occurrences)| {
            size_of::<(String, Vec<Occurrence>)>()
                + stem.len()
                + occurrences.len() * size_of::<Occurrence>()
        });
        names.sum::<usize>() + terms.sum::<usize>()
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
