//! Marks on questions and log messages that name their server: agents and their users see all
//! servers as one, and must not take what a server says for what Dormouse says.
//!
//! Characters that nobody sees are shown as escapes, links are `http` or `https`, and names
//! and ids that begin with `dormouse` are Dormouse's alone.

mod error;
mod form;
mod mark;
mod question;
mod rendered;
mod reserved;

use dormouse_text::visible::visible_line;
use serde_json::Value;

use mark::{shown, unmarked, unmarked_for_model};
use reserved::unreserved;

pub use error::{PAGES_REQUIRED, error_data, error_message};
pub use mark::message;
pub use question::SHOWN_PARAMETERS;
pub use reserved::page_id;

/// Returns a remark of Dormouse's own that has words of a server's in it, for a question that is
/// marked already: one line in which nothing is hidden and nothing looks like a mark.
#[must_use]
pub fn remark(text: &str) -> String {
    unmarked(&visible_line(text)).into_owned()
}

/// Returns words of a server's for an answer of Dormouse's own, which a model reads: one line in which
/// nothing is hidden and nothing is a mark. All other brackets stay as they are.
#[must_use]
pub fn remark_for_model(text: &str) -> String {
    unmarked_for_model(&visible_line(text)).into_owned()
}

/// Returns the logger that a client is told: the server's name, and its own logger after that.
#[must_use]
pub fn logger(server: &str, own: Option<&str>) -> String {
    let server = unreserved(server);
    match own {
        None | Some("") => server.into_owned(),
        Some(own) => format!("{server}/{}", unmarked(&visible_line(own))),
    }
}

/// Returns a server's message on a call's progress, as clients are told it: nothing is hidden in it,
/// and nothing looks like a mark.
#[must_use]
pub fn progress_message(text: &str) -> String {
    shown(text)
}

/// Returns the data that a server logs, as clients are told it: nothing is hidden in its words, and
/// none looks like a mark.
#[must_use]
pub fn log_data(mut data: Value) -> Value {
    show_all(&mut data, shown);
    data
}

/// Replaces all texts and names of a value by those that a person is shown.
fn show_all(value: &mut Value, shown: fn(&str) -> String) {
    match value {
        Value::String(text) => *text = shown(text),
        Value::Array(items) => items.iter_mut().for_each(|item| show_all(item, shown)),
        Value::Object(members) => {
            for member in members.values_mut() {
                show_all(member, shown);
            }
            if members.keys().any(|name| shown(name) != *name) {
                let old = std::mem::take(members).into_iter();
                members.extend(old.map(|(name, value)| (shown(&name), value)));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
