//! Parameters of a call, as values of the component model.

use wasmtime::component::Val;

use super::GuestRequest;
use crate::error::Cause;

/// Largest memory of values that are kept while a call waits for its permit, in bytes. Larger ones
/// are made anew: they take many times the memory of their JSON.
const MAX_KEPT_BYTES: u64 = 64 << 10;

/// Parameters that have been found right, kept or to be made again.
pub(crate) struct CheckedParams {
    kept: Option<Vec<Val>>,
    bytes: u64,
    max_bytes: u64,
}

impl CheckedParams {
    /// Makes the parameters, to check that they are right. They may take `max_bytes` of memory.
    ///
    /// # Errors
    /// They are not right, or take more.
    pub(crate) fn of(wanted: &GuestRequest, max_bytes: u64) -> Result<Self, Cause> {
        let values = wanted.params(max_bytes)?;
        let bytes = values.iter().map(memory_of).sum();
        Ok(Self {
            kept: (bytes <= MAX_KEPT_BYTES).then_some(values),
            bytes,
            max_bytes,
        })
    }

    /// Returns the memory that the values take while they are there, in bytes. None where that is
    /// little.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.kept.is_none().then_some(self.bytes)
    }

    /// Returns the values.
    ///
    /// # Errors
    /// They are not right.
    pub(crate) fn values(self, wanted: &GuestRequest) -> Result<Vec<Val>, Cause> {
        self.kept.map_or_else(|| wanted.params(self.max_bytes), Ok)
    }
}

/// Returns the memory that a value takes, in bytes.
fn memory_of(value: &Val) -> u64 {
    let text = |text: &String| text.capacity() as u64;
    let within = match value {
        // Most of such lists are bytes.
        Val::List(items) if matches!(items.first(), Some(Val::U8(_))) => {
            (items.len() * size_of::<Val>()) as u64
        }
        Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items) => {
            items.iter().map(memory_of).sum()
        }
        Val::String(value) | Val::Enum(value) => text(value),
        Val::Record(fields) => {
            let named = size_of::<String>() as u64;
            let fields = fields.iter();
            fields
                .map(|(name, value)| named + text(name) + memory_of(value))
                .sum()
        }
        Val::Variant(name, payload) => text(name) + payload.as_deref().map_or(0, memory_of),
        Val::Option(payload) | Val::Result(Ok(payload) | Err(payload)) => {
            payload.as_deref().map_or(0, memory_of)
        }
        Val::Flags(names) => {
            let named = size_of::<String>() as u64;
            names.iter().map(|name| named + text(name)).sum()
        }
        Val::Map(pairs) => {
            let pairs = pairs.iter();
            pairs
                .map(|(key, value)| memory_of(key) + memory_of(value))
                .sum()
        }
        _ => 0,
    };
    size_of::<Val>() as u64 + within
}
