//! Search among tools: words of a task → the tools that do it, best first. All of it is in memory and
//! in this process: no file, no connection, no model.
//!
//! What is known of one server's tools is analysed once ([`ServerDocuments`]); a [`SearchIndex`] is
//! made of these, so that a server that has changed is analysed alone. Both are kept for as long as they
//! are of use ([`KeptIndices`]).

#![forbid(unsafe_code)]

mod candidate;
mod document;
mod evidence;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod index;
mod kept_documents;
mod kept_indices;
mod literals;
mod page_share;
mod query;
mod ranking;
mod schema_words;
mod server_documents;
mod stop_words;
mod synonyms;
mod tool_names;
mod weights;
mod word_vectors;
mod words;

#[cfg(test)]
mod tests;

pub use document::ToolDocument;
pub use index::SearchIndex;
pub use kept_documents::KeptDocuments;
pub use kept_indices::KeptIndices;
pub use ranking::{SearchHit, SearchOptions};
pub use server_documents::ServerDocuments;
