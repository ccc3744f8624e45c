//! Servers that say something else than what their users have approved.

mod approval;
mod approval_prompt;
mod by_folder;
mod changed_schemas;
mod changing;
mod client_kinds;
mod frozen;
mod frozen_prompts;
mod instructions;
mod kinds_of_clients;
mod mid_session;
mod other_versions;
mod unseen;
mod upgrade;
