//! Bound on the values that are made of one call's arguments.

use std::cell::Cell;

use wasmtime::component::Val;

use super::mismatch::Mismatch;

/// Most work for making the values of one call's arguments, in comparisons of names; a value counts
/// as [`VALUE_STEPS`]. Defaults of defaults can make any number of values of no input.
const MAX_STEPS: usize = 1 << 27;

/// Comparisons that a value counts as.
pub(super) const VALUE_STEPS: usize = 64;

/// Work and memory left for the values of one call's arguments.
#[derive(Debug, Clone, Copy)]
struct Allowance {
    steps: usize,
    /// Memory, in bytes.
    bytes: u64,
}

thread_local! {
    /// Allowance left for the arguments that are made on this thread. None where it is not limited.
    static ALLOWANCE: Cell<Option<Allowance>> = const { Cell::new(None) };
}

/// Takes steps from the allowance.
pub(super) fn spend(steps: usize) -> Result<(), Mismatch> {
    let Some(left) = ALLOWANCE.get() else {
        return Ok(());
    };
    let steps = left.steps.checked_sub(steps);
    ALLOWANCE.set(Some(Allowance {
        steps: steps.unwrap_or_default(),
        ..left
    }));
    steps.map(drop).ok_or_else(|| {
        Mismatch::new("there are too many values, with all that stands for what is left out")
    })
}

/// Takes memory for so many values and so many bytes of text from the allowance, before they are
/// made.
pub(super) fn spend_memory(values: usize, text_bytes: usize) -> Result<(), Mismatch> {
    let Some(left) = ALLOWANCE.get() else {
        return Ok(());
    };
    let wanted = values
        .saturating_mul(size_of::<Val>())
        .saturating_add(text_bytes);
    let bytes = left.bytes.checked_sub(wanted as u64);
    ALLOWANCE.set(Some(Allowance {
        bytes: bytes.unwrap_or_default(),
        ..left
    }));
    bytes.map(drop).ok_or_else(|| {
        Mismatch::new(
            "the values take more memory than the server may have, with all that stands for what \
             is left out\nhint: send less at once, or give the server more `limits.memory`",
        )
    })
}

/// Limits the values that are made on this thread until it is dropped.
pub(super) struct CountedValues;

impl CountedValues {
    pub(super) fn begin(max_bytes: u64) -> Self {
        ALLOWANCE.set(Some(Allowance {
            steps: MAX_STEPS,
            bytes: max_bytes,
        }));
        Self
    }
}

impl Drop for CountedValues {
    fn drop(&mut self) {
        ALLOWANCE.set(None);
    }
}
