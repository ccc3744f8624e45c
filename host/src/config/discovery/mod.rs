//! The servers that a user already has, found in the files of their clients.

pub(super) mod document;
pub mod places;
pub mod surroundings;

pub use surroundings::Surroundings;
