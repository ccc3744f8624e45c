//! Fuzz target of records.

#![allow(
    clippy::expect_used,
    reason = "what does not hold has to end the run, with the input that has shown it"
)]

use super::item::canonical;
use super::{Gated, Record, Selection};
use crate::fuzz::text;

/// Checks records: pending items are not shown, approved ones are no longer pending, and a record
/// that is written again is the same. Canonical texts stay the same when made canonical.
pub fn records(data: &[u8]) {
    let text = text(data);
    if let Some(written) = canonical(&text) {
        assert_eq!(canonical(&written).as_ref(), Some(&written));
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        assert_eq!(value(&text), value(&written), "it says something else");
    }
    let Ok(mut record) = Record::parse(&text) else {
        return;
    };
    let written = serde_json::to_string(&record).expect("a record can be written");
    let again = Record::parse(&written).expect("what was written can be read");
    let same = serde_json::to_string(&again).expect("a record can be written");
    assert_eq!(same, written);
    let pending = record.pending();
    let Ok(known) = again.into_known() else {
        return;
    };
    assert_eq!(known.pending.digest(), pending.digest());
    for item in pending.iter() {
        let shown = match item.kind {
            Gated::Tool => known
                .listing
                .tools
                .iter()
                .any(|tool| tool.name == item.name),
            Gated::Prompt => known.listing.prompts.iter().any(|one| one.key == item.name),
            Gated::Template => known
                .listing
                .templates
                .iter()
                .any(|one| one.key == item.name),
            Gated::Instructions => known.instructions.is_some(),
        };
        let is_new = item.was.is_none();
        assert!(!(shown && is_new), "{item} is new and is shown");
        let told = crate::roster::difference(item);
        assert!(
            !told.contains(|c: char| c.is_control() && c != '\n'),
            "{told:?}"
        );
    }
    let approved = record.approve(&pending.digest(), Selection::default());
    assert_eq!(
        approved.map(|approved| approved.len()).ok(),
        Some(pending.len())
    );
    assert!(record.pending().is_empty());
}
