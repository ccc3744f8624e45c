//! Starts and stops of servers, and what of their processes stays.

mod environment;
mod idle;
mod open_forms;
mod replaced;
mod suspended_calls;
pub(crate) mod switched_off;
mod switching;
