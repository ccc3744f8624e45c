//! How much what counts: chosen by `cargo xtask bench retrieval` on halves of the queries that the
//! other half was measured on.

/// Number of [`Field`]s.
pub(crate) const FIELDS: usize = 6;

/// Where a word of a tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// In its name.
    Name,
    /// In its server's name.
    Server,
    /// In its title.
    Title,
    /// In its description.
    Description,
    /// In the names of its parameters.
    ParameterNames,
    /// In their descriptions, choices and examples.
    Parameters,
}

/// What a field counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldWeight {
    /// Weight of a word that stands in it once, where it is of usual length.
    pub(crate) weight: f32,
    /// Its usual length, in words.
    pub(crate) usual_words: f32,
    /// How much a longer one counts less for each word: 0 for not at all, 1 for in proportion.
    pub(crate) length_share: f32,
}

/// All weights.
#[derive(Debug, Clone)]
pub(crate) struct Weights {
    /// What each [`Field`] counts.
    pub(crate) fields: [FieldWeight; FIELDS],
    /// Weight at which a word counts half of the most that it can.
    pub(crate) saturation: f32,
    /// What a synonym counts of the word that was asked for.
    pub(crate) synonym: f32,
    /// What a word counts that the asked one was probably mistyped from.
    pub(crate) mistyped: f32,
    /// What is known of the whole server counts so much beside what is known of the tool.
    pub(crate) server: f32,
    /// Sum of the weights of a word in a server's tools at which it counts half for the server.
    pub(crate) server_saturation: f32,
    /// Power of the share of a query's words that a tool has, by which its score is multiplied.
    pub(crate) coverage: f32,
}

impl Default for Weights {
    fn default() -> Self {
        let field = |weight, usual_words, length_share| FieldWeight {
            weight,
            usual_words,
            length_share,
        };
        Self {
            fields: [
                field(3.0, 3.0, 0.5),
                field(1.5, 2.0, 0.3),
                field(2.0, 3.0, 0.5),
                field(1.0, 20.0, 0.7),
                field(0.7, 4.0, 0.5),
                field(0.3, 30.0, 0.7),
            ],
            saturation: 1.5,
            synonym: 0.5,
            mistyped: 0.6,
            server: 0.3,
            server_saturation: 3.0,
            coverage: 0.3,
        }
    }
}
