//! Servers that users have already, found and taken over.

mod adapting;
mod added;
mod client_files;
mod client_rules;
mod itself;
mod wrong_entries;
