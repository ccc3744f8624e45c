//! Errors of upstreams, as clients are told them.

use dormouse_jsonrpc::check_numbers;
use serde_json::{Map, Value, json};

use super::mark::{message, shown};
use super::reserved::page_id;
use crate::question_links;

/// JSON-RPC code of an error that wants pages opened first (MCP 2025-11-25,
/// `URLElicitationRequiredError`).
pub const PAGES_REQUIRED: i64 = -32042;

/// Longest message of an error that is passed on whole, in bytes.
const MAX_ERROR_MESSAGE_BYTES: usize = 64 << 10;

/// Most bytes of the pages of an error: values take many times the memory of their text.
const MAX_PAGES_BYTES: usize = 256 << 10;

/// Returns the data of an upstream's error. Where pages are wanted, only those pages are left,
/// marked as those of the server: readers that take members by other names than these, or the first
/// of two, find nothing else. Pages that are not of the web are left out.
#[must_use]
pub fn error_data(server: &str, code: i64, data: String) -> String {
    if check_numbers(&data).is_err() {
        return "null".to_owned();
    }
    if code != PAGES_REQUIRED {
        return data;
    }
    if data.len() > MAX_PAGES_BYTES {
        return "null".to_owned();
    }
    // Clients read more than values can hold, such as `1e999`: what cannot be looked at does
    // not pass.
    let Ok(value) = serde_json::from_str::<Value>(&data) else {
        return "null".to_owned();
    };
    let pages = value.get("elicitations").and_then(Value::as_array);
    let pages = pages.into_iter().flatten().filter_map(|page| {
        let page = page.as_object()?;
        let text = |name: &str| page.get(name).and_then(Value::as_str);
        let link = text("url").filter(|link| question_links::is_page(link))?;
        let link = question_links::shown(link).unwrap_or_else(|| link.to_owned());
        let mut marked = Map::new();
        marked.insert("mode".into(), "url".into());
        let message = message(server, text("message").unwrap_or_default());
        marked.insert("message".into(), message.into());
        marked.insert("url".into(), link.into());
        if let Some(id) = text("elicitationId") {
            marked.insert("elicitationId".into(), page_id(server, id).into());
        }
        Some(Value::Object(marked))
    });
    json!({ "elicitations": pages.collect::<Value>() }).to_string()
}

/// Returns the message of an upstream's error as it is, but for hidden characters and words that
/// look like the mark of a server. A message that is longer than any that is read is cut.
#[must_use]
pub fn error_message(message: &str) -> String {
    if message.len() <= MAX_ERROR_MESSAGE_BYTES {
        return shown(message);
    }
    let cut = message.floor_char_boundary(MAX_ERROR_MESSAGE_BYTES);
    let kept = shown(message.get(..cut).unwrap_or_default());
    format!(
        "{kept}…\n(the first {cut} of {} bytes of the message)",
        message.len()
    )
}
