//! Files on this machine: paths of Dormouse's own and whose they are, reading and replacing files, this program's
//! file, the limit of open files, and limits of a process of this program.

#![forbid(unsafe_code)]

mod access;
pub mod attributes;
pub mod links;
pub mod open_files;
pub mod own_program;
#[cfg(unix)]
mod owner;
pub mod ownership;
pub mod paths;
pub mod process_limits;
pub mod regular;
pub mod replace;
#[cfg(unix)]
mod walk;
