//! Constraints of types, from their tags.

use super::Lower;
use crate::error::Finding;
use crate::notes::Notes;
use crate::pattern_size;
use crate::source::constraint::constraint;
use crate::source::tags::{Tag, note};
use crate::types::Type;

/// Most memory that reading all patterns of a declaration may take, in bytes, with time counted as
/// memory ([`pattern_size`]): reading as much takes about two seconds.
const MAX_PATTERN_BYTES: u64 = 64 << 20;

impl Lower<'_> {
    /// Adds a constraint to the notes on a type; that on an option goes to the type in it.
    pub(super) fn constrain(&mut self, tag: &Tag, item: &str, ty: &Type, notes: &mut Notes) {
        let (ty, notes) = match (ty, notes.parts.is_empty()) {
            (Type::Option(inner), false) => match notes.parts.first_mut() {
                Some(part) => (&**inner, part),
                None => return,
            },
            _ => (ty, notes),
        };
        if tag.name == "pattern" {
            let bytes = pattern_size::read_bytes(&tag.text);
            // A pattern that is too large by itself is not read, and has a finding of its own.
            let bytes = bytes.min(pattern_size::MAX_READ_BYTES);
            self.pattern_bytes = self.pattern_bytes.saturating_add(bytes);
            if self.pattern_bytes > MAX_PATTERN_BYTES {
                let message = "this `@pattern` and those before it take too long to be read: they \
                               are too many, or have too many classes such as `\\p{L}`";
                note(&mut self.findings, Finding::error(item, message));
                return;
            }
        }
        match constraint(tag, ty, notes) {
            Ok((keyword, value)) => {
                notes.constraints.insert(keyword, value);
            }
            Err(message) => note(&mut self.findings, Finding::error(item, message)),
        }
    }
}
