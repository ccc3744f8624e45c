//! Texts that strangers have written: made safe to show to a person, and compared with what they
//! may mean.
//!
//! The crate reads no files and does not know whose a text is.

#![forbid(unsafe_code)]

pub mod broken_lines;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
pub mod letter_case;
pub mod log_text;
pub mod nearest;
pub mod server_url;
pub mod shell_word;
pub mod visible;
pub mod wildcard;
