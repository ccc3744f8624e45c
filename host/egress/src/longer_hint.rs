//! Sizes of bodies that have bytes kept beside another body.

use http_body::SizeHint;

/// Returns the hint of a body that is longer by so many bytes.
pub(crate) fn longer_by(mut hint: SizeHint, bytes: u64) -> SizeHint {
    // In this order: it may be exact, and is never less than it is at least.
    if let Some(upper) = hint.upper() {
        hint.set_upper(upper.saturating_add(bytes));
    }
    hint.set_lower(hint.lower().saturating_add(bytes));
    hint
}
