//! Files of Dormouse on this machine: where its own are, how one is put in place of another, which
//! one this program is, and how many may be open at once.

#![forbid(unsafe_code)]

pub mod open_files;
pub mod own_program;
pub mod paths;
pub mod replace;
