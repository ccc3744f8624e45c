//! The fuzz target of the editors.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use serde_json::json;

use super::{add, get, remove};
use crate::discovery::places::{FileShape, Syntax};
use crate::fuzz::text;

/// Files of clients, edited: an entry that was added is there, one that was removed is not,
/// and a second time nothing changes. The first byte says which language it is, and whether
/// the servers are a list.
pub fn edits(data: &[u8]) {
    let [kind, data @ ..] = data else {
        return;
    };
    let text = text(data);
    let shape = FileShape {
        syntax: match kind % 3 {
            0 => Syntax::Json,
            1 => Syntax::Toml,
            _ => Syntax::Yaml,
        },
        keys: match kind % 2 {
            0 => vec!["a".to_owned(), "mcpServers".to_owned()],
            _ => vec!["mcpServers".to_owned()],
        },
        list: kind % 8 == 7,
    };
    let entry = json!({ "command": "x", "args": ["serve", "é\n\"'"], "b": true });
    let is_there = |text: &str| get(text, &shape, "dormouse").expect("it can be read");
    match add(&text, &shape, "dormouse", &entry) {
        Ok(added) => {
            let found = is_there(&added).expect("it was added");
            assert_eq!(found.get("args"), entry.get("args"));
            assert_eq!(add(&added, &shape, "dormouse", &entry).as_ref(), Ok(&added));
            if let Ok(removed) = remove(&added, &shape, "dormouse") {
                assert_eq!(is_there(&removed), None);
            }
        }
        Err(error) => {
            let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
            assert!(body.is_char_boundary(error.at), "{} is no place", error.at);
            assert!(!error.message.is_empty());
        }
    }
    if let Ok(removed) = remove(&text, &shape, "dormouse") {
        assert_eq!(is_there(&removed), None);
        assert_eq!(remove(&removed, &shape, "dormouse"), Ok(removed));
    }
}
