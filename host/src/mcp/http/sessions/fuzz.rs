//! Fuzz target of the ids that clients come back with.

use super::event::EventId;

/// Ids of events: what is read is what is written, and no count of events goes over it.
pub fn event_ids(data: &[u8]) {
    let text = crate::fuzz::text(data);
    let Ok(id) = text.parse::<EventId>() else {
        return;
    };
    assert!(id.index <= EventId::MAX_INDEX);
    assert_eq!(id.to_string().parse(), Ok(id));
}
