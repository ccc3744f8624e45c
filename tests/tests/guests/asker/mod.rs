//! Asks its agent: in the era with sessions by requests of its own, in the other by
//! answering that it needs more.

mod stateless_era;
mod with_sessions;

use dormouse_tests::wire::{self, stateless};

use super::*;

fn all() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} })
}

fn said(text: &str) -> Value {
    json!({
        "role": "assistant", "model": "m", "content": { "type": "text", "text": text }
    })
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}
