//! The tools, each with what it answers.

pub mod edit;
pub mod info;
pub mod list;
pub mod media;
pub mod read;
pub mod search;
pub mod tree;
pub mod write;
