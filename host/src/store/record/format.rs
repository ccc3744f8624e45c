//! Format of a record's file: reading it, in the versions that there were.

use dormouse_upstream::{MODERN, Reaction, Reactions};
use serde::Deserialize;

use super::{Record, drop_ambiguous};
use crate::store::item::Gated;

/// Version of the record's format that is written, and the newest that is read. Up to 1, only
/// changes of tools were kept from being shown.
pub(super) const FORMAT: u32 = 2;

impl Record {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is none of a record that this Dormouse can read.
    pub(in super::super) fn parse(text: &str) -> Result<Self, Damaged> {
        #[derive(Deserialize)]
        struct RecordFormat {
            format: u32,
        }
        let RecordFormat { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(Damaged::Newer(format));
        }
        let mut record: Self = serde_json::from_str(text)?;
        record.offered.bound_self_description();
        if record.offered.reactions.is_unknown() {
            record.offered.reactions = reactions_of(&record.offered.protocol);
        }
        if format < FORMAT {
            // What that Dormouse had recorded, it has shown. All of it is what the user
            // knows, but for the tools that it kept back.
            let changed = std::mem::take(&mut record.seen);
            let tools = record.unseen.entry(Gated::Tool).or_default();
            tools.changed = changed;
            drop_ambiguous(&mut record.offered);
            record.format = FORMAT;
        }
        if !std::mem::replace(&mut record.has_cautions, true) {
            record.take_over_cautions();
        }
        Ok(record)
    }
}

/// Returns a server's known reactions to first requests, by the protocol version that it used last:
/// records of earlier versions have nothing else on them.
fn reactions_of(protocol: &str) -> Reactions {
    let mut reactions = Reactions::default();
    match protocol {
        "" => {}
        MODERN => reactions.discover = Reaction::Answers,
        _ => reactions.initialize = Reaction::Answers,
    }
    reactions
}

/// Reason for which a record cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Damaged {
    /// The file is no valid record.
    #[error(transparent)]
    Unreadable(#[from] serde_json::Error),
    /// Others can have written the file.
    #[error("others can have written it")]
    NotKept,
    /// The file is from a later version of Dormouse.
    #[error("it was written by a newer Dormouse (format `{0}`)")]
    Newer(u32),
}
