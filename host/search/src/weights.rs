//! Weights of the ranking. The numbers were chosen by coordinate search on halves of the queries in
//! `tests/fixtures/retrieval`, by their tasks, each half measured on the other; they are the middle of what
//! both found, as far as that was better on the half that it was not chosen on. `cargo xtask bench retrieval` prints how
//! good they are. What servers share a page by was chosen so that this stays, by `tests::page_shares` and `tests::hostile`.

/// Number of [`ToolField`]s.
pub(crate) const FIELDS: usize = 7;

/// Place of a word in a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolField {
    /// In its name.
    Name,
    /// In its server's name.
    Server,
    /// In its title.
    Title,
    /// In the first sentence of its description.
    Lead,
    /// In the rest of its description.
    Description,
    /// In the names of its parameters.
    ParameterNames,
    /// In their descriptions, choices and examples.
    Parameters,
}

impl ToolField {
    /// Checks whether the field is so short and so much to the point that words beside each other in
    /// it belong together.
    pub(crate) fn has_pairs(self) -> bool {
        matches!(self, Self::Name | Self::Server | Self::Title | Self::Lead)
    }

    pub(crate) fn weight(self) -> FieldWeight {
        let weight = |weight, usual_words, length_share| FieldWeight {
            weight,
            usual_words,
            length_share,
        };
        match self {
            Self::Name => weight(3.0, 2.0, 0.3),
            Self::Server => weight(2.5, 2.5, 0.4),
            Self::Title => weight(2.0, 3.0, 0.5),
            Self::Lead => weight(1.2, 10.0, 0.6),
            Self::Description => weight(0.4, 17.0, 0.6),
            Self::ParameterNames => weight(1.0, 3.5, 0.5),
            Self::Parameters => weight(0.3, 25.0, 0.8),
        }
    }
}

/// Weight of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldWeight {
    /// Weight of a word that stands in it once, where the field is of usual length.
    pub(crate) weight: f32,
    /// Its usual length, in words.
    pub(crate) usual_words: f32,
    /// Share of its length by which a word of a longer one counts less: 0 for as much, 1 for in
    /// proportion.
    pub(crate) length_share: f32,
}

/// Weight at which a word of a tool counts half of the most that it can: repeating it is of no use.
pub(crate) const SATURATION: f32 = 1.5;

/// Weight of two words beside each other, beside what each of them counts, in a tool.
pub(crate) const PAIR: f32 = 0.7;

/// Share of their rarity that they count, in a query.
pub(crate) const PAIR_RARITY: f32 = 0.65;

/// Share of the word that was asked for that one of the same meaning counts.
pub(crate) const SYNONYM: f32 = 0.5;

/// Share that a word of related meaning counts.
pub(crate) const RELATED: f32 = 0.5;

/// Least nearness of a word to the one that was asked for at which it counts, and from which on it
/// counts the more the nearer it is.
pub(crate) const MIN_NEARNESS: f32 = 0.45;

/// Share of its rarity that a word of a value counts ([`Literal`](crate::literals::Literal)).
pub(crate) const IN_LITERAL: f32 = 0.3;

/// Share of a file's name that its ending counts.
pub(crate) const ENDING: f32 = 0.55;

/// Share that a word counts that the one that was asked for was probably mistyped from.
pub(crate) const MISTYPED: f32 = 0.6;

/// Share of its rarity that a word counts that tasks are adorned with.
pub(crate) const WEAK: f32 = 0.6;

/// Share that a word counts for all tools of a server that others of its tools have.
pub(crate) const SERVER: f32 = 0.25;

/// Sum of the squares of what a word counts in a server's tools at which it counts half of that.
pub(crate) const SERVER_SATURATION: f32 = 1.5;

/// Power of the share of a query's words that a tool has, by which its score is multiplied.
pub(crate) const COVERAGE: f32 = 0.3;

/// Weight of the clause that a tool fits best, beside the whole query.
pub(crate) const CLAUSE: f32 = 0.2;

/// Rarity that is added to a clause's, so that a short one is not fitted by a single word.
pub(crate) const CLAUSE_RARITY: f32 = 5.0;

/// Share of a score that grows with how much of the tool's name is in the query.
pub(crate) const NAME_COVERAGE: f32 = 0.3;

/// Share of the score of a server's best tool that counts for its other tools.
pub(crate) const COMPANION: f32 = 0.6;

/// Factor for each better tool of the same server: a page is shared by those that fit about as well.
pub(crate) const SAME_SERVER: f32 = 0.98;

/// Factor for the tools of a server beyond its share of a page: they go behind others that fit about as
/// well, and stay before those that have a stray word of the query.
pub(crate) const BEYOND_SHARE: f32 = 0.82;

/// Factor for a tool that has no words of the query but those that so many better ones of its server
/// have, too: it goes behind others that fit at all.
pub(crate) const TOO_MANY_ALIKE: f32 = 0.1;

/// Most tools of one server that are alike by what they have of a query and keep their scores.
pub(crate) const MAX_ALIKE: usize = 7;

/// Power of the share of what a tool has of a query that another one has, too, by which that one counts
/// as alike: nearly all of it is much, and half of it is next to nothing.
pub(crate) const ALIKENESS: f32 = 6.0;

/// Most tools of one server that come first for a name that is like the query.
pub(crate) const MAX_ALIKE_NAMES: usize = 3;

/// Share of what its name counts for another one: it is found where nothing else is.
pub(crate) const MORE_ALIKE_NAMES: f32 = 0.01;

/// Most tools of one server that count where it is said how rare a word is that others have, too: a
/// server with many takes nothing from the words of others by saying them.
pub(crate) const MAX_OF_SERVER: usize = 30;

/// Returns a server's share of a page of ten: how many of its tools come before those of others that
/// fit a little less. Who has many tools has as many chances to be found.
pub(crate) fn page_share(tools: usize) -> usize {
    1200_usize
        .checked_div(tools)
        .map_or(9, |share| share.clamp(3, 9))
}

/// Most times that a word counts in one field.
pub(crate) const MAX_REPEATED: f32 = 2.0;
