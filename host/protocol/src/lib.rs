//! Data of a call: its listener, its questions, its answers, and the marks that name their server.
//!
//! Used on the side of the plugins and upstreams, and on that of the agents.

#![forbid(unsafe_code)]

mod answer;
pub mod attribution;
mod awaited;
mod capability;
mod client_era;
mod client_key;
mod declared_capabilities;
pub mod form;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod header_argument;
mod header_value;
mod listener;
mod question;
mod question_limit;
pub mod question_links;
mod session_id;

pub use answer::{Answer, Edit};
pub use awaited::Awaited;
pub use capability::Capability;
pub use client_era::{ClientEra, Era, NEWEST_HANDSHAKE};
pub use client_key::ClientKey;
pub use declared_capabilities::{DeclaredCapabilities, passed_extensions};
pub use form::{Field, FieldChoice, FieldKind, Form};
pub use header_argument::{HEADER_KEYWORD, HeaderArgument};
pub use header_value::{decode_header_value, encode_header_value};
pub use listener::{LEVELS, ListKind, Listener, Notice, SessionClients, severity};
pub use question::{
    AskError, MAX_QUESTION_BYTES, MAX_WAIT_FOR_OTHER, Question, QuestionOrigin, VALUE_BYTES,
    check_size, escape_bytes,
};
pub use question_limit::{QuestionLimit, WaitingQuestions};
pub use session_id::SessionId;
