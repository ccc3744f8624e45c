//! Servers that users have already, in the files of their clients: found, asked
//! for, trusted, allowed, switched and turned into components, by the real program.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod adapting;
mod added;
mod announcing;
mod answers;
mod approval;
#[cfg(target_os = "linux")]
mod beside_a_host;
mod by_folder;
mod changing;
mod client_rules;
mod discovery;
mod doctor;
#[cfg(target_os = "linux")]
mod endless;
mod environment;
mod floods;
mod forged_words;
mod frozen;
mod frozen_prompts;
mod hostile;
mod idle;
mod instructions;
mod itself;
mod kinds_of_clients;
mod leftovers;
mod log_floods;
mod mid_session;
mod odd;
mod one_name;
mod open_forms;
mod over_http;
mod page_names;
mod project_variables;
mod redirects;
mod replaced;
mod same_uri;
mod scripted;
mod session;
mod suspended_calls;
mod switched_off;
mod switching;
mod templates;
mod told;
mod trust;
#[cfg(target_os = "linux")]
mod untrusted_files;
mod updates;
mod upgrade;
mod wrong_entries;
