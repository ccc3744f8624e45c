//! Has a secret sent and said back, and looks for it in all of its own memory.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use std::env;

use dormouse_hostile_guests::bindings::Outcome;
use dormouse_hostile_guests::request::{Request, outcome};

dormouse_hostile_guests::guest!(attempt);

/// Bytes of a page of memory.
const PAGE: usize = 64 << 10;

/// `other` is a beginning of what is looked for, and its end, with a comma between them, so that what
/// is looked for is nowhere in memory by itself.
fn attempt(granted: &str, other: &str) -> Vec<Outcome> {
    let token = env::var("TOKEN").unwrap_or_default();
    let bearer = format!("Bearer {token}");
    let mut outcomes = Vec::new();
    for path in ["/", "/again"] {
        let request = Request::get(granted, path).header("authorization", bearer.as_bytes());
        let request = request.with_body("POST", bearer.as_bytes());
        outcomes.push(request.outcome(path));
    }
    let (begin, end) = other.split_once(',').unwrap_or_default();
    let found = places(begin.as_bytes(), end.as_bytes());
    // What is there is found.
    let (half, other_half) = token.split_at(token.len() / 2);
    let placeholder = places(half.as_bytes(), other_half.as_bytes());
    outcomes.push(outcome("places of the secret", Ok(found.to_string())));
    outcomes.push(outcome(
        "places of the placeholder",
        Ok(placeholder.to_string()),
    ));
    outcomes
}

/// Returns the number of places in memory where the one text stands in front of the other.
fn places(begin: &[u8], end: &[u8]) -> usize {
    let bytes = core::arch::wasm32::memory_size(0) * PAGE;
    // SAFETY: all of it is memory of this instance, which nothing else writes to meanwhile.
    #[allow(unsafe_code, reason = "memory that nobody has given out is read, too")]
    let byte = |at: usize| unsafe { core::ptr::read_volatile(at as *const u8) };
    let is_at =
        |text: &[u8], at: usize| text.iter().enumerate().all(|(i, one)| byte(at + i) == *one);
    let last = bytes - begin.len() - end.len();
    (1..last)
        .filter(|at| is_at(begin, *at) && is_at(end, at + begin.len()))
        .count()
}
