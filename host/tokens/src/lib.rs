//! Tokens that texts cost a model.
//!
//! Models count in different ways; one tokenizer stands for all of them, and is named wherever its
//! counts are shown. It takes a tenth of a second and tens of megabytes to load, so that a host never
//! does: texts are counted [in a process of their own](count_process), once, and the counts are
//! [kept](KeptCounts) by the hashes of the texts. Where there is no count yet, an
//! [estimate](TokenCount::estimated) stands in.

pub mod count_process;
mod kept_counts;
mod text_hash;
mod token_count;
mod tokenizer;

pub use count_process::{CountCommand, CountError};
pub use kept_counts::KeptCounts;
pub use text_hash::TextHash;
pub use token_count::TokenCount;
pub use tokenizer::Tokenizer;

/// Name of the tokenizer.
pub const TOKENIZER: &str = "o200k_base";

/// Longest text that is counted, in bytes. For longer ones the estimate is good enough: they cost too
/// much by any count.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
